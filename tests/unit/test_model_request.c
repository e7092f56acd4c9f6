/* The request: order of keys, optional fields, and a history that is not copied. */
#include "test.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "model/model_catalog.h"
#include "model/model_exchange.h"

static void join(const struct model_request *request, struct buf *out)
{
	buf_init(out, 256 * MIB);
	for (size_t i = 0; i < request->body.count; i++)
		buf_append_str(out, request->body.items[i]);
}

static void assert_body(const struct model_prompt *prompt, const char *want)
{
	struct model_request request;
	auto_buf struct buf body;
	assert_int_equal(model_request_init(&request, prompt, NULL), 0);
	join(&request, &body);
	assert_string_equal(body.data, want);
	model_request_finish(&request);
}

static void a_request_for_a_known_model(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("gpt-5.2"));
	struct str input[] = {STR("{\"a\":1},{\"b\":2}"), STR(""), STR("{\"c\":3}")};
	struct model_prompt prompt = {
		.info = &info,
		.instructions = STR("Say \"hi\"\n"),
		.input = input,
		.input_count = 3,
		.tools = STR("[{\"type\":\"function\"}]"),
		.thread_id = STR("t-1"),
	};
	assert_body(&prompt,
	            "{\"model\":\"gpt-5.2\",\"instructions\":\"Say "
	            "\\\"hi\\\"\\n\",\"input\":[{\"a\":1},{\"b\":2},{\"c\":3}],"
	            "\"tools\":[{\"type\":\"function\"}],\"tool_choice\":\"auto\",\"parallel_tool_calls\":true,"
	            "\"reasoning\":{\"effort\":\"medium\",\"summary\":\"auto\"},\"store\":false,\"stream\":true,"
	            "\"include\":[\"reasoning.encrypted_content\"],\"prompt_cache_key\":\"t-1\","
	            "\"text\":{\"verbosity\":\"low\"}}");
}

static void a_request_for_an_unknown_model_has_common_fields_only(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("mock-model"));
	struct model_prompt prompt = {.info = &info, .thread_id = STR("t-1"), .verbosity = verbosity_high};
	assert_body(&prompt, "{\"model\":\"mock-model\",\"input\":[],\"tools\":[],\"tool_choice\":\"auto\","
	                     "\"parallel_tool_calls\":true,\"store\":false,\"stream\":true,\"include\":[],"
	                     "\"prompt_cache_key\":\"t-1\"}");
}

static void a_request_contains_the_chosen_settings(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("mock-model"));
	struct model_prompt prompt = {
		.info = &info,
		.thread_id = STR("t"),
		.effort = reasoning_effort_high,
		.is_serial = true,
		.output_schema = STR("{\"type\":\"object\"}"),
		.previous_response_id = STR("resp_1"),
	};
	assert_body(&prompt,
	            "{\"model\":\"mock-model\",\"input\":[],\"tools\":[],\"tool_choice\":\"auto\","
	            "\"parallel_tool_calls\":false,\"reasoning\":{\"effort\":\"high\"},\"store\":false,"
	            "\"stream\":true,\"include\":[\"reasoning.encrypted_content\"],\"prompt_cache_key\":\"t\","
	            "\"text\":{\"format\":{\"type\":\"json_schema\",\"strict\":true,\"schema\":{\"type\":\"object\"},"
	            "\"name\":\"codex_output_schema\"}},\"previous_response_id\":\"resp_1\"}");
}

static void default_summary_none_is_left_out(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	struct model_prompt prompt = {.info = &info, .thread_id = STR("t"), .summary = info.default_summary};
	assert_body(&prompt, "{\"model\":\"gpt-5.5\",\"input\":[],\"tools\":[],\"tool_choice\":\"auto\","
	                     "\"parallel_tool_calls\":true,\"reasoning\":{\"effort\":\"medium\"},\"store\":false,"
	                     "\"stream\":true,\"include\":[\"reasoning.encrypted_content\"],\"prompt_cache_key\":\"t\","
	                     "\"text\":{\"verbosity\":\"low\"}}");
}

static void history_is_borrowed(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	struct str input[] = {STR("{}"), STR("{}")};
	struct model_prompt prompt = {.info = &info, .input = input, .input_count = 2, .tools = STR("[1]")};
	struct model_request request;
	assert_int_equal(model_request_init(&request, &prompt, NULL), 0);
	assert_int_equal(request.body.count, 7);
	assert_ptr_equal(request.body.items[1].ptr, input[0].ptr);
	assert_ptr_equal(request.body.items[3].ptr, input[1].ptr);
	assert_ptr_equal(request.body.items[5].ptr, prompt.tools.ptr);
	model_request_finish(&request);
}

static bool has_header(const struct model_request *request, const char *line)
{
	for (size_t i = 0; i < request->headers.count; i++) {
		if (str_is(request->headers.items[i], line))
			return true;
	}
	return false;
}

static void headers_name_the_thread(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	struct model_prompt prompt = {.info = &info, .thread_id = STR("t-1")};
	struct model_request request;
	assert_int_equal(model_request_init(&request, &prompt, NULL), 0);
	assert_int_equal(request.headers.count, 6);
	assert_true(has_header(&request, "accept: text/event-stream"));
	assert_true(has_header(&request, "content-type: application/json"));
	assert_true(has_header(&request, "session_id: t-1"));
	assert_true(has_header(&request, "session-id: t-1"));
	assert_true(has_header(&request, "thread-id: t-1"));
	assert_true(has_header(&request, "x-client-request-id: t-1"));
	model_request_finish(&request);

	prompt.turn_state = STR("abc");
	prompt.subagent = STR("review");
	assert_int_equal(model_request_init(&request, &prompt, NULL), 0);
	assert_true(has_header(&request, "x-codex-turn-state: abc"));
	assert_true(has_header(&request, "x-openai-subagent: review"));
	model_request_finish(&request);
}

static void bad_bytes_still_make_valid_json(void **state)
{
	(void)state;
	struct model_info info = model_catalog_get(STR("m\xff\"\\"));
	struct model_prompt prompt = {.info = &info, .instructions = str_n("a\0\xc3(", 4), .thread_id = STR("\x01")};
	struct model_request request;
	auto_buf struct buf body;
	auto_arena struct arena arena = {0};
	assert_int_equal(model_request_init(&request, &prompt, NULL), 0);
	join(&request, &body);
	assert_non_null(json_parse(&arena, buf_str(&body), NULL));
	model_request_finish(&request);
}

static void instructions_have_a_maximum(void **state)
{
	(void)state;
	struct model_info info = model_catalog_default();
	auto_buf struct buf text;
	buf_init(&text, 32 * MIB);
	memset(buf_reserve(&text, LIMIT_REQUEST_FRAME), 'x', LIMIT_REQUEST_FRAME);
	struct model_prompt prompt = {.info = &info, .instructions = str_n(text.data, LIMIT_REQUEST_FRAME)};
	struct model_request request;
	struct error err;
	assert_int_equal(model_request_init(&request, &prompt, &err), -ERR_limit);
	model_request_finish(&request);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_request_for_a_known_model),
		cmocka_unit_test(a_request_for_an_unknown_model_has_common_fields_only),
		cmocka_unit_test(a_request_contains_the_chosen_settings),
		cmocka_unit_test(default_summary_none_is_left_out),
		cmocka_unit_test(history_is_borrowed),
		cmocka_unit_test(headers_name_the_thread),
		cmocka_unit_test(bad_bytes_still_make_valid_json),
		cmocka_unit_test(instructions_have_a_maximum),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
