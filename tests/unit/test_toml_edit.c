/* Edits of TOML texts: the intended change, with all other bytes unchanged. */
#include "test.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/toml/toml.h"
#include "config/toml/toml_edit.h"
#include "config/toml/toml_text.h"

enum change { SET, MERGE };

/* value: TOML; NULL removes. path: dotted. */
static void check_change(const char *before, enum change change, const char *path, const char *value, const char *after)
{
	auto_arena struct arena arena = {0};
	struct toml_edit edit;
	struct error err = {0};
	struct str keys[8], rest = str_of(path);
	size_t count = 0;
	struct toml *node = value ? toml_parse_value(&arena, str_of(value), "value", &err) : NULL;
	while (str_next_part(&rest, '.', &keys[count]))
		count++;
	assert_int_equal(toml_edit_init(&edit, str_of(before), "f", &err), 0);
	int status = !node             ? toml_edit_remove(&edit, keys, count, &err)
	             : change == MERGE ? toml_edit_merge(&edit, keys, count, node, &err)
	                               : toml_edit_set(&edit, keys, count, node, &err);
	if (status != 0)
		fail_msg("%s", err.text);
	buf_append_char(&edit.text, '\0');
	assert_string_equal(edit.text.data, after);
	toml_edit_finish(&edit);
}

static void a_value_is_replaced_in_its_place(void **state)
{
	(void)state;
	check_change("# top\na = 1   # one\nb=2\n", SET, "a", "\"x\"", "# top\na = \"x\"   # one\nb=2\n");
	check_change("a = [\n  1, # one\n]\n", SET, "a", "[ 2 ]", "a = [2]\n");
	check_change("t.a = 1\nt.b = 2\n", SET, "t.b", "true", "t.a = 1\nt.b = true\n");
	check_change("\"a b\" = 1\r\n", SET, "a b", "2.5", "\"a b\" = 2.5\r\n");
	check_change("a = 1", SET, "a", "{ x = 1 }", "a = { x = 1 }");
}

static void a_new_pair_stands_where_its_table_ends(void **state)
{
	(void)state;
	check_change("", SET, "a", "1", "a = 1\n");
	check_change("a = 1", SET, "b", "2", "a = 1\nb = 2\n");
	check_change("a = 1\n\n# next\n[t]\n", SET, "b", "2", "a = 1\nb = 2\n\n# next\n[t]\n");
	check_change("[t]\nx = 1 # x\n\n[u]\n", SET, "t.y", "2", "[t]\nx = 1 # x\ny = 2\n\n[u]\n");
	check_change("[t]\n  x = 1\n", SET, "t.y", "2", "[t]\n  x = 1\n  y = 2\n");
	check_change("[t]\r\n[u]\r\n", SET, "t.y", "2", "[t]\r\ny = 2\r\n[u]\r\n");
	check_change("t.a = 1\nz = 1\n", SET, "t.b", "2", "t.a = 1\nt.b = 2\nz = 1\n");
	check_change("# mine\n\n[t]\n", SET, "a", "1", "# mine\n\na = 1\n\n[t]\n");
	check_change("# about t\n[t]\n", SET, "a", "1", "a = 1\n\n# about t\n[t]\n");
}

static void tables_on_the_way_are_made(void **state)
{
	(void)state;
	check_change("a = 1\n", SET, "t.u.x", "1", "a = 1\n\n[t.u]\nx = 1\n");
	check_change("[p.\"/a\"]\nx = 1\n\n[q]\n", SET, "p./b c.x", "2",
	             "[p.\"/a\"]\nx = 1\n\n[p.\"/b c\"]\nx = 2\n\n[q]\n");
	check_change("[p.a]\nx = 1\n", SET, "p.y", "2", "[p.a]\nx = 1\n\n[p]\ny = 2\n");
	check_change("a = 1\n", SET, "t", "{ x = 1, u = { y = [1, {z = 2}] } }",
	             "a = 1\n\n[t]\nx = 1\n\n[t.u]\ny = [1, { z = 2 }]\n");
	check_change("d.a = 1\n", SET, "d.t", "{ x = 1 }", "d.a = 1\nd.t = { x = 1 }\n");
	check_change("", SET, "t", "{}", "[t]\n");
}

static void inline_tables_are_rewritten(void **state)
{
	(void)state;
	check_change("t = { a = 0x0f, 'b' = 2 } # t\n", SET, "t.b", "3", "t = { a = 0x0f, b = 3 } # t\n");
	check_change("t = { a = 1, b = 2 }\n", SET, "t.c.d", "3", "t = { a = 1, b = 2, c = { d = 3 } }\n");
	check_change("t = {}\n", SET, "t.a", "1", "t = { a = 1 }\n");
	check_change("t = { a.b = 1, a.c = [1,2] }\n", SET, "t.a.b", "3", "t = { a = { b = 3, c = [1,2] } }\n");
	check_change("t = { a = 1, b = 2 }\n", SET, "t.a", NULL, "t = { b = 2 }\n");
	check_change("t = { a = 1 }\n", SET, "t.a", NULL, "t = {}\n");
}

static void removing_a_key_removes_its_line(void **state)
{
	(void)state;
	check_change("a = 1 # one\nb = 2\n", SET, "a", NULL, "b = 2\n");
	check_change("a = [\n1,\n]\nb = 2\n", SET, "a", NULL, "b = 2\n");
	check_change("a = 1\n[t]\nx = 1\n# end\n\n[u]\n", SET, "t", NULL, "a = 1\n# end\n\n[u]\n");
	check_change("[t]\nx = 1\n\n[a]\n[t.u]\ny = 1\n\n[b]\n", SET, "t", NULL, "[a]\n[b]\n");
	check_change("[[l]]\na = 1\n[l.t]\nb = 1\n[[l]]\n[m]\n", SET, "l", NULL, "[m]\n");
	check_change("t.a = 1\nb = 2\nt.c = 3\n", SET, "t", NULL, "b = 2\n");
	check_change("a = 1\n", SET, "no.such", NULL, "a = 1\n");
}

static void tables_are_compared_member_by_member(void **state)
{
	(void)state;
	check_change("[t]\n# a\na = 1\nb = 2\n", SET, "t", "{ a = 1, c = 3 }", "[t]\n# a\na = 1\nc = 3\n");
	check_change("[t]\n# a\na = 1\nb = 2\n", MERGE, "t", "{ a = 5, c = 3 }", "[t]\n# a\na = 5\nb = 2\nc = 3\n");
	check_change("[t.u]\na = 1\n", SET, "t", "{ u = 1 }", "[t]\nu = 1\n");
	check_change("[t]\na = 1\n", SET, "t", "\"text\"", "t = \"text\"\n");
	check_change("[[t]]\na = 1\n", SET, "t", "[1]", "t = [1]\n");
}

static void impossible_edits_are_refused(void **state)
{
	struct toml_edit edit;
	struct error err;
	auto_arena struct arena arena = {0};
	struct str path[] = {STR("a"), STR("b")};
	struct toml *value = toml_parse_value(&arena, STR("1"), "value", NULL);
	(void)state;
	assert_int_equal(toml_edit_init(&edit, STR("a = [1]\n"), "f", &err), 0);
	assert_int_equal(toml_edit_set(&edit, path, 2, value, &err), -ERR_config);
	assert_string_equal(err.text, "`a` is an array, so nothing can be set in it");
	assert_int_equal(toml_edit_set(&edit, path, 0, value, &err), -ERR_limit);
	assert_true(str_is(buf_str(&edit.text), "a = [1]\n"));
	toml_edit_finish(&edit);
	assert_int_equal(toml_edit_init(&edit, STR("a = [1\n"), "f", &err), -ERR_config);
	toml_edit_finish(&edit);
}

static void changes_end_before_they_cost_too_much(void **state)
{
	struct toml_edit edit;
	struct error err;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct str path[] = {STR("a")};
	struct toml *value = toml_parse_value(&arena, STR("1"), "value", NULL);
	size_t steps = 0;
	(void)state;
	buf_init(&text, LIMIT_CONFIG_FILE);
	while (text.len < LIMIT_CONFIG_FILE - 64)
		buf_append_c(&text, "# nothing but this, again and again and again and again\n");
	assert_int_equal(toml_edit_init(&edit, buf_str(&text), "f", &err), 0);
	while (toml_edit_set(&edit, path, 1, value, &err) == 0)
		steps++;
	assert_int_equal(err.code, ERR_limit);
	assert_true(steps > 0 && steps <= LIMIT_TOML_EDIT / LIMIT_CONFIG_FILE + 1);
	toml_edit_finish(&edit);
}

static void values_are_written_as_they_are_read(void **state)
{
	/* clang-format off */
	static const char *const values[] = {
		"\"a\\\"\\\\\\n\\u007F\\u0001\"", "-7", "1.5", "1e+300", "2.0", "inf", "-inf", "nan", "true",
		"1979-05-27T07:32:00Z", "1979-05-27T00:32:00.500000000-07:30", "1979-05-27T07:32:00", "1979-05-27",
		"07:32:00", "[1, [\"x\"], {}]", "{ a = 1, \"b c\" = { d = 2 } }",
	};
	/* clang-format on */
	(void)state;
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		auto_arena struct arena arena = {0};
		auto_buf struct buf out;
		buf_init(&out, 4096);
		toml_write_value(&out, toml_parse_value(&arena, str_of(values[i]), "v", NULL));
		buf_append_char(&out, '\0');
		assert_string_equal(out.data, values[i]);
	}
}

static void equal_trees_give_equal_json(void **state)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct str text = STR("b = 1979-05-27\na = [1, 2.5]\n[0]\nz = nan\ny = true\n");
	const struct toml *root = toml_parse(&arena, text, "f", NULL);
	struct json_writer w = json_writer(&out);
	(void)state;
	buf_init(&out, 4096);
	toml_to_sorted_json(&w, root);
	assert_true(str_is(buf_str(&out), "{\"0\":{\"y\":true,\"z\":null},\"a\":[1,2.5],\"b\":\"1979-05-27\"}"));
	buf_clear(&out);
	w = json_writer(&out);
	toml_to_json(&w, root);
	assert_true(str_is(buf_str(&out), "{\"b\":\"1979-05-27\",\"a\":[1,2.5],\"0\":{\"z\":null,\"y\":true}}"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_value_is_replaced_in_its_place),
		cmocka_unit_test(a_new_pair_stands_where_its_table_ends),
		cmocka_unit_test(tables_on_the_way_are_made),
		cmocka_unit_test(inline_tables_are_rewritten),
		cmocka_unit_test(removing_a_key_removes_its_line),
		cmocka_unit_test(tables_are_compared_member_by_member),
		cmocka_unit_test(impossible_edits_are_refused),
		cmocka_unit_test(changes_end_before_they_cost_too_much),
		cmocka_unit_test(values_are_written_as_they_are_read),
		cmocka_unit_test(equal_trees_give_equal_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
