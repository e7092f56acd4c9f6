/* Replies of Redis are the same in one piece and cut at any place: a prefix of a reply is incomplete or refused, never
 * another reply. A list of texts that is written as a command is read as the same list. */
#include "fuzz.h"

#include "base/limits.h"
#include "base/mem.h"
#include "fleet/resp.h"

/* Lengths go first, so that no two different replies have the same text. */
static void print(const struct resp *reply, struct buf *out)
{
	buf_printf(out, "%d %zu %lld %zu ", (int)reply->type, reply->text.len, (long long)reply->integer, reply->count);
	buf_append_str(out, reply->text);
	for (size_t i = 0; i < reply->count; i++)
		print(resp_at(reply, i), out);
	fuzz_check(resp_at(reply, reply->count)->type == RESP_nil);
}

/* The prefix is a copy that is gone after the call, so a read beyond its end is found. */
static enum resp_state read_prefix(struct str bytes, size_t len, struct buf *ret)
{
	auto_arena struct arena arena = {0};
	auto_free char *copy = xmalloc(len + 1);
	struct resp reply;
	memcpy(copy, bytes.ptr, len);
	struct str rest = str_n(copy, len);
	enum resp_state state = resp_read(&rest, &arena, &reply);
	if (state == RESP_DONE)
		print(&reply, ret);
	else
		fuzz_check(rest.len == len);
	return state;
}

static void check_prefixes(struct str bytes, size_t used, struct str expected)
{
	size_t step = used / 64 + 1;
	for (size_t len = 0; len < used; len += step) {
		auto_buf struct buf out;
		buf_init(&out, 64 * MIB);
		fuzz_check(read_prefix(bytes, len, &out) == RESP_MORE);
	}
	auto_buf struct buf whole;
	buf_init(&whole, 64 * MIB);
	fuzz_check(read_prefix(bytes, used, &whole) == RESP_DONE && str_eq(buf_str(&whole), expected));
}

static void check_command(const struct resp *reply)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct resp again;
	buf_init(&out, 64 * MIB);
	resp_begin(&out, reply->count);
	for (size_t i = 0; i < reply->count; i++) {
		struct str word = resp_text(resp_at(reply, i));
		if (!word.ptr)
			return;
		resp_word(&out, word);
	}
	struct str rest = buf_str(&out);
	fuzz_check(resp_read(&rest, &arena, &again) == RESP_DONE && !rest.len && again.count == reply->count);
	for (size_t i = 0; i < reply->count; i++)
		fuzz_check(str_eq(resp_text(resp_at(reply, i)), resp_text(resp_at(&again, i))));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str rest = str_n((const char *)data, size);
	for (;;) {
		auto_arena struct arena arena = {0};
		auto_buf struct buf text;
		struct resp reply;
		struct str before = rest;
		buf_init(&text, 64 * MIB);
		if (resp_read(&rest, &arena, &reply) != RESP_DONE)
			return 0;
		print(&reply, &text);
		check_prefixes(before, before.len - rest.len, buf_str(&text));
		if (reply.type == RESP_list)
			check_command(&reply);
	}
}
