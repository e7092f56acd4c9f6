/* The tools that clients provide: validation and conversion. */
#include "test.h"

#include "base/error.h"
#include "base/json.h"
#include "tool/dynamic_tools.h"

#define FUNCTION(name) "{\"type\":\"function\",\"name\":\"" name "\",\"description\":\"d\",\"inputSchema\":{}}"

static bool is_taken(struct str name)
{
	return str_is(name, "exec_command");
}

static void assert_written(struct str given, const char *kept, const char *told)
{
	auto_buf struct buf out;
	struct error err;
	struct dynamic_tools *tools = dynamic_tools_read(given, &err);
	assert_non_null(tools);
	buf_init(&out, 1 << 16);
	struct json_writer w = json_writer(&out);
	dynamic_tools_write(tools, &w);
	assert_true(str_is(buf_str(&out), kept));
	buf_clear(&out);
	w = json_writer(&out);
	jw_array(&w);
	dynamic_tools_write_specs(tools, is_taken, &w);
	jw_array_end(&w);
	assert_true(str_is(buf_str(&out), told));
	dynamic_tools_destroy(tools);
}

static void the_older_form_is_kept_in_the_newer_one(void **state)
{
	(void)state;
	assert_written(STR("[{\"name\":\"b\",\"description\":\"d\",\"inputSchema\":{},"
	                   "\"namespace\":\"n\",\"deferLoading\":true},"
	                   "{\"name\":\"a\",\"description\":\"d\",\"inputSchema\":{\"type\":\"object\"}}]"),
	               "[{\"type\":\"function\",\"name\":\"a\",\"description\":\"d\","
	               "\"inputSchema\":{\"type\":\"object\"}},"
	               "{\"type\":\"namespace\",\"name\":\"n\",\"description\":\"\",\"tools\":[{\"type\":\"function\","
	               "\"name\":\"b\",\"description\":\"d\",\"inputSchema\":{},\"deferLoading\":true}]}]",
	               "[{\"type\":\"function\",\"name\":\"a\",\"description\":\"d\",\"strict\":false,"
	               "\"parameters\":{\"type\":\"object\"}}]");
}

static void a_duplicate_name_is_kept_but_not_sent(void **state)
{
	(void)state;
	assert_written(STR("[" FUNCTION("exec_command") "]"), "[" FUNCTION("exec_command") "]", "[]");
}

static void a_tool_is_found_by_namespace_and_name(void **state)
{
	(void)state;
	struct dynamic_tools *tools = dynamic_tools_read(
		STR("[{\"type\":\"namespace\",\"name\":\"n\",\"description\":\"\",\"tools\":[" FUNCTION("a") "]}]"),
		NULL);
	assert_non_null(dynamic_tools_find(tools, STR("n"), STR("a")));
	assert_null(dynamic_tools_find(tools, STR_NONE, STR("a")));
	assert_null(dynamic_tools_find(tools, STR("n"), STR("b")));
	assert_null(dynamic_tools_find(NULL, STR_NONE, STR("a")));
	dynamic_tools_destroy(tools);
}

static void an_invalid_list_of_tools_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"{}",
		"null",
		"[1]",
		"[{}]",
		"[[]]",
		"[{\"type\":\"namespace\"}]",
		"[{\"type\":\"namespace\",\"name\":\"n\",\"description\":\"\",\"tools\":[1]}]",
		"[" FUNCTION("mcp") "]",
		"[" FUNCTION("mcp__server__tool") "]",
		"[{\"type\":5,\"name\":\"n\"}]",
		"[{\"name\":5,\"description\":\"\",\"inputSchema\":{}}]"};
	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct error err;
		assert_null(dynamic_tools_read(str_of(texts[i]), &err));
		assert_true(err.text[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_older_form_is_kept_in_the_newer_one),
		cmocka_unit_test(a_duplicate_name_is_kept_but_not_sent),
		cmocka_unit_test(a_tool_is_found_by_namespace_and_name),
		cmocka_unit_test(an_invalid_list_of_tools_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
