/* JSON: valid and invalid texts, exact numbers and strings, round trips. */
#include "test.h"

#include <math.h>

#include "base/error.h"
#include "base/json.h"
#include "base/json_peek.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* Literals can contain NUL. */
#define ROW(literal)                            \
	{                                       \
		"" literal, sizeof(literal) - 1 \
	}

static void valid_texts_are_taken(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct str rows[] = {
		ROW("null"), ROW("true"), ROW("false"), ROW("0"), ROW("-0"), ROW("1"), ROW("-1"), ROW("\"\""),
		ROW("[]"), ROW("{}"), ROW(" [] "), ROW("\t\r\n {} \n"), ROW("[ ]"), ROW("{ }"), ROW("[1]"), ROW("[1,2]"),
		ROW("[ 1 , 2 ]"), ROW("[[],[[]],{}]"), ROW("{\"a\":1}"), ROW("{ \"a\" : 1 , \"b\" : [ ] }"),
		ROW("{\"\":0}"), ROW("{\"a\":1,\"a\":2}"), ROW("[null,true,false,\"\",0,{},[]]"), ROW("0.0"), ROW("0.1"),
		ROW("10"), ROW("-10.01"), ROW("1e1"), ROW("1E1"), ROW("1e+1"), ROW("1e-1"), ROW("0e0"), ROW("0E+00"),
		ROW("1.5e007"), ROW("123456789012345678901234567890"), ROW("1e9999"), ROW("-1e-9999"),
		ROW("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), ROW("\"\\u0000\""), ROW("\"\\uabCD\""), ROW("\"\\ud83d\\ude00\""),
		ROW("\"\\uD800\\uDC00\""), ROW("\"\\uDBFF\\uDFFF\""), ROW("\"\\uffff\""), ROW("\"\x7f\""),
		ROW("\"\xc2\x80\""), ROW("\"\xdf\xbf\""), ROW("\"\xe0\xa0\x80\""), ROW("\"\xed\x9f\xbf\""),
		ROW("\"\xee\x80\x80\""), ROW("\"\xef\xbf\xbf\""), ROW("\"\xf0\x90\x80\x80\""), ROW("\"\xf4\x8f\xbf\xbf\""),
		ROW("\"\xe2\x80\xa8\""), ROW("\"0123456789abcdef0123456789abcdef\xc3\xa4 and more after it\""),
	};
	/* clang-format on */
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct error err = {0};
		auto_free char *exact = str_dup(rows[i]); /* an exact copy, so that a read past the end is detected */
		const struct json *root = json_parse(&arena, str_n(exact, rows[i].len), &err);
		if (!root)
			fail_msg("row %zu \"%.*s\" refused: %s", i, STR_ARG(rows[i]), err.text);
		assert_true(str_eq(root->span, str_trim(rows[i])));
	}
}

static void broken_texts_are_refused(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct str rows[] = {
		ROW(""), ROW(" "), ROW("n"), ROW("nul"), ROW("nulL"), ROW("truth"), ROW("True"), ROW("nulll"), ROW("NaN"),
		ROW("Infinity"), ROW("-Infinity"), ROW("undefined"), ROW("'a'"), ROW("a"), ROW("["), ROW("]"), ROW("{"),
		ROW("}"), ROW("[1"), ROW("[1,"), ROW("[1,]"), ROW("[,1]"), ROW("[,]"), ROW("[1,,2]"), ROW("[1 2]"), ROW("[1}"),
		ROW("[]]"), ROW("[] []"), ROW("1 2"), ROW("{}x"), ROW("{\"a\"}"), ROW("{\"a\":}"), ROW("{\"a\":1,}"),
		ROW("{,}"), ROW("{,\"a\":1}"), ROW("{\"a\" 1}"), ROW("{a:1}"), ROW("{'a':1}"), ROW("{1:1}"), ROW("{null:1}"),
		ROW("{\"a\":1"), ROW("{\"a\":1 \"b\":2}"), ROW("{\"a\":1]"), ROW("{\"a\"::1}"), ROW("{\"a"), ROW("{\"a\":"),
		ROW("// c\n1"), ROW("1 // c"), ROW("/* c */ 1"), ROW("# c"), ROW("\xef\xbb\xbf{}"), ROW("\xa0" "1"),
		ROW("\f1"), ROW("\v1"), ROW("1\0"), ROW("\0"), ROW("[\0]"),
		ROW("-"), ROW("+1"), ROW("--1"), ROW("01"), ROW("-01"), ROW("00"), ROW("1."), ROW(".1"), ROW("-.1"),
		ROW("1.e1"), ROW("1e"), ROW("1e+"), ROW("1e-"), ROW("1e1.5"), ROW("1ee1"), ROW("1.2.3"), ROW("0x10"),
		ROW("1_000"), ROW("1a"), ROW("- 1"), ROW("1,5"), ROW("\xef\xbc\x91"),
		ROW("\""), ROW("\"a"), ROW("\"\\\""), ROW("\"\\"), ROW("\"\\u"), ROW("\"\\u12"), ROW("\"\\u123\""),
		ROW("\"\\u12g4\""), ROW("\"\\uD83D\""), ROW("\"\\uDE00\""), ROW("\"\\uD83D\\uD83D\""), ROW("\"\\uD83Dx\""),
		ROW("\"\\uD83D\\n\""), ROW("\"\\uD83D\\u0041\""), ROW("\"\\uDE00\\uD83D\""), ROW("\"\\uD83D\\u"),
		ROW("\"\\x41\""), ROW("\"\\a\""), ROW("\"\\0\""), ROW("\"\\U0041\""), ROW("\"\\'\""), ROW("\"\\\n\""),
		ROW("\"a\nb\""), ROW("\"a\tb\""), ROW("\"a\0b\""), ROW("\"a\x1f\""), ROW("\"0123456789abcdefg\x01\""),
		ROW("\"\x80\""), ROW("\"\xff\""), ROW("\"\xc0\xaf\""), ROW("\"\xc1\xbf\""), ROW("\"\xc2\""), ROW("\"\xe0\x9f\xbf\""),
		ROW("\"\xe2\x82\""), ROW("\"\xed\xa0\x80\""), ROW("\"\xed\xbf\xbf\""), ROW("\"\xf0\x8f\xbf\xbf\""),
		ROW("\"\xf4\x90\x80\x80\""), ROW("\"\xf5\x80\x80\x80\""), ROW("\"\xf0\x9f\x98"), ROW("\"\xc3"),
		ROW("{\"\xff\":1}"), ROW("{\"a\\uD800\":1}"), ROW("[\"a\xe9\"]"), ROW("\xff\xfe[\0]\0"),
	};
	/* clang-format on */
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct error err = {0};
		auto_free char *exact = xmalloc(rows[i].len ? rows[i].len : 1);
		memcpy(exact, rows[i].ptr, rows[i].len);
		if (json_parse(&arena, str_n(exact, rows[i].len), &err))
			fail_msg("row %zu \"%.*s\" taken", i, STR_ARG(rows[i]));
		assert_int_equal(err.code, ERR_invalid);
		assert_true(str_has_prefix(str_of(err.text), "line "));
		assert_null(json_parse(&arena, str_n(exact, rows[i].len), NULL));
	}
}

static void errors_name_position_and_reason(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"", "line 1 column 1: expected a value, found the end of the text"},
		{"{\n  \"a\": ?\n}", "line 2 column 8: expected a value, found '?'"},
		{"[\"äö\" 1]", "line 1 column 7: expected ',' or ']' after an element, found '1'"},
		{"{\"a\":1", "line 1 column 7: expected ',' or '}' after a member, found the end of the text"},
		{"{\"a\":1,}", "line 1 column 8: expected a name in quotes, found '}'"},
		{"{\"a\" 1}", "line 1 column 6: expected ':' after a name, found '1'"},
		{"\"a\x01\"", "line 1 column 3: control character 0x01 must be escaped in a string"},
		{"\"a\xff\"", "line 1 column 3: byte 0xff is not valid UTF-8"},
		{"\"\\q\"", "line 1 column 2: a backslash must be followed by one of \" \\ / b f n r t u"},
		{"\"\\ud800\"", "line 1 column 2: half of a surrogate pair"},
		{"\"\\u00g0\"", "line 1 column 2: \\u must be followed by four hex digits"},
		{"[-]", "line 1 column 3: expected a digit after '-', found ']'"},
		{"[012]", "line 1 column 2: a number must not start with a zero"},
		{"[1.]", "line 1 column 4: expected a digit after the decimal point, found ']'"},
		{"nul", "line 1 column 1: expected a value, found a word other than true, false or null"},
		{"1 1", "line 1 column 3: expected nothing after the value, found '1'"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct error err = {0};
		assert_null(json_parse(&arena, str_of(rows[i][0]), &err));
		assert_string_equal(err.text, rows[i][1]);
	}
}

static void repeat(struct buf *out, const char *text, int times)
{
	for (int i = 0; i < times; i++)
		buf_append_c(out, text);
}

static enum error_code parse_nested(int depth, const char *open, const char *close)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct error err = {0};
	buf_init(&text, 16 * MIB);
	repeat(&text, open, depth);
	repeat(&text, close, depth);
	return json_parse(&arena, buf_str(&text), &err) ? ERR_none : err.code;
}

static void deep_nesting_is_refused(void **state)
{
	(void)state;
	assert_int_equal(parse_nested(LIMIT_JSON_DEPTH, "[", "]"), ERR_none);
	assert_int_equal(parse_nested(LIMIT_JSON_DEPTH + 1, "[", "]"), ERR_limit);
	assert_int_equal(parse_nested(1000000, "[", ""), ERR_limit);
	assert_int_equal(parse_nested(1000000, "{\"a\":", ""), ERR_limit);
}

static void siblings_do_not_count_as_depth(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, MIB);
	buf_append_c(&text, "[0");
	repeat(&text, ",[],{}", 1000);
	buf_append_c(&text, "]");
	const struct json *root = json_parse(&arena, buf_str(&text), NULL);
	assert_non_null(root);
	assert_int_equal(root->count, 2001);
}

static void too_many_values_are_refused(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct error err = {0};
	buf_init(&text, 16 * MIB);
	buf_append_c(&text, "[0");
	repeat(&text, ",0", LIMIT_JSON_VALUES);
	buf_append_c(&text, "]");
	assert_null(json_parse(&arena, buf_str(&text), &err));
	assert_int_equal(err.code, ERR_limit);
}

static void trees_are_walked(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct error err = {0};
	struct str text = STR("{\"a\":{\"b\":[10,\"x\",{\"c\":null}]},\"t\":true,\"s\":\"v\",\"n\":7}");
	const struct json *root = json_parse(&arena, text, &err);
	assert_non_null(root);
	assert_int_equal(root->count, 4);
	const struct json *list = json_path(root, "a.b");
	assert_true(json_is(list, JSON_array));
	assert_str(list->span, "[10,\"x\",{\"c\":null}]");
	assert_str(list->key, "b");
	assert_str(json_at(list, 1)->text, "x");
	assert_null(json_at(list, 3));
	assert_null(json_at(root, 0));
	assert_true(json_is(json_get(json_at(list, 2), "c"), JSON_null));
	assert_null(json_get(list, "c"));
	assert_null(json_get(NULL, "c"));
	assert_null(json_path(root, "a.x.b"));
	assert_null(json_path(root, "s.v"));
	assert_str(json_get_str(root, "s"), "v");
	assert_null(json_get_str(root, "n").ptr);
	assert_int_equal(json_get_i64(root, "n", -1), 7);
	assert_int_equal(json_get_i64(root, "s", -1), -1);
	assert_true(json_get_bool(root, "t", false));
	assert_true(json_get_bool(root, "absent", true));
	bool truth = false;
	assert_false(json_to_bool(json_get(root, "n"), &truth));
	assert_true(json_to_bool(json_get(root, "t"), &truth) && truth);
}

static void plain_text_is_a_slice_of_the_input(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct str text = STR("{\"key\":\"plain äöü\",\"n\":1.50}");
	const struct json *root = json_parse(&arena, text, NULL);
	assert_non_null(root);
	assert_ptr_equal(root->child->key.ptr, text.ptr + 2);
	assert_ptr_equal(root->child->text.ptr, text.ptr + 8);
	assert_str(root->child->next->text, "1.50");
	const struct json *copy = json_parse_copy(&arena, text, NULL);
	assert_true(json_equal(root, copy));
	assert_true(copy->span.ptr < text.ptr || copy->span.ptr >= text.ptr + text.len);
}

static void escapes_are_decoded(void **state)
{
	(void)state;
	static const struct {
		struct str in, want;
	} rows[] = {
		{ROW("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""), ROW("\"\\/\b\f\n\r\t")},
		{ROW("\"a\\u0000b\""), ROW("a\0b")},
		{ROW("\"\\u0041\\u00e4\\u20AC\\ud83d\\ude00\""), ROW("Aä€😀")},
		{ROW("\"ä\\n€\\t😀\""), ROW("ä\n€\t😀")},
		{ROW("\"a long plain start that fills strides \\n and a long plain end as well\""),
	         ROW("a long plain start that fills strides \n and a long plain end as well")},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct str text;
		assert_true(json_to_str(json_parse(&arena, rows[i].in, NULL), &text));
		assert_true(str_eq(text, rows[i].want));
	}
	auto_arena struct arena arena = {0};
	assert_int_equal(json_get_i64(json_parse(&arena, STR("{\"\\u0061\\n\":5}"), NULL), "a\n", 0), 5);
}

static void of_equal_names_the_last_counts(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	const struct json *root = json_parse(&arena, STR("{\"a\":1,\"b\":2,\"a\":3,\"\\u0061\":4}"), NULL);
	assert_int_equal(json_get_i64(root, "a", 0), 4);
	assert_int_equal(root->count, 4);
}

static void several_members_are_found_in_one_pass(void **state)
{
	static const struct str names[] = {{"ab", 2}, {"", 0}, {"ac", 2}, {"a", 1}};
	auto_arena struct arena arena = {0};
	const struct json *found[countof(names)];
	(void)state;
	const struct json *root = json_parse(&arena, STR("{\"a\":1,\"ab\":2,\"\":3,\"ab\":4,\"abc\":5}"), NULL);
	json_pick(root, names, countof(names), found);
	assert_ptr_equal(found[0], json_get(root, "ab"));
	assert_int_equal(json_get_i64(root, "ab", 0), 4);
	assert_ptr_equal(found[1], json_get(root, ""));
	assert_null(found[2]);
	assert_ptr_equal(found[3], json_get(root, "a"));
	json_pick(json_get(root, "a"), names, countof(names), found);
	for (size_t i = 0; i < countof(names); i++)
		assert_null(found[i]);
	json_pick(NULL, names, countof(names), found);
	assert_null(found[0]);
}

static void integers_are_exact(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		const char *text;
		bool is_i64;
		int64_t value;
	} rows[] = {
		{"0", true, 0}, {"-0", true, 0}, {"3.0", true, 3}, {"3e0", true, 3}, {"-12", true, -12},
		{"9223372036854775807", true, INT64_MAX}, {"9223372036854775808", false, 0},
		{"-9223372036854775808", true, INT64_MIN}, {"-9223372036854775809", false, 0},
		{"9007199254740993", true, 9007199254740993}, {"9007199254740993.000", true, 9007199254740993},
		{"9.007199254740993e15", true, 9007199254740993}, {"1.5e1", true, 15}, {"1500e-2", true, 15},
		{"15e-1", false, 0}, {"0.1", false, 0}, {"1e18", true, 1000000000000000000}, {"1e19", false, 0},
		{"0e999999999999999999999", true, 0}, {"0.000e-99999999999999999999", true, 0},
		{"1e999999999999999999999", false, 0}, {"1e-999999999999999999999", false, 0},
		{"0.0001e4", true, 1}, {"100000000000000000000000e-23", true, 1},
		{"10000000000000000000000000000000000001", false, 0}, {"\"1\"", false, 0}, {"true", false, 0},
	};
	/* clang-format on */
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		int64_t value = 77;
		bool is_i64 = json_to_i64(json_parse(&arena, str_of(rows[i].text), NULL), &value);
		if (is_i64 != rows[i].is_i64 || value != (is_i64 ? rows[i].value : 77))
			fail_msg("%s: %d %lld", rows[i].text, is_i64, (long long)value);
	}
}

static void unsigned_integers_reach_64_bits(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	uint64_t value = 0;
	assert_true(json_to_u64(json_parse(&arena, STR("18446744073709551615"), NULL), &value));
	assert_true(value == UINT64_MAX);
	assert_false(json_to_u64(json_parse(&arena, STR("18446744073709551616"), NULL), &value));
	assert_false(json_to_u64(json_parse(&arena, STR("-1"), NULL), &value));
	assert_true(json_to_u64(json_parse(&arena, STR("-0.0"), NULL), &value));
	assert_true(value == 0);
}

static void big_numbers_keep_their_spelling(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	buf_init(&out, 1000);
	const char *text = "[123456789012345678901234567890.10,1E400,-0.0,1.00]";
	const struct json *root = json_parse(&arena, str_of(text), NULL);
	struct json_writer w = json_writer(&out);
	jw_array(&w);
	json_for_each(it, root)
		jw_value(&w, it);
	jw_array_end(&w);
	assert_string_equal(out.data, text);
	double value = 5;
	assert_false(json_to_double(json_at(root, 1), &value));
	assert_true(value == 5);
	assert_true(json_to_double(json_at(root, 0), &value));
	assert_true(value == 123456789012345678901234567890.10);
}

static void long_spellings_are_doubles_too(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, 10000);
	buf_append_c(&text, "0.5");
	repeat(&text, "0", 5000);
	double value;
	assert_true(json_to_double(json_parse(&arena, buf_str(&text), NULL), &value));
	assert_true(value == 0.5);
}

static void equality_is_by_value(void **state)
{
	(void)state;
	static const struct {
		const char *a, *b;
		bool equal;
	} rows[] = {
		{"{\"a\":1,\"b\":[2]}", "{ \"b\" : [2.0], \"a\" : 1e0 }", true},
		{"{\"a\":1}", "{\"a\":1,\"b\":2}", false},
		{"{\"a\":1,\"a\":2}", "{\"a\":2}", true},
		{"{\"a\":2,\"a\":1}", "{\"a\":2}", false},
		{"{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}", false},
		{"[1,2]", "[2,1]", false},
		{"[1]", "[1,1]", false},
		{"\"\\u0061\"", "\"a\"", true},
		{"\"1\"", "1", false},
		{"true", "false", false},
		{"null", "null", true},
		{"null", "false", false},
		{"123456789012345678901234567890", "123456789012345678901234567890", true},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		const struct json *a = json_parse(&arena, str_of(rows[i].a), NULL);
		const struct json *b = json_parse(&arena, str_of(rows[i].b), NULL);
		assert_non_null(a);
		assert_non_null(b);
		if (json_equal(a, b) != rows[i].equal || json_equal(b, a) != rows[i].equal)
			fail_msg("%s and %s", rows[i].a, rows[i].b);
	}
	assert_true(json_equal(NULL, NULL));
}

static void writer_places_commas(void **state)
{
	(void)state;
	auto_buf struct buf out;
	buf_init(&out, 1000);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "s", STR("x"));
	jw_member_str(&w, "none", STR_NONE);
	jw_member_cstr(&w, "c", NULL);
	jw_member_i64(&w, "i", INT64_MIN);
	jw_member_bool(&w, "b", true);
	jw_member_raw(&w, "r", STR("[1]"));
	jw_key_str(&w, STR("q\""));
	jw_array(&w);
	jw_array(&w);
	jw_array_end(&w);
	jw_object(&w);
	jw_object_end(&w);
	jw_u64(&w, UINT64_MAX);
	jw_bool(&w, false);
	jw_null(&w);
	jw_strf(&w, "%d-%s", 7, "y");
	jw_raw(&w, STR_NONE);
	jw_value(&w, NULL);
	jw_array_end(&w);
	jw_object_end(&w);
	assert_string_equal(out.data, "{\"s\":\"x\",\"none\":null,\"c\":null,\"i\":-9223372036854775808,\"b\":true,"
	                              "\"r\":[1],\"q\\\"\":[[],{},18446744073709551615,false,null,\"7-y\",null,null]}");
}

static void writer_escapes_special_characters(void **state)
{
	(void)state;
	static const struct {
		struct str in;
		const char *want;
	} rows[] = {
		{ROW(""), "\"\""},
		{ROW("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\""},
		{ROW("\0\x01\x0b\x1f\x7f"), "\"\\u0000\\u0001\\u000b\\u001f\x7f\""},
		{ROW("äöü€😀"), "\"äöü€😀\""},
		{ROW("a\xff"
	             "b\xc3"),
	         "\"a\xef\xbf\xbd"
	         "b\xef\xbf\xbd\""},
		{ROW("0123456789abcdef0123456789abcdef\n0123456789abcdef"),
	         "\"0123456789abcdef0123456789abcdef\\n0123456789abcdef\""},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf out;
		buf_init(&out, 1000);
		json_quote(&out, rows[i].in);
		assert_string_equal(out.data, rows[i].want);
	}
}

static void any_bytes_read_back(void **state)
{
	(void)state;
	uint32_t seed = 1;
	for (int round = 0; round < 3000; round++) {
		char bytes[64];
		size_t len = (size_t)round % sizeof(bytes);
		for (size_t i = 0; i < len; i++) {
			seed = seed * 1664525 + 1013904223;
			bytes[i] = (char)(round % 3 ? seed >> 24 : (seed >> 24) % 96 + 32);
		}
		auto_arena struct arena arena = {0};
		auto_buf struct buf json, want;
		struct str back;
		buf_init(&json, 1000);
		buf_init(&want, 1000);
		json_quote(&json, str_n(bytes, len));
		text_append_utf8_lossy(&want, str_n(bytes, len));
		assert_true(json_to_str(json_parse(&arena, buf_str(&json), NULL), &back));
		assert_true(str_eq(back, buf_str(&want)));
	}
}

static void writer_stops_at_the_buffers_maximum(void **state)
{
	(void)state;
	for (size_t max = 0; max < 40; max++) {
		auto_buf struct buf out;
		buf_init(&out, max);
		struct json_writer w = json_writer(&out);
		jw_object(&w);
		jw_member_cstr(&w, "key", "a\nb\xff plain");
		jw_member_i64(&w, "n", 12345);
		jw_object_end(&w);
		assert_int_equal(out.over, max < strlen("{\"key\":\"a\\nb... plain\",\"n\":12345}"));
		assert_true(out.len <= max);
	}
}

/* Writes {"a":"","b":text,"c":text} and puts what was left out back in its place. */
static void check_aside(struct str text, bool is_left_out)
{
	auto_buf struct buf with, without, joined;
	struct json_aside aside;
	struct json_writer writers[2];
	buf_init(&with, 4 * MIB);
	buf_init(&without, 4 * MIB);
	buf_init(&joined, 4 * MIB);
	writers[0] = json_writer_aside(&with, &aside);
	writers[1] = json_writer(&without);
	for (size_t i = 0; i < countof(writers); i++) {
		jw_object(&writers[i]);
		jw_member_str(&writers[i], "a", STR(""));
		jw_member_str(&writers[i], "b", text);
		jw_member_str(&writers[i], "c", text);
		jw_object_end(&writers[i]);
	}
	assert_int_equal(aside.text.ptr == text.ptr, is_left_out);
	assert_int_equal(without.len - with.len, is_left_out ? text.len : 0);
	buf_append(&joined, with.data, aside.at);
	buf_append_str(&joined, aside.text);
	buf_append_str(&joined, str_skip(buf_str(&with), aside.at));
	assert_true(str_eq(buf_str(&joined), buf_str(&without)));
}

static void a_writer_leaves_one_large_plain_text_out(void **state)
{
	(void)state;
	auto_buf struct buf text;
	buf_init(&text, MIB);
	repeat(&text, "x", LIMIT_SHARED_TEXT - 1);
	check_aside(buf_str(&text), false);
	buf_append_char(&text, 'x');
	check_aside(buf_str(&text), true);
	buf_append_char(&text, '"');
	check_aside(buf_str(&text), false);
}

static void doubles_are_short_and_read_back(void **state)
{
	(void)state;
	/* clang-format off */
	static const struct {
		double value;
		const char *want;
	} rows[] = {
		{0, "0"}, {-0.0, "-0"}, {1, "1"}, {0.1, "0.1"}, {1.5, "1.5"}, {1e22, "1e+22"}, {1.0 / 3, "0.3333333333333333"},
		{0.1 + 0.2, "0.30000000000000004"}, {5e-324, "4.94065645841247e-324"}, {NAN, "null"}, {INFINITY, "null"},
		{-INFINITY, "null"}, {1.7976931348623157e308, "1.7976931348623157e+308"},
	};
	/* clang-format on */
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		auto_buf struct buf out;
		buf_init(&out, 1000);
		struct json_writer w = json_writer(&out);
		jw_double(&w, rows[i].value);
		assert_string_equal(out.data, rows[i].want);
		double back = 0;
		if (json_to_double(json_parse(&arena, buf_str(&out), NULL), &back))
			assert_true(back == rows[i].value);
	}
}

static void types_have_names(void **state)
{
	(void)state;
	assert_string_equal(json_type_name(JSON_null), "null");
	assert_string_equal(json_type_name(JSON_bool), "boolean");
	assert_string_equal(json_type_name(JSON_object), "object");
}

static void indented_text_has_a_member_a_line(void **state)
{
	(void)state;
	auto_buf struct buf out;
	buf_init(&out, 4096);
	json_indent(&out, STR("{\"a\":[1,{\"b, {\\\"\":null}],\"c\": { },\"d\":[]}"));
	assert_str(buf_str(&out), "{\n  \"a\": [\n    1,\n    {\n      \"b, {\\\"\": null\n    }\n  ],\n"
	                          "  \"c\": {},\n  \"d\": []\n}");
}

static void expect_member(const char *text, const char *want)
{
	struct str got = STR_NONE;
	bool is_there = json_peek_member(str_of(text), "id", &got);
	if (is_there != (want != NULL) || (want && !str_is(got, want)))
		fail_msg("%s: got %d \"%.*s\"", text, is_there, STR_ARG(got));
}

static void test_a_member_of_a_cut_object(void **state)
{
	(void)state;
	expect_member("{\"id\":7,\"x\":\"abc", "7");
	expect_member(" { \"id\" : \"a\\\"b\" , \"x\"", "\"a\\\"b\"");
	expect_member("{\"params\":{\"id\":1,\"a\":[\"}]\\\\\"]},\"id\":2}", "2");
	expect_member("{\"method\":\"id\",\"n\":null,\"id\":-3 ", "-3");
	expect_member("{\"id\":7", NULL); /* may be incomplete */
	expect_member("{\"id\":\"ab", NULL);
	expect_member("{\"params\":{\"id\":1", NULL);
	expect_member("{\"x\":\"\\", NULL);
	expect_member("[{\"id\":7}]", NULL);
	expect_member("{}", NULL);
	expect_member("{", NULL);
	expect_member("", NULL);
	expect_member("{\"id\"7,", NULL);
	expect_member("{\"a\":,\"id\":7,", NULL);
	assert_true(json_peek_has(STR("{\"id\":7,\"result\":{\"x"), "result"));
	assert_false(json_peek_has(STR("{\"id\":7,\"x\":{\"result\":1"), "result"));
	assert_true(json_peek_is_object(STR(" {x")));
	assert_false(json_peek_is_object(STR("x{")));
	assert_false(json_peek_is_object(STR("  ")));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_member_of_a_cut_object),
		cmocka_unit_test(valid_texts_are_taken),
		cmocka_unit_test(broken_texts_are_refused),
		cmocka_unit_test(errors_name_position_and_reason),
		cmocka_unit_test(deep_nesting_is_refused),
		cmocka_unit_test(siblings_do_not_count_as_depth),
		cmocka_unit_test(too_many_values_are_refused),
		cmocka_unit_test(trees_are_walked),
		cmocka_unit_test(plain_text_is_a_slice_of_the_input),
		cmocka_unit_test(escapes_are_decoded),
		cmocka_unit_test(of_equal_names_the_last_counts),
		cmocka_unit_test(several_members_are_found_in_one_pass),
		cmocka_unit_test(integers_are_exact),
		cmocka_unit_test(unsigned_integers_reach_64_bits),
		cmocka_unit_test(big_numbers_keep_their_spelling),
		cmocka_unit_test(long_spellings_are_doubles_too),
		cmocka_unit_test(equality_is_by_value),
		cmocka_unit_test(writer_places_commas),
		cmocka_unit_test(writer_escapes_special_characters),
		cmocka_unit_test(any_bytes_read_back),
		cmocka_unit_test(writer_stops_at_the_buffers_maximum),
		cmocka_unit_test(a_writer_leaves_one_large_plain_text_out),
		cmocka_unit_test(doubles_are_short_and_read_back),
		cmocka_unit_test(types_have_names),
		cmocka_unit_test(indented_text_has_a_member_a_line),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
