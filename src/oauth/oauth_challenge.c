/* A header may hold several challenges, and a comma separates parameters as well as challenges: a word that no "="
 * follows begins the next challenge. */
#include "oauth/oauth_challenge.h"

#include <string.h>

static bool is_token_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c && strchr("!#$%&'*+-.^_`|~", c));
}

static void skip(struct str *rest, const char *chars)
{
	while (rest->len && rest->ptr[0] && strchr(chars, rest->ptr[0]))
		*rest = str_skip(*rest, 1);
}

static struct str take_token(struct str *rest)
{
	size_t len = 0;
	while (len < rest->len && is_token_char(rest->ptr[len]))
		len++;
	struct str token = str_n(rest->ptr, len);
	*rest = str_skip(*rest, len);
	return token;
}

/* Takes a quoted text without its quotes and backslashes. An unfinished one ends with the header. */
static struct str take_quoted(struct str *rest, struct arena *arena)
{
	char *out = arena_alloc(arena, rest->len + 1);
	size_t len = 0, at = 1;
	while (at < rest->len && rest->ptr[at] != '"') {
		if (rest->ptr[at] == '\\' && at + 1 < rest->len)
			at++;
		out[len++] = rest->ptr[at++];
	}
	*rest = str_skip(*rest, at < rest->len ? at + 1 : rest->len);
	return str_n(out, len);
}

static struct str take_value(struct str *rest, struct arena *arena)
{
	skip(rest, " \t");
	if (rest->len && rest->ptr[0] == '"')
		return take_quoted(rest, arena);
	struct str token = take_token(rest);
	return arena_str(arena, token);
}

static void keep(struct oauth_challenge *challenge, struct str name, struct str value)
{
	struct {
		const char *name;
		struct str *slot;
	} rows[] = {
		{"resource_metadata", &challenge->resource_metadata},
		{"scope", &challenge->scope},
		{"error", &challenge->error},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (str_equal_fold(name, str_of(rows[i].name)) && !rows[i].slot->ptr)
			*rows[i].slot = value;
}

bool oauth_challenge_read(struct str header, struct arena *arena, struct oauth_challenge *ret)
{
	bool is_bearer = false, has_bearer = false;
	*ret = (struct oauth_challenge){STR_NONE, STR_NONE, STR_NONE};
	while (header.len) {
		skip(&header, ", \t");
		struct str name = take_token(&header);
		if (!name.len) {
			header = header.len ? str_skip(header, 1) : header;
			continue;
		}
		skip(&header, " \t");
		if (!header.len || header.ptr[0] != '=') {
			is_bearer = str_equal_fold(name, STR("Bearer")) && !has_bearer;
			has_bearer |= is_bearer;
			continue;
		}
		header = str_skip(header, 1);
		struct str value = take_value(&header, arena);
		if (is_bearer)
			keep(ret, name, value);
	}
	return has_bearer;
}
