/* Replies are parsed again from their beginning when more bytes arrive. Texts are skipped by their length, so this
 * costs little even for a large reply. */
#include "fleet/resp.h"

#include <stdio.h>

#include "fleet/fleet_limits.h"

static const struct resp nil;

static enum resp_state read_line(struct str *bytes, struct str *ret)
{
	ptrdiff_t end = str_find(*bytes, STR("\r\n"));
	if ((end < 0 ? bytes->len : (size_t)end) > LIMIT_REDIS_LINE)
		return RESP_BAD;
	if (end < 0)
		return RESP_MORE;
	*ret = str_n(bytes->ptr, (size_t)end);
	*bytes = str_skip(*bytes, (size_t)end + 2);
	return RESP_DONE;
}

static enum resp_state read_text(struct str *bytes, int64_t len, struct resp *ret)
{
	if (len == -1)
		return RESP_DONE;
	if (len < 0 || len > LIMIT_REDIS_REPLY)
		return RESP_BAD;
	if (bytes->len < (size_t)len + 2)
		return RESP_MORE;
	if (!str_has_prefix(str_skip(*bytes, (size_t)len), "\r\n"))
		return RESP_BAD;
	ret->type = RESP_text;
	ret->text = str_n(bytes->ptr, (size_t)len);
	*bytes = str_skip(*bytes, (size_t)len + 2);
	return RESP_DONE;
}

static enum resp_state read_value(struct str *bytes, struct arena *arena, unsigned depth, struct resp *ret);

/* Each item takes at least three bytes, so a count that the bytes cannot hold is not allocated. */
static enum resp_state read_list(struct str *bytes, int64_t count, struct arena *arena, unsigned depth,
                                 struct resp *ret)
{
	if (count == -1)
		return RESP_DONE;
	if (count < 0 || count > LIMIT_REDIS_REPLY / 3 || depth == LIMIT_REDIS_DEPTH)
		return RESP_BAD;
	if ((size_t)count > bytes->len / 3)
		return RESP_MORE;
	struct resp *items = arena_array(arena, struct resp, (size_t)count + 1);
	for (int64_t i = 0; i < count; i++) {
		enum resp_state state = read_value(bytes, arena, depth + 1, &items[i]);
		if (state != RESP_DONE)
			return state;
	}
	*ret = (struct resp){.type = RESP_list, .items = items, .count = (size_t)count};
	return RESP_DONE;
}

static enum resp_state read_value(struct str *bytes, struct arena *arena, unsigned depth, struct resp *ret)
{
	struct str line;
	*ret = nil;
	enum resp_state state = read_line(bytes, &line);
	if (state != RESP_DONE)
		return state;
	if (!line.len)
		return RESP_BAD;
	struct str rest = str_skip(line, 1);
	switch (line.ptr[0]) {
	case '+':
	case '-':
		*ret = (struct resp){.type = line.ptr[0] == '+' ? RESP_text : RESP_error, .text = rest};
		return RESP_DONE;
	case ':':
	case '$':
	case '*':
		if (!str_to_i64(rest, &ret->integer))
			return RESP_BAD;
		if (line.ptr[0] == '$')
			return read_text(bytes, ret->integer, ret);
		if (line.ptr[0] == '*')
			return read_list(bytes, ret->integer, arena, depth, ret);
		ret->type = RESP_integer;
		return RESP_DONE;
	default:
		return RESP_BAD;
	}
}

enum resp_state resp_read(struct str *bytes, struct arena *arena, struct resp *ret)
{
	struct str rest = *bytes;
	enum resp_state state = read_value(&rest, arena, 0, ret);
	if (state == RESP_DONE)
		*bytes = rest;
	else if (state == RESP_MORE && bytes->len > LIMIT_REDIS_REPLY)
		state = RESP_BAD;
	return state;
}

const struct resp *resp_at(const struct resp *list, size_t index)
{
	return list && list->type == RESP_list && index < list->count ? &list->items[index] : &nil;
}

struct str resp_text(const struct resp *value)
{
	return value && value->type == RESP_text ? value->text : STR_NONE;
}

uint64_t resp_u64(const struct resp *value)
{
	uint64_t number = 0;
	if (!value)
		return 0;
	if (value->type == RESP_integer)
		return value->integer > 0 ? (uint64_t)value->integer : 0;
	return value->type == RESP_text && str_to_u64(value->text, &number) ? number : 0;
}

void resp_begin(struct buf *out, size_t count)
{
	buf_printf(out, "*%zu\r\n", count);
}

void resp_word(struct buf *out, struct str word)
{
	buf_printf(out, "$%zu\r\n", word.len);
	buf_append_str(out, word);
	buf_append_c(out, "\r\n");
}

void resp_number(struct buf *out, uint64_t number)
{
	char text[24];
	snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
	resp_word(out, str_of(text));
}
