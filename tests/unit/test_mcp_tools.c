/* MCP tools between the server and the model: catalogs, names, results. */
#include "test.h"

#include "base/limits.h"
#include "base/mem.h"
#include "config/mcp_server.h"
#include "loop/loop.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/mcp/mcp_output.h"
#include "tool/mcp/mcp_schema.h"

/* ---- catalogs ---- */

static const char HEAD[] = "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}}}";

static struct mcp_catalog *head_of(const char *text)
{
	auto_arena struct arena arena = {0};
	struct error err;
	return mcp_catalog_create(json_parse(&arena, str_of(text), NULL), &err);
}

static int add_page(struct mcp_catalog *catalog, struct str text, struct error *err)
{
	auto_arena struct arena arena = {0};
	const struct json *page = json_parse(&arena, text, NULL);
	assert_non_null(page);
	return mcp_catalog_add_page(catalog, page, err);
}

/* A catalog with tools of these names. */
static struct mcp_catalog *catalog_of(const char *const *names, size_t count)
{
	struct error err;
	auto_buf struct buf page;
	buf_init(&page, LIMIT_MCP_LIST);
	struct json_writer w = json_writer(&page);
	jw_object(&w);
	jw_key(&w, "tools");
	jw_array(&w);
	for (size_t i = 0; i < count; i++) {
		jw_object(&w);
		jw_member_cstr(&w, "name", names[i]);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	jw_object_end(&w);
	struct mcp_catalog *catalog = head_of(HEAD);
	assert_int_equal(add_page(catalog, buf_str(&page), &err), 0);
	return catalog;
}

static void answers_to_initialize_need_a_version_and_capabilities(void **state)
{
	(void)state;
	static const char *const wrong[] = {"{}",
	                                    "[]",
	                                    "{\"protocolVersion\":1,\"capabilities\":{}}",
	                                    "{\"protocolVersion\":\"\",\"capabilities\":{}}",
	                                    "{\"protocolVersion\":\"2025-06-18\"}",
	                                    "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":[]}"};
	for (size_t i = 0; i < countof(wrong); i++)
		assert_null(head_of(wrong[i]));
	struct mcp_catalog *catalog = head_of("{\"protocolVersion\":\"x\",\"capabilities\":{\"resources\":{}}}");
	assert_false(catalog->has_tools);
	assert_true(catalog->has_resources);
	mcp_catalog_unref(catalog);
}

static void a_page_adds_usable_tools_once(void **state)
{
	(void)state;
	struct error err;
	struct mcp_catalog *catalog = head_of(HEAD);
	assert_int_equal(add_page(catalog,
	                          STR("{\"tools\":[{\"name\":\"a\",\"description\":\"first\"},{\"name\":\"a\"},"
	                              "{},{\"name\":\"\"},{\"name\":7},{\"name\":\"n\\u0000l\"},null,3]}"),
	                          &err),
	                 0);
	assert_int_equal(add_page(catalog,
	                          STR("{\"tools\":[{\"name\":\"a\"},{\"name\":\"b\",\"inputSchema\":[],"
	                              "\"annotations\":{\"destructiveHint\":false,\"readOnlyHint\":true}}]}"),
	                          &err),
	                 0);
	assert_int_equal(catalog->tools.count, 2);
	const struct mcp_tool *a = mcp_catalog_find(catalog, STR("a")), *b = mcp_catalog_find(catalog, STR("b"));
	assert_str(a->description, "first");
	assert_true(!a->is_read_only && a->is_destructive && a->is_open_world);
	assert_true(b->is_read_only && !b->is_destructive && b->is_open_world);
	assert_null(b->schema);
	assert_int_not_equal(add_page(catalog, STR("{}"), &err), 0);
	assert_int_not_equal(add_page(catalog, STR("{\"tools\":{}}"), &err), 0);
	mcp_catalog_unref(catalog);
}

/* Pages of many names in a hostile order are found again, each once. */
static void many_tools_are_found_by_name(void **state)
{
	(void)state;
	enum { PAGES = 70, PER_PAGE = 1000, ALL = PAGES * PER_PAGE };
	struct error err;
	struct mcp_catalog *catalog = head_of(HEAD);
	for (int page = 0; page < PAGES; page++) {
		auto_buf struct buf text;
		buf_init(&text, LIMIT_MCP_LIST);
		buf_append_c(&text, "{\"tools\":[{\"name\":\"t0\"}");
		for (int i = 0; i < PER_PAGE; i++)
			buf_printf(&text, ",{\"name\":\"t%d\"}", ALL - 1 - (i * PAGES + page));
		buf_append_c(&text, "]}");
		assert_int_equal(add_page(catalog, buf_str(&text), &err), 0);
	}
	assert_int_equal(catalog->tools.count, LIMIT_MCP_TOOLS);
	assert_int_equal(catalog->omitted, ALL - LIMIT_MCP_TOOLS);
	assert_str(catalog->tools.items[0].name, "t0");
	vec_for_each(it, &catalog->tools)
		assert_ptr_equal(mcp_catalog_find(catalog, it->name), it);
	assert_null(mcp_catalog_find(catalog, STR("t")));
	assert_null(mcp_catalog_find(catalog, STR("t70000")));
	mcp_catalog_unref(catalog);
}

/* ---- schemas ---- */

/* Writes ' in place of ", so that the schemas can be read. */
static void swap_quotes(char *text, char from, char to)
{
	for (; *text; text++)
		*text = *text == from ? to : *text;
}

static char *shorten(const char *schema, size_t max)
{
	auto_arena struct arena arena = {0};
	struct buf out;
	auto_free char *text = xstrdup(schema);
	buf_init(&out, LIMIT_MCP_LIST);
	struct json_writer w = json_writer(&out);
	swap_quotes(text, '\'', '"');
	mcp_schema_write(*text ? json_parse(&arena, str_of(text), NULL) : NULL, max, &w);
	char *ret = buf_take(&out);
	swap_quotes(ret, '"', '\'');
	return ret;
}

static void a_long_schema_loses_details_step_by_step(void **state)
{
	(void)state;
#define S "{'type':'string'}"
#define L "{'type':'string','description':'l'}"
	static const char schema[] =
		"{'$schema':'x','title':'T','properties':{'description':" L ",'a':{'anyOf':[" L "]},"
		"'r':{'$ref':'#/$defs/p'},'o':{'type':'object','properties':{'i':{'type':'array',"
		"'items':{'type':'object','properties':{'k':" L "}}},'s':" L "}}},'$defs':{'p':" L "}}";
	static const struct {
		size_t max;
		const char *expected;
	} rows[] = {
		{380,
	         "{'type':'object','properties':{'description':" S ",'a':{'anyOf':[" S "]},'r':{'$ref':'#/$defs/p'},"
	         "'o':{'type':'object','properties':{'i':{'type':'array','items':{'type':'object','properties':{"
	         "'k':" S "}}},'s':" S "}}},'$defs':{'p':" S "}}"},
		{290, "{'type':'object','properties':{'description':" S ",'a':{'anyOf':[" S "]},'r':{},"
	              "'o':{'type':'object','properties':{'i':{'type':'array','items':{'type':'object','properties':{"
	              "'k':" S "}}},'s':" S "}}}}"},
		{1, "{'type':'object','properties':{'description':" S ",'a':{},'r':{},"
	            "'o':{'type':'object','properties':{'i':{'type':'array','items':{}},'s':" S "}}}}"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_free char *shown = shorten(schema, rows[i].max);
		assert_string_equal(shown, rows[i].expected);
	}
	auto_free char *whole = shorten(schema, 0), *fitting = shorten(schema, strlen(whole));
	assert_non_null(strstr(whole, "'title':'T','properties'"));
	assert_null(strstr(whole, "$schema"));
	assert_string_equal(fitting, whole);
	auto_free char *none = shorten("", 0), *odd = shorten("{'properties':7,'items':[true]}", 1);
	assert_string_equal(none, "{'type':'object','properties':{}}");
	assert_string_equal(odd, "{'type':'object','properties':7,'items':[true]}");
}

/* ---- names ---- */

static void on_destroy(void *self)
{
	(void)self;
}

/* Offers one server; check gets the result. */
static void offer_one(const char *server_name, const char *const *names, size_t count,
                      void (*check)(const struct mcp_offered *tools, size_t count))
{
	struct loop *loop = loop_create(NULL);
	const struct mcp_client_options options = {.name = server_name, .on_destroy = on_destroy};
	const struct mcp_server server = {.name = str_of(server_name)};
	struct mcp_offer_source source = {
		.server = &server,
		.client = mcp_client_create(loop, &options, NULL),
		.catalog = catalog_of(names, count),
	};
	struct mcp_offer *offer = mcp_offer_create(&source, 1);
	size_t offered;
	const struct mcp_offered *tools = mcp_offer_tools(offer, &offered);
	for (size_t i = 0; i < offered; i++) {
		assert_true(tools[i].namespace.len + 2 + tools[i].name.len <= LIMIT_TOOL_NAME);
		assert_ptr_equal(mcp_offer_find(offer, tools[i].namespace, tools[i].name), &tools[i]);
		for (size_t at = 0; at < tools[i].name.len; at++)
			assert_non_null(strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_",
			                       tools[i].name.ptr[at]));
		for (size_t other = 0; other < i; other++)
			assert_false(str_eq(tools[i].name, tools[other].name));
	}
	check(tools, offered);
	mcp_offer_destroy(offer);
	mcp_catalog_unref(source.catalog);
	mcp_client_unref(source.client);
	loop_destroy(loop);
}

static void check_replaced(const struct mcp_offered *tools, size_t count)
{
	assert_int_equal(count, 3);
	assert_str(tools[0].namespace, "mcp__my_server");
	assert_str(tools[0].name, "_____");
	assert_str(tools[1].name, "a_b");
	assert_str(tools[1].tool->name, "a b");
	assert_str(tools[2].name, "plain_1");
}

static void characters_are_replaced(void **state)
{
	(void)state;
	static const char *const names[] = {"plain_1", "a b", "\xc3\xa9-\"/\xe4\xb8\xad"};
	offer_one("my-server", names, countof(names), check_replaced);
}

static void check_twins(const struct mcp_offered *tools, size_t count)
{
	assert_int_equal(count, 2);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(tools[i].name.len, 3 + 1 + 12);
		assert_true(str_has_prefix(tools[i].name, "x_y_"));
	}
	/* The digits are those of sha256 of the server's name for the tool. */
	const struct mcp_offered *dot = str_is(tools[0].tool->name, "x.y") ? &tools[0] : &tools[1];
	assert_str(dot->name, "x_y_b24ca9b75eb7");
}

static void equal_names_end_in_a_hash(void **state)
{
	(void)state;
	static const char *const names[] = {"x.y", "x-y"}, *const turned[] = {"x-y", "x.y"};
	offer_one("s", names, countof(names), check_twins);
	offer_one("s", turned, countof(turned), check_twins);
}

static void check_count_3(const struct mcp_offered *tools, size_t count)
{
	(void)tools;
	assert_int_equal(count, 3);
}

/* A server may know the hash, and name another tool like the result. */
static void a_name_that_equals_a_hashed_one_stays_different(void **state)
{
	(void)state;
	static const char *const names[] = {"x.y", "x-y", "x_y_b24ca9b75eb7"};
	offer_one("s", names, countof(names), check_count_3);
}

static void check_long(const struct mcp_offered *tools, size_t count)
{
	assert_int_equal(count, 2);
	assert_int_equal(tools[0].namespace.len + 2 + tools[0].name.len, LIMIT_TOOL_NAME);
}

static void long_names_are_cut(void **state)
{
	(void)state;
	char one[301], two[301];
	memset(one, 'n', 300);
	memset(two, 'n', 300);
	one[300] = two[300] = '\0';
	two[299] = 'm';
	const char *const names[] = {one, two};
	offer_one("s", names, countof(names), check_long);
	offer_one(one, names, countof(names), check_long); /* the server's name is long, too */
}

/* ---- results ---- */

/* Returns "T…" for text, "P…" for parts, "-" for no result. */
static char *convert(const char *answer, size_t limit)
{
	auto_arena struct arena arena = {0};
	struct buf parts, text;
	buf_init(&parts, LIMIT_TOOL_ITEM);
	buf_init(&text, LIMIT_TOOL_ITEM);
	struct mcp_output output = {&parts, &text, {TEXT_BYTES, limit}, 2800000};
	bool is_result = mcp_output_write(&output, json_parse(&arena, str_of(answer), NULL));
	char *result =
		!is_result ? xstrdup("-")
			   : xasprintf("%c%.*s", parts.len ? 'P' : 'T', STR_ARG(buf_str(parts.len ? &parts : &text)));
	if (!is_result)
		assert_int_equal(parts.len + text.len, 0);
	buf_finish(&parts);
	buf_finish(&text);
	return result;
}

#define H "Wall time: 0.0028 seconds\nOutput:"
#define P "P[{\"type\":\"input_text\",\"text\":\"Wall time: 0.0028 seconds\\nOutput:\"}"

static void results_become_what_the_model_reads(void **state)
{
	(void)state;
	static const char *const rows[][2] = {
		{"{\"content\":[]}", "T" H},
		{"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":null}",
	         P ",{\"type\":\"input_text\",\"text\":\"a\"}]"},
		{"{\"content\":[{\"type\":\"text\",\"text\":\"a\"}],\"structuredContent\":{\"n\":1}}",
	         "T" H "\n{\"n\":1}"},
		{"{\"structuredContent\":7}", "T" H "\n7"},
		{"{\"content\":[{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/gif\"}]}",
	         P ",{\"type\":\"input_image\",\"image_url\":\"data:image/gif;base64,QUJD\",\"detail\":\"high\"}]"},
		{"{\"content\":[{\"type\":\"audio\",\"data\":\"QUJD\"}]}",
	         P ",{\"type\":\"input_text\",\"text\":\"<audio content omitted because you do not support audio "
	           "input>\"}]"},
		{"{\"content\":[{\"type\":\"resource_link\",\"uri\":\"x:\"}]}",
	         P ",{\"type\":\"input_text\",\"text\":\"{\\\"type\\\":\\\"resource_link\\\",\\\"uri\\\":\\\"x:\\\"}\"}"
	           "]"},
		{"{\"content\":[{\"type\":\"image\",\"data\":\"\\\"}evil\"}]}", P
	         ",{\"type\":\"input_text\",\"text\":\"{\\\"type\\\":\\\"image\\\",\\\"data\\\":\\\"\\\\\\\"}evil\\\"}"
	         "\"}]"},
		{"{}", "-"},
		{"[]", "-"},
		{"7", "-"},
		{"{\"content\":\"text\"}", "-"},
		{"{\"content\":[\"text\"]}", "-"},
		{"{\"content\":[{\"text\":\"no type\"}]}", "-"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_free char *result = convert(rows[i][0], 1000);
		assert_string_equal(result, rows[i][1]);
	}
}

static void a_long_text_is_cut_in_the_middle(void **state)
{
	(void)state;
	auto_free char *answer = xasprintf("{\"content\":[{\"type\":\"text\",\"text\":\"HEAD%0*dTAIL\"}]}", 5000, 0);
	auto_free char *result = convert(answer, 200);
	assert_true(strlen(result) < 500);
	assert_non_null(strstr(result, "\"HEAD0"));
	assert_non_null(strstr(result, "truncated"));
	assert_non_null(strstr(result, "0TAIL\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_to_initialize_need_a_version_and_capabilities),
		cmocka_unit_test(a_page_adds_usable_tools_once),
		cmocka_unit_test(many_tools_are_found_by_name),
		cmocka_unit_test(a_long_schema_loses_details_step_by_step),
		cmocka_unit_test(characters_are_replaced),
		cmocka_unit_test(equal_names_end_in_a_hash),
		cmocka_unit_test(a_name_that_equals_a_hashed_one_stays_different),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(results_become_what_the_model_reads),
		cmocka_unit_test(a_long_text_is_cut_in_the_middle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
