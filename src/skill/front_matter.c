/* Lines are compared without the blanks around them, as editors and Windows leave them behind. */
#include "skill/front_matter.h"

static bool is_fence(struct str line)
{
	return str_is(str_trim(line), "---");
}

bool front_matter_split(struct str text, struct str *ret_yaml, struct str *ret_body)
{
	struct str rest = text, line;
	str_cut_prefix(&rest, "\xef\xbb\xbf");
	if (!str_next_line(&rest, &line) || !is_fence(line))
		return false;
	const char *from = rest.ptr;
	while (str_next_line(&rest, &line)) {
		if (!is_fence(line))
			continue;
		*ret_yaml = str_n(from, (size_t)(line.ptr - from));
		*ret_body = rest;
		return str_trim(*ret_yaml).len > 0;
	}
	return false;
}

struct str front_matter_line(const struct json *front, const char *key, struct arena *arena)
{
	struct str text = str_trim(json_get_str(front, key));
	if (!text.len)
		return STR_NONE;
	char *to = arena_alloc(arena, text.len + 1);
	size_t len = 0;
	for (size_t i = 0; i < text.len; i++) {
		bool is_blank = strchr(" \t\n\v\f\r", text.ptr[i]) && text.ptr[i];
		if (!is_blank)
			to[len++] = text.ptr[i];
		else if (to[len - 1] != ' ')
			to[len++] = ' ';
	}
	return str_n(to, len);
}

size_t front_matter_length(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.len; i++)
		count += ((unsigned char)text.ptr[i] & 0xc0) != 0x80;
	return count;
}
