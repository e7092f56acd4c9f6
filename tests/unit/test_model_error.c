/* The texts of failures, which clients match, their advice, and CodexErrorInfo. */
#include "test.h"

#include <time.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "model/model_error.h"

#define URL "http://127.0.0.1:1/v1/responses"

struct expectation {
	const char *text; /* a prefix; the whole text if it ends in "$" */
	const char *info;
	const char *retry_info;
	bool is_retryable;
	int64_t retry_after_ms;
};

static void assert_text(const char *got, const char *want)
{
	size_t len = strlen(want);
	bool whole = len && want[len - 1] == '$';
	if (strncmp(got, want, len - whole) != 0 || (whole && strlen(got) != len - 1))
		fail_msg("got \"%s\", want \"%s\"", got, want);
}

static void assert_error(const struct model_error *error, const struct expectation *want)
{
	auto_buf struct buf info, retry_info;
	buf_init(&info, 256);
	buf_init(&retry_info, 256);
	model_error_write_info(error, &info);
	model_error_write_retry_info(error, &retry_info);
	assert_text(error->text, want->text);
	assert_string_equal(info.data, want->info);
	if (want->retry_info)
		assert_string_equal(retry_info.data, want->retry_info);
	assert_int_equal(error->is_retryable, want->is_retryable);
	assert_int_equal(error->retry_after_ms, want->retry_after_ms);
}

#define STATUS_INFO(status) "{\"http_connection_failed\":{\"http_status_code\":" status "}}"
#define RETRY_INFO(status) "{\"response_stream_disconnected\":{\"http_status_code\":" status "}}"

/* clang-format off */
static void answers_with_an_error_status(void **state)
{
	(void)state;
	static const struct {
		int status;
		const char *body, *retry_after, *request_id, *cf_ray;
		struct expectation want;
	} cases[] = {
		{400, "{\"error\":{\"message\":\"bad thing\"}}\n", NULL, NULL, NULL,
		 {"{\"error\":{\"message\":\"bad thing\"}}$", "\"other\"", NULL, false, -1}},
		{401, "{\"error\":{\"message\":\"bad key\"}}", NULL, NULL, NULL,
		 {"unexpected status 401 Unauthorized: bad key, url: " URL "$", STATUS_INFO("401"), RETRY_INFO("401"), true, -1}},
		{401, "{\"detail\":\"no auth\"}", NULL, NULL, "ray1",
		 {"unexpected status 401 Unauthorized: {\"detail\":\"no auth\"}, url: " URL ", cf-ray: ray1$",
		  STATUS_INFO("401"), NULL, true, -1}},
		{403, "{\"error\":{\"message\":\"nope\"}}", NULL, "rid1", "ray1",
		 {"unexpected status 403 Forbidden: nope, url: " URL ", cf-ray: ray1, request id: rid1$", STATUS_INFO("403"),
		  NULL, true, -1}},
		{404, "", NULL, NULL, NULL,
		 {"unexpected status 404 Not Found: Unknown error, url: " URL "$", STATUS_INFO("404"), NULL, true, -1}},
		{599, "odd", NULL, NULL, NULL,
		 {"unexpected status 599 <unknown status code>: odd, url: " URL "$", STATUS_INFO("599"), NULL, true, -1}},
		{503, "overloaded", "2", NULL, NULL,
		 {"unexpected status 503 Service Unavailable: overloaded, url: " URL "$", STATUS_INFO("503"), RETRY_INFO("503"),
		  true, 2000}},
		{403, "<html>Cloudflare blocked you</html>", NULL, NULL, NULL,
		 {"unexpected status 403 Forbidden: Cloudflare blocks access", STATUS_INFO("403"), NULL, true, -1}},
		{500, "whatever", NULL, NULL, NULL,
		 {"We're currently experiencing high demand, which may cause temporary errors.$", "\"internal_server_error\"",
		  RETRY_INFO("null"), true, -1}},
		{429, "{\"error\":{\"type\":\"x\",\"message\":\"slow\"}}", "1", "r9", NULL,
		 {"exceeded retry limit, last status: 429 Too Many Requests, request id: r9$",
		  "{\"response_too_many_failed_attempts\":{\"http_status_code\":429}}", RETRY_INFO("429"), true, 1000}},
		{429, "{\"error\":{\"message\":\"Please try again in 1.5s\"}}", NULL, NULL, NULL,
		 {"exceeded retry limit, last status: 429 Too Many Requests$",
		  "{\"response_too_many_failed_attempts\":{\"http_status_code\":429}}", NULL, true, 1500}},
		{429, "{\"error\":{\"type\":\"usage_limit_reached\"}}", NULL, NULL, NULL,
		 {"You've hit your usage limit. ", "\"usage_limit_exceeded\"", NULL, false, -1}},
		{429, "{\"error\":{\"type\":\"usage_not_included\"}}", NULL, NULL, NULL,
		 {"This plan does not include Codex.", "\"usage_limit_exceeded\"", NULL, false, -1}},
		{429, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"try again in 1s\"}}", "1", NULL, NULL,
		 {"Quota exceeded. Check your plan and billing details.$", "\"usage_limit_exceeded\"", NULL, false, -1}},
		{429, "{\"error\":{\"type\":\"insufficient_quota\"}}", NULL, NULL, NULL,
		 {"Quota exceeded. Check your plan and billing details.$", "\"usage_limit_exceeded\"", NULL, false, -1}},
		{404, "{\"error\":{\"code\":\"model_not_found\",\"message\":\"no model x\"}}", NULL, NULL, NULL,
		 {"unexpected status 404 Not Found: no model x, url: " URL "$", STATUS_INFO("404"), NULL, false, -1}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct model_error error;
		struct model_answer answer = {
			.status = cases[i].status,
			.body = str_of(cases[i].body),
			.retry_after = str_of(cases[i].retry_after),
			.request_id = str_of(cases[i].request_id),
			.cf_ray = str_of(cases[i].cf_ray),
			.url = STR(URL),
		};
		model_error_from_answer(&error, &answer);
		assert_error(&error, &cases[i].want);
		assert_int_equal(error.http_status, cases[i].status);
	}
}

/* On Responses all but 400 are sent again, as codex 0.169 does; on the other APIs none of these is. */
static void which_statuses_are_final_depends_on_the_api(void **state)
{
	(void)state;
	static const int statuses[] = {400, 401, 403, 404, 405, 413, 415, 422};
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct model_error error;
		struct model_answer answer = {.status = statuses[i], .body = STR("no"), .url = STR(URL)};
		model_error_from_answer(&error, &answer);
		assert_int_equal(error.is_retryable, statuses[i] != 400);
		answer.is_other_api = true;
		model_error_from_answer(&error, &answer);
		assert_false(error.is_retryable);
		answer.status = 418;
		model_error_from_answer(&error, &answer);
		assert_true(error.is_retryable);
	}
}

static void failures_in_a_stream(void **state)
{
	(void)state;
	static const struct {
		const char *json;
		struct expectation want;
	} cases[] = {
		{"{\"code\":\"context_length_exceeded\",\"message\":\"m\"}",
		 {"Codex ran out of room in the model's context window. Start a new thread or clear earlier history before "
		  "retrying.$",
		  "\"context_window_exceeded\"", NULL, false, -1}},
		{"{\"code\":\"insufficient_quota\",\"message\":\"m\"}",
		 {"Quota exceeded. Check your plan and billing details.$", "\"usage_limit_exceeded\"", NULL, false, -1}},
		{"{\"code\":\"model_not_found\",\"message\":\"no model x\"}", {"no model x$", "\"other\"", NULL, false, -1}},
		{"{\"code\":\"invalid_prompt\",\"message\":\"bad prompt\"}", {"bad prompt$", "\"other\"", NULL, false, -1}},
		{"{\"code\":\"server_is_overloaded\"}",
		 {"Selected model is at capacity. Please try a different model.$", "\"server_overloaded\"", NULL, false, -1}},
		{"{\"code\":\"rate_limit_exceeded\",\"message\":\"Rate limit reached. Please try again in 300ms.\"}",
		 {"rate limit exceeded: Rate limit reached. Please try again in 300ms.$", "\"other\"", RETRY_INFO("null"), true,
		  300}},
		{"{\"code\":\"slow_down\",\"message\":\"sd\"}", {"rate limit exceeded: sd$", "\"other\"", NULL, true, -1}},
		{"{\"code\":\"zz\",\"message\":\"oops, try again in 5s\"}",
		 {"stream disconnected before completion: oops, try again in 5s$", "\"other\"", RETRY_INFO("null"), true, -1}},
		{"{\"code\":\"zz\"}",
		 {"stream disconnected before completion: response.failed event received$", "\"other\"", NULL, true, -1}},
		{"null",
		 {"stream disconnected before completion: response.failed event received$", "\"other\"", NULL, true, -1}},
		{"\"plain\"", {"stream disconnected before completion: plain$", "\"other\"", NULL, true, -1}},
		{"{\"code\":500,\"message\":\"from llama\"}",
		 {"stream disconnected before completion: from llama$", "\"other\"", NULL, true, -1}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		auto_arena struct arena arena = {0};
		struct model_error error;
		model_error_from_failure(&error, json_parse(&arena, str_of(cases[i].json), NULL));
		assert_error(&error, &cases[i].want);
	}
}

static void exchanges_that_broke_off(void **state)
{
	(void)state;
	static const struct {
		enum error_code code;
		bool has_head;
		struct expectation want;
	} cases[] = {
		{ERR_connect, false, {"Connection failed: error sending request$", STATUS_INFO("null"), RETRY_INFO("null"), true, -1}},
		{ERR_transport, false,
		 {"stream disconnected before completion: error sending request$", "\"other\"", RETRY_INFO("null"), true, -1}},
		{ERR_transport, true,
		 {"stream disconnected before completion: Transport error: network error: error decoding response body$",
		  "\"other\"", NULL, true, -1}},
		{ERR_timeout, false, {"Connection failed: error sending request$", STATUS_INFO("null"), NULL, true, -1}},
		{ERR_limit, true, {"stream disconnected before completion: the cause$", "\"other\"", NULL, true, -1}},
		{ERR_unsupported, false, {"the cause$", "\"other\"", NULL, false, -1}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct error cause;
		struct model_error error;
		error_set(&cause, cases[i].code, "the cause");
		model_error_from_transport(&error, &cause, cases[i].has_head);
		assert_error(&error, &cases[i].want);
	}
	struct expectation silence = {
		"stream disconnected before completion: idle timeout waiting for SSE$",
		"\"other\"",
		RETRY_INFO("null"),
		true,
		-1,
	};
	struct model_error error;
	model_error_from_silence(&error, 300000);
	assert_error(&error, &silence);
	assert_text(error.detail, "no event for 300 s;");
}
/* clang-format on */

static void assert_final(const struct model_error *error, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 4 * MODEL_ERROR_TEXT_MAX);
	model_error_write(error, &out);
	assert_string_equal(out.data, want);
}

static void the_final_error_has_url_and_advice(void **state)
{
	(void)state;
	struct model_place place = {STR(URL), STR("mock"), STR("MOCK_KEY")};
	struct model_error error;
	struct error cause;

	error_set(&cause, ERR_connect, "Connection refused");
	model_error_from_transport(&error, &cause, false);
	model_error_advise(&error, &place);
	assert_final(&error,
	             "Connection failed: error sending request (POST " URL ": Connection refused; check the network, "
	             "and that the server of provider mock is running where base_url says)");

	struct model_answer answer = {.status = 401, .body = STR("bad key"), .url = STR(URL)};
	model_error_from_answer(&error, &answer);
	model_error_advise(&error, &place);
	assert_final(&error, "unexpected status 401 Unauthorized: bad key, url: " URL
	                     " (the key was not accepted: check MOCK_KEY)");

	answer.status = 500;
	answer.body = STR("out of memory");
	model_error_from_answer(&error, &answer);
	model_error_advise(&error, &place);
	assert_final(&error, "We're currently experiencing high demand, which may cause temporary errors. (POST " URL
	                     ": out of memory; try again later)");

	answer.status = 400;
	answer.body = STR("");
	model_error_from_answer(&error, &answer);
	model_error_advise(&error, &place);
	assert_final(&error, "(POST " URL
	                     ": status 400; the server refused the request: check the model's name and the settings of "
	                     "provider mock)");

	model_error_set(&error, MODEL_ERROR_context_window_exceeded, STR_NONE);
	model_error_advise(&error, &(struct model_place){0});
	assert_final(&error, error.text);
}

static void texts_are_bounded_and_valid(void **state)
{
	(void)state;
	char body[8000];
	for (size_t i = 0; i < sizeof(body); i++)
		body[i] = (char)(i * 7 + i / 256);
	static const int statuses[] = {400, 404, 429, 500, 502};
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct str hostile = str_n(body, sizeof(body));
		struct model_answer answer = {statuses[i], hostile, hostile, hostile, hostile, hostile, 0};
		struct model_place place = {hostile, hostile, hostile};
		struct model_error error;
		auto_buf struct buf out;
		buf_init(&out, 8 * MODEL_ERROR_TEXT_MAX);
		model_error_from_answer(&error, &answer);
		model_error_advise(&error, &place);
		model_error_write(&error, &out);
		assert_true(out.len > 0 && out.len <= MODEL_ERROR_TEXT_MAX);
		assert_true(text_is_utf8(buf_str(&out)));
	}
}

static void assert_usage_limit(int64_t resets_at, int64_t now_unix_ms, const char *want)
{
	auto_free char *body =
		xasprintf("{\"error\":{\"type\":\"usage_limit_reached\",\"resets_at\":%lld}}", (long long)resets_at);
	struct model_answer answer = {.status = 429, .body = str_of(body), .url = STR(URL), .now_unix_ms = now_unix_ms};
	struct model_error error;
	model_error_from_answer(&error, &answer);
	if (!strstr(error.text, want))
		fail_msg("\"%s\" is not in \"%s\"", want, error.text);
}

static void reset_times_are_local(void **state)
{
	(void)state;
	setenv("TZ", "UTC0", 1);
	tzset();
	static const struct {
		int64_t at;
		const char *text;
	} cases[] = {
		{1795300000, "10:26 PM"},
		{1795226400, "2:00 AM"},
		{1795213600, "Nov 20th, 2026 10:26 PM"},
		{1796164000, "Dec 1st, 2026 10:26 PM"},
		{1796250400, "Dec 2nd, 2026 10:26 PM"},
		{1796336800, "Dec 3rd, 2026 10:26 PM"},
		{1797028000, "Dec 11th, 2026 10:26 PM"},
		{1797978400, "Dec 22nd, 2026 10:26 PM"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		auto_free char *want = xasprintf("try again at %s", cases[i].text);
		assert_usage_limit(cases[i].at, 1795262400000, want); /* 2026-11-21 12:00 */
	}
	assert_usage_limit(INT64_MAX, 0, "try again");
}

/* One that fits beside the advice is quoted whole, as codex 0.169 does. */
static void the_message_of_a_long_body_is_quoted_alone(void **state)
{
	static const struct {
		const char *head;
		size_t len;
		bool is_whole;
	} cases[] = {
		{"{\"error\":{\"message\":\"bad thing\"},\"more\":\"", 200, true},
		{"{\"error\":{\"message\":\"bad thing\"},\"more\":\"", 1588, true},
		{"{\"error\":{\"message\":\"bad thing\"},\"more\":\"", 1589, false},
		{"{\"detail\":\"bad thing\",\"more\":\"", 3000, false},
		{"{\"message\":\"bad thing\",\"more\":\"", 3000, false},
	};
	(void)state;
	for (size_t i = 0; i < countof(cases); i++) {
		auto_buf struct buf body, out;
		struct model_error error;
		buf_init(&body, 16 * KIB);
		buf_init(&out, 16 * KIB);
		buf_append_c(&body, cases[i].head);
		while (body.len < cases[i].len - 2)
			buf_append_char(&body, 'x');
		buf_append_c(&body, "\"}");
		struct model_answer answer = {.status = 400, .url = STR(URL), .body = buf_str(&body)};
		model_error_from_answer(&error, &answer);
		assert_string_equal(error.text, cases[i].is_whole ? buf_str(&body).ptr : "bad thing");
		model_error_advise(&error, &(struct model_place){.url = STR(URL), .provider = STR("a provider")});
		model_error_write(&error, &out);
		assert_true(str_has_prefix(buf_str(&out), error.text)); /* nothing is cut for the advice */
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_with_an_error_status),
		cmocka_unit_test(the_message_of_a_long_body_is_quoted_alone),
		cmocka_unit_test(which_statuses_are_final_depends_on_the_api),
		cmocka_unit_test(failures_in_a_stream),
		cmocka_unit_test(exchanges_that_broke_off),
		cmocka_unit_test(the_final_error_has_url_and_advice),
		cmocka_unit_test(texts_are_bounded_and_valid),
		cmocka_unit_test(reset_times_are_local),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
