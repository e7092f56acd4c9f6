/* A parsed and rewritten value is equal; an error has a location; any bytes survive as a string. */
#include "fuzz.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"

static void check_number(const struct json *node)
{
	int64_t whole;
	uint64_t natural;
	double value, back;
	bool is_whole = json_to_i64(node, &whole);
	if (json_to_u64(node, &natural) && natural <= INT64_MAX)
		fuzz_check(is_whole && whole == (int64_t)natural);
	if (!json_to_double(node, &value))
		return;
	if (is_whole)
		fuzz_check((double)whole == value);
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	buf_init(&out, KIB);
	struct json_writer w = json_writer(&out);
	jw_double(&w, value);
	fuzz_check(json_to_double(json_parse(&arena, buf_str(&out), NULL), &back) && back == value);
}

static void write_value(struct json_writer *w, const struct json *node);

static void write_children(struct json_writer *w, const struct json *parent)
{
	size_t count = 0;
	json_for_each(it, parent) {
		if (parent->type == JSON_object)
			jw_key_str(w, it->key);
		write_value(w, it);
		count++;
	}
	fuzz_check(count == parent->count);
}

static void write_value(struct json_writer *w, const struct json *node)
{
	switch (node->type) {
	case JSON_null:
		jw_null(w);
		break;
	case JSON_bool:
		jw_bool(w, node->boolean);
		break;
	case JSON_number:
		check_number(node);
		jw_raw(w, node->text);
		break;
	case JSON_string:
		fuzz_check(text_is_utf8(node->text));
		jw_str(w, node->text);
		break;
	case JSON_array:
		jw_array(w);
		write_children(w, node);
		jw_array_end(w);
		break;
	case JSON_object:
		jw_object(w);
		write_children(w, node);
		jw_object_end(w);
		break;
	}
}

static void check_document(struct str text)
{
	auto_arena struct arena arena = {0};
	struct error err = {0};
	const struct json *root = json_parse(&arena, text, &err);
	if (!root) {
		fuzz_check(err.code == ERR_invalid || err.code == ERR_limit);
		fuzz_check(str_has_prefix(str_of(err.text), "line "));
		return;
	}
	auto_buf struct buf out;
	buf_init(&out, 16 * MIB);
	struct json_writer w = json_writer(&out);
	write_value(&w, root);
	fuzz_check(!out.over);
	const struct json *again = json_parse(&arena, buf_str(&out), &err);
	fuzz_check(again && json_equal(root, again) && json_equal(again, root));
	fuzz_check(json_equal(root, json_parse(&arena, root->span, &err)));
}

static void check_string(struct str bytes)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf json, want;
	struct str back;
	buf_init(&json, 16 * MIB);
	buf_init(&want, 16 * MIB);
	json_quote(&json, bytes);
	text_append_utf8_lossy(&want, bytes);
	fuzz_check(json_to_str(json_parse(&arena, buf_str(&json), NULL), &back));
	fuzz_check(str_eq(back, buf_str(&want)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = {(const char *)data, size};
	check_document(text);
	check_string(text);
	return 0;
}
