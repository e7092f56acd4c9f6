/* TOML: the toml-test corpus if it is installed, and cases that it lacks: positions in messages, order, merging,
 * hostile input. */
#include "test.h"

#include <dirent.h>
#include <math.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/toml/toml.h"

#define CORPUS "/usr/share/gocode/src/github.com/BurntSushi/toml/internal/toml-test/tests"

/* --- the corpus --- */

struct file_list {
	VEC(char *) paths;
};

static void list_files(struct file_list *list, const char *dir)
{
	DIR *open = opendir(dir);
	assert_non_null(open);
	for (struct dirent *entry; (entry = readdir(open));) {
		if (entry->d_name[0] == '.')
			continue;
		auto_free char *path = path_join(dir, entry->d_name);
		if (dir_exists(path))
			list_files(list, path);
		else if (str_has_suffix(str_of(path), ".toml"))
			vec_push(&list->paths, steal(path));
	}
	closedir(open);
}

static void list_finish(struct file_list *list)
{
	vec_for_each(it, &list->paths)
		free(*it);
	vec_finish(&list->paths);
}

static struct str read_into(struct arena *arena, const char *path)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	assert_int_equal(file_read(path, &text, NULL), 0);
	return arena_str(arena, buf_str(&text));
}

static const struct {
	const char *tag;
	enum toml_kind kind;
} tags[] = {
	{"string", TOML_string},         {"integer", TOML_integer},
	{"float", TOML_float},           {"bool", TOML_bool},
	{"datetime", TOML_datetime},     {"datetime-local", TOML_datetime_local},
	{"date-local", TOML_date_local}, {"time-local", TOML_time_local},
};

static bool same_time(const struct toml_time *a, const struct toml_time *b)
{
	return a->year == b->year && a->month == b->month && a->day == b->day && a->hour == b->hour &&
	       a->minute == b->minute && a->second == b->second && a->nanosecond == b->nanosecond &&
	       a->offset_minutes == b->offset_minutes;
}

static bool same_text(struct arena *arena, const struct toml *node, struct str want)
{
	if (node->kind == TOML_string)
		return str_eq(node->text, want);
	if (node->kind == TOML_bool)
		return str_is(want, node->boolean ? "true" : "false");
	const struct toml *other = toml_parse_value(arena, want, "expected", NULL);
	if (node->kind == TOML_float) {
		double value = strtod(arena_cstr(arena, want), NULL);
		return isnan(value) ? isnan(node->number) != 0 : node->number == value;
	}
	if (!other || other->kind != node->kind)
		return false;
	return node->kind == TOML_integer ? other->integer == node->integer : same_time(&other->time, &node->time);
}

static bool same(struct arena *arena, const struct toml *node, const struct json *want);

static bool same_table(struct arena *arena, const struct toml *node, const struct json *want)
{
	if (!json_is(want, JSON_object) || want->count != node->count)
		return false;
	json_for_each(it, want)
		if (!same(arena, toml_find(node, it->key), it))
			return false;
	return true;
}

static bool same_array(struct arena *arena, const struct toml *node, const struct json *want)
{
	if (!json_is(want, JSON_array) || want->count != node->count)
		return false;
	const struct toml *at = node->child;
	json_for_each(it, want) {
		if (!same(arena, at, it))
			return false;
		at = at->next;
	}
	return true;
}

static bool same(struct arena *arena, const struct toml *node, const struct json *want)
{
	if (!node)
		return false;
	if (node->kind == TOML_table)
		return same_table(arena, node, want);
	if (node->kind == TOML_array)
		return same_array(arena, node, want);
	struct str tag = json_get_str(want, "type");
	for (size_t i = 0; i < countof(tags); i++)
		if (str_is(tag, tags[i].tag))
			return tags[i].kind == node->kind && same_text(arena, node, json_get_str(want, "value"));
	return false;
}

static void check_valid(const char *path)
{
	auto_arena struct arena arena = {0};
	struct error err = {0};
	const struct toml *root = toml_parse(&arena, read_into(&arena, path), path, &err);
	if (!root)
		fail_msg("refused: %s", err.text);
	auto_free char *json_path = xasprintf("%.*s.json", (int)strlen(path) - 5, path);
	const struct json *want = json_parse(&arena, read_into(&arena, json_path), &err);
	if (!want)
		fail_msg("%s: %s", json_path, err.text);
	if (!same(&arena, root, want))
		fail_msg("%s: read as something else than %s says", path, json_path);
}

static void corpus_valid(void **state)
{
	(void)state;
	if (!dir_exists(CORPUS "/valid")) {
		print_message("toml-test is not installed (Debian: golang-github-burntsushi-toml-dev)\n");
		skip();
	}
	struct file_list list = {0};
	list_files(&list, CORPUS "/valid");
	vec_for_each(it, &list.paths)
		if (!str_has_suffix(str_of(*it), "string/escape-esc.toml")) /* \e is TOML 1.1 */
			check_valid(*it);
	assert_true(list.paths.count >= 100);
	list_finish(&list);
}

static void corpus_invalid(void **state)
{
	(void)state;
	if (!dir_exists(CORPUS "/invalid")) {
		print_message("toml-test is not installed (Debian: golang-github-burntsushi-toml-dev)\n");
		skip();
	}
	struct file_list list = {0};
	list_files(&list, CORPUS "/invalid");
	vec_for_each(it, &list.paths) {
		auto_arena struct arena arena = {0};
		struct error err = {0};
		if (toml_parse(&arena, read_into(&arena, *it), *it, &err))
			fail_msg("%s: accepted", *it);
		assert_int_equal(err.code, ERR_config);
		assert_true(str_has_prefix(str_of(err.text), *it));
	}
	assert_true(list.paths.count >= 234);
	list_finish(&list);
}

/* --- own cases --- */

static void refused_with_place(void **state)
{
	(void)state;
	static const struct {
		const char *text, *message;
	} rows[] = {
		{"a = 1\na = 2", "f:2:3: `a` is already defined in line 1"},
		{"\n\nb = [1,\n2\n3]", "f:5:1: expected `,` or `]` in the array of line 3"},
		{"a = yes", "f:1:5: not a value; text needs quotes around it"},
		{"a = ", "f:1:5: expected a value"},
		{"a = 1 2", "f:1:7: expected the end of the line"},
		{"a = \"x\ny\"",
	         "f:1:7: the string has no closing quote (a string over several lines starts with \"\"\")"},
		{"a = \"\"\"\n\n x\\q\"\"\"", "f:3:4: unknown escape; a backslash itself is written \\\\"},
		{"a = 'x", "f:1:6: this string has no closing quote"},
		{"a = 9223372036854775808", "f:1:5: this integer does not fit in 64 bits"},
		{"a = +", "f:1:5: not a value; text needs quotes around it"},
		{"a = 2024-02-30", "f:1:13: 30 is not between 1 and 29"},
		{"[a]\n[a]", "f:2:3: `a` is already defined in line 1"},
		{"a.b = 1\n[a.b.c]", "f:2:5: `b` is already defined in line 1"},
		{"[a\n", "f:1:3: expected `]`"},
		{"x\xff = 1", "f:1:2: not UTF-8 text"},
		{"a = \"\x01\"", "f:1:6: control character 0x01 in a string; write it as \\u0001"},
		{"\"a\\nb\" = 1\n'a\\nb' = 2\n\"a\\nb\" = 3", "f:3:8: `a?b` is already defined in line 1"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct error err = {0};
		assert_null(toml_parse(&arena, str_of(rows[i].text), "f", &err));
		assert_string_equal(err.text, rows[i].message);
	}
}

static const struct toml *parse(struct arena *arena, const char *text, const char *source)
{
	struct error err = {0};
	const struct toml *root = toml_parse(arena, str_of(text), source, &err);
	if (!root)
		fail_msg("%s", err.text);
	return root;
}

static void order_and_lines_are_kept(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	const struct toml *root = parse(&arena, "z = 1\n\na = 2\n[m]\nx.y = 3\n", "f");
	assert_str(root->child->key, "z");
	assert_str(root->child->next->key, "a");
	assert_int_equal(root->child->next->line, 3);
	assert_int_equal(toml_get(root, "m")->line, 4);
	assert_int_equal(toml_get(toml_get(toml_get(root, "m"), "x"), "y")->line, 5);
	assert_string_equal(toml_get(root, "m")->source, "f");
	assert_null(toml_get(root, "absent"));
	assert_null(toml_get(toml_get(root, "z"), "not a table"));
	assert_null(toml_get(NULL, "x"));
}

static void strings_without_escapes_are_slices(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	static const char text[] = "a = \"plain\"\nb = \"es\\tcaped\"\nc = \"\\u0000\"";
	const struct toml *root = parse(&arena, text, "f");
	assert_ptr_equal(toml_get(root, "a")->text.ptr, text + 5);
	assert_str(toml_get(root, "b")->text, "es\tcaped");
	assert_int_equal(toml_get(root, "c")->text.len, 1);
}

static void single_values(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	assert_int_equal(toml_parse_value(&arena, STR(" 0x10 "), "-c", NULL)->integer, 16);
	assert_true(toml_parse_value(&arena, STR("true"), "-c", NULL)->boolean);
	assert_int_equal(toml_parse_value(&arena, STR("[1, 2]"), "-c", NULL)->count, 2);
	assert_str(toml_get(toml_parse_value(&arena, STR("{a = \"b\"}"), "-c", NULL), "a")->text, "b");
	struct error err = {0};
	assert_null(toml_parse_value(&arena, STR("plain words"), "-c", &err));
	assert_null(toml_parse_value(&arena, STR("1 # x\n2"), "-c", &err));
	assert_null(toml_parse_value(&arena, STR(""), "-c", &err));
	assert_string_equal(err.text, "-c:1:1: expected a value");
}

static void keys_alone(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct toml *value = toml_parse_value(&arena, STR("7"), "-c", NULL);
	const struct toml *root = toml_parse_key(&arena, STR("a.\"b.c\".d"), value, NULL);
	assert_int_equal(toml_get(toml_get(toml_get(root, "a"), "b.c"), "d")->integer, 7);
	assert_null(toml_parse_key(&arena, STR("a..b"), value, NULL));
	assert_null(toml_parse_key(&arena, STR("a b"), value, NULL));
	assert_null(toml_parse_key(&arena, STR(""), value, NULL));
}

static void merging(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct toml *into = toml_parse(&arena, STR("a = 1\nl = [1, 2]\n[t]\nx = 1\ny = 2\n[u]\nz = 1\n"), "low", NULL);
	const struct toml *from = parse(&arena, "\n\nl = [3]\nb = 5\nu = 4\n[t]\ny = 3\n[t.n]\nq = 1\n", "high");
	toml_merge(&arena, into, from);
	assert_int_equal(toml_get(into, "a")->integer, 1);
	assert_int_equal(toml_get(into, "l")->count, 1);
	assert_int_equal(toml_get(into, "b")->integer, 5);
	assert_int_equal(toml_get(into, "u")->integer, 4);
	const struct toml *t = toml_get(into, "t");
	assert_int_equal(toml_get(t, "x")->integer, 1);
	assert_string_equal(toml_get(t, "x")->source, "low");
	assert_int_equal(toml_get(t, "y")->integer, 3);
	assert_string_equal(toml_get(t, "y")->source, "high");
	assert_int_equal(toml_get(t, "y")->line, 7);
	assert_str(into->child->key, "a");

	/* a later layer must not modify the document that it is merged over */
	toml_merge(&arena, into, parse(&arena, "t.n.q = 2", "top"));
	assert_int_equal(toml_get(toml_get(t, "n"), "q")->integer, 2);
	assert_int_equal(toml_get(toml_get(toml_get(from, "t"), "n"), "q")->integer, 1);
}

static void removing(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct toml *root = toml_parse(&arena, STR("a = 1\nb = 2\nc = 3"), "f", NULL);
	assert_int_equal(toml_remove(root, STR("c"))->integer, 3);
	assert_int_equal(toml_remove(root, STR("a"))->integer, 1);
	assert_null(toml_remove(root, STR("a")));
	toml_add(&arena, root, STR("d"), toml_new(&arena, TOML_bool, "f", 1));
	assert_int_equal(root->count, 2);
	assert_str(root->child->key, "b");
	assert_str(root->child->next->key, "d");
	assert_null(root->child->next->next);
}

static void many_keys(void **state)
{
	(void)state;
	enum { KEYS = 20000 };
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	for (int i = 0; i < KEYS; i++)
		buf_printf(&text, "k%d = %d\n", i, i);
	struct toml *root = toml_parse(&arena, buf_str(&text), "f", NULL);
	assert_int_equal(root->count, KEYS);
	for (int i = 0; i < KEYS; i += 7)
		assert_int_equal(toml_get(root, arena_printf(&arena, "k%d", i))->integer, i);
	assert_null(toml_get(root, "k20000"));
	toml_remove(root, STR("k5"));
	assert_null(toml_get(root, "k5"));
	assert_int_equal(toml_get(root, "k6")->integer, 6);
}

static void assert_too_deep(const char *piece, size_t count, const char *tail)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	buf_append_c(&text, tail[0] == ']' ? "[x" : "a = ");
	for (size_t i = 0; i < count; i++)
		buf_append_c(&text, piece);
	buf_append_c(&text, tail);
	struct error err = {0};
	assert_null(toml_parse(&arena, buf_str(&text), "f", &err));
	assert_non_null(strstr(err.text, "more than 128 levels"));
}

static void depth_is_bounded(void **state)
{
	(void)state;
	assert_too_deep("[", 100000, "");
	assert_too_deep("{a=", 100000, "");
	assert_too_deep("{a.b.c.d=", 40, "");
	assert_too_deep(".x", 200, "]\n");
}

static void cut_anywhere(void **state)
{
	(void)state;
	static const char text[] =
		"a.\"b\\u00e9\" = [1, 2.5e3, {x = 'y'}] # c\r\n[[t]]\nd = 1979-05-27 07:32:00.5+01:00\n"
		"s = \"\"\"\\\n  m\\U0001F600\"\"\"\"\"\nh = 0xdead_beef\nn = -inf\nb = false\n";
	for (size_t len = 0; len < sizeof(text); len++) {
		auto_arena struct arena arena = {0};
		auto_free char *exact =
			xstrndup(text, len); /* an exact copy, so that a read past the end is detected */
		struct error err = {0};
		const struct toml *root = toml_parse(&arena, str_n(exact, len), "f", &err);
		assert_true(root || err.code == ERR_config);
	}
}

/* --- JSON --- */

static struct toml *from_json(struct arena *arena, const char *text, struct error *err)
{
	const struct json *json = json_parse_copy(arena, str_of(text), NULL);
	assert_non_null(json);
	return toml_from_json(arena, json, "it", err);
}

static void json_becomes_a_table(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct error err = {0};
	const struct toml *root =
		from_json(&arena, "{\"a\":\"x\",\"b\":{\"c\":[1,2.5,true],\"none\":null},\"none\":null}", &err);
	assert_non_null(root);
	assert_str(toml_get(root, "a")->text, "x");
	assert_null(toml_get(root, "none"));
	const struct toml *b = toml_get(root, "b"), *c = toml_get(b, "c");
	assert_null(toml_get(b, "none"));
	assert_int_equal(c->count, 3);
	assert_int_equal(c->child->integer, 1);
	assert_true(c->child->next->number == 2.5);
	assert_true(c->child->next->next->boolean);
}

static void json_that_is_no_table_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"[]", "null", "\"a\"", "{\"a\":1,\"a\":2}"};
	auto_arena struct arena arena = {0};
	for (size_t i = 0; i < countof(bad); i++) {
		struct error err = {0};
		assert_null(from_json(&arena, bad[i], &err));
		assert_int_equal(err.code, ERR_config);
	}
	auto_buf struct buf deep;
	buf_init(&deep, 4096);
	buf_append_c(&deep, "{\"a\":");
	for (int i = 0; i <= LIMIT_TOML_DEPTH && i < LIMIT_JSON_DEPTH - 1; i++)
		buf_append_char(&deep, '[');
	for (int i = 0; i <= LIMIT_TOML_DEPTH && i < LIMIT_JSON_DEPTH - 1; i++)
		buf_append_char(&deep, ']');
	buf_append_char(&deep, '}');
	struct error err = {0};
	bool is_too_deep = (int)LIMIT_JSON_DEPTH > (int)LIMIT_TOML_DEPTH + 1;
	assert_int_equal(!from_json(&arena, deep.data, &err), is_too_deep);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(corpus_valid),
		cmocka_unit_test(corpus_invalid),
		cmocka_unit_test(refused_with_place),
		cmocka_unit_test(order_and_lines_are_kept),
		cmocka_unit_test(strings_without_escapes_are_slices),
		cmocka_unit_test(single_values),
		cmocka_unit_test(keys_alone),
		cmocka_unit_test(merging),
		cmocka_unit_test(removing),
		cmocka_unit_test(many_keys),
		cmocka_unit_test(depth_is_bounded),
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(json_becomes_a_table),
		cmocka_unit_test(json_that_is_no_table_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
