/* Most texts of a script contain no braces, so substitution searches for a brace and copies the runs between. */
#include "server/mock/mock_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "server/mock/mock_limits.h"
#include "server/mock/mock_match.h"
#include "server/mock/mock_script.h"

static bool is_word(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

static struct str first_word(struct str text)
{
	size_t len = 0;
	while (len < text.len && is_word(text.ptr[len]))
		len++;
	return str_n(text.ptr, len);
}

static struct str take_value(const struct mock_take *take, const struct mock_request *request)
{
	const struct json *node = mock_path_find(request->json, take->from, take->after);
	if (!node)
		return STR("");
	struct str text = node->type == JSON_string ? node->text : node->span;
	return first_word(str_skip(text, (size_t)str_find(text, take->after) + take->after.len));
}

int mock_vars_take(struct mock_vars *vars, const struct mock_takes *takes, const struct mock_request *request,
                   struct error *err)
{
	vars->items = takes->count ? arena_array(&vars->arena, struct mock_var, takes->count) : NULL;
	for (; vars->count < takes->count; vars->count++) {
		const struct mock_take *take = &takes->items[vars->count];
		struct str value = take_value(take, request);
		if (value.len == 0)
			return error_set(err, ERR_invalid,
			                 "nothing to take for {%.*s}: no word follows \"%.*s\" in %.*s",
			                 STR_ARG(take->name), STR_ARG(take->after), STR_ARG(take->from));
		vars->items[vars->count] = (struct mock_var){take->name, arena_str(&vars->arena, value)};
	}
	return 0;
}

void mock_vars_finish(struct mock_vars *vars)
{
	arena_finish(&vars->arena);
	*vars = (struct mock_vars){0};
}

static bool has_vars(const struct mock_vars *vars)
{
	return vars->round > 0 || vars->count > 0;
}

/* Appends the value of a variable; false if the name is unknown. */
static bool append_value(struct buf *out, struct str name, const struct mock_vars *vars)
{
	if (vars->round > 0 && str_is(name, "i")) {
		buf_printf(out, "%" PRIu64, vars->round);
		return true;
	}
	for (size_t i = 0; i < vars->count; i++) {
		if (!str_eq(vars->items[i].name, name))
			continue;
		buf_append_str(out, vars->items[i].value);
		return true;
	}
	return false;
}

/* Returns the word in braces at the start of text; empty if the braces contain no word. */
static struct str braced_word(struct str text)
{
	struct str rest = str_skip(text, 1);
	struct str word = first_word(rest.len > LIMIT_MOCK_NAME ? str_n(rest.ptr, LIMIT_MOCK_NAME) : rest);
	return word.len < rest.len && rest.ptr[word.len] == '}' ? word : STR("");
}

void mock_vars_append(struct buf *out, struct str text, const struct mock_vars *vars)
{
	ptrdiff_t brace;
	while (has_vars(vars) && (brace = str_find_char(text, '{')) >= 0) {
		buf_append(out, text.ptr, (size_t)brace);
		text = str_skip(text, (size_t)brace);
		struct str name = braced_word(text);
		bool is_done = append_value(out, name, vars);
		if (!is_done)
			buf_append_char(out, '{');
		text = str_skip(text, is_done ? name.len + 2 : 1);
	}
	buf_append_str(out, text);
}

/* Writes one period of the pattern, then copies the output, doubling the length each time. */
void mock_fill_append(struct buf *out, struct str pattern, uint64_t skip, uint64_t size)
{
	char *room = buf_reserve(out, (size_t)size);
	size_t at = (size_t)(skip % pattern.len), done = 0;
	if (!room)
		return;
	while (done < size && done < pattern.len) {
		room[done++] = pattern.ptr[at++];
		at = at == pattern.len ? 0 : at;
	}
	while (done < size) {
		size_t len = done < size - done ? done : (size_t)size - done;
		memcpy(room + done, room, len);
		done += len;
	}
	room[done] = '\0';
	out->len += done;
}

bool mock_text_is_plain(const struct mock_text *text, const struct mock_vars *vars)
{
	return text->fill == 0 && (!has_vars(vars) || str_find_char(text->text, '{') < 0);
}

void mock_text_append(struct buf *out, const struct mock_text *text, const struct mock_vars *vars)
{
	if (text->fill == 0) {
		mock_vars_append(out, text->text, vars);
		return;
	}
	size_t rest = text_floor_boundary(text->text, text->fill % text->text.len);
	mock_fill_append(out, text->text, 0, text->fill - text->fill % text->text.len + rest);
}
