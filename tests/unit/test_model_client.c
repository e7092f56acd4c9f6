/* Complete calls to a scripted server on the same loop. */
#include "test.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_catalog.h"
#include "model/model_client.h"
#include "net/http_client.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "protocol/record/types.h"

enum ending { WHOLE, OPEN, CUT, NOTHING };

struct answer {
	int status;
	const char *type;
	const char *body;
	enum ending ending;
	const char *header; /* a further header, or NULL */
};

struct fixture {
	struct loop *loop;
	struct http_client *http;
	struct http_server *server;
	struct model_provider provider;
	struct model_client *client;
	char url[64];

	struct answer answers[8]; /* answers in order; the last one is repeated */
	size_t requests;
	struct buf body; /* body of the last request */
	struct buf head; /* head of the last request as "name: value" lines */

	struct model_call *call;
	struct buf log;
	int done;
	struct model_error error;
	int cancel_at;  /* cancel the call at its n-th event */
	int more_calls; /* number of calls to start from on_done */
};

#define CREATED "data: {\"type\":\"response.created\",\"response\":{\"id\":\"r\"}}\n\n"
#define DELTA "data: {\"type\":\"response.output_text.delta\",\"delta\":\"hi\"}\n\n"
#define COMPLETED "data: {\"type\":\"response.completed\",\"response\":{\"id\":\"r\"}}\n\n"
#define SSE_TYPE "text/event-stream"

/* ---- the server ---- */

static void record(struct fixture *f, const struct http_head *head, struct str body)
{
	buf_clear(&f->body);
	buf_append_str(&f->body, body);
	buf_clear(&f->head);
	buf_printf(&f->head, "%.*s %.*s\n", STR_ARG(head->method), STR_ARG(head->target));
	for (size_t i = 0; i < head->headers.count; i++)
		buf_printf(&f->head, "%.*s: %.*s\n", STR_ARG(head->headers.items[i].name),
		           STR_ARG(head->headers.items[i].value));
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct fixture *f = self;
	size_t index = f->requests++;
	while (!f->answers[index].status)
		index--;
	const struct answer *answer = &f->answers[index];
	record(f, head, body);
	if (answer->ending == NOTHING) {
		http_exchange_abort(exchange, HTTP_ABORT_RESET);
		return;
	}
	char type[64];
	snprintf(type, sizeof(type), "content-type: %s", answer->type ? answer->type : SSE_TYPE);
	struct str headers[] = {str_of(type), str_of(answer->header)};
	http_reply_head(exchange, answer->status, headers, answer->header ? 2 : 1, HTTP_CHUNKED);
	http_reply_data(exchange, str_of(answer->body));
	if (answer->ending == WHOLE)
		http_reply_end(exchange);
	else if (answer->ending != OPEN)
		http_exchange_abort(exchange, HTTP_ABORT_CLOSE);
}

/* ---- the caller ---- */

static void start_call(struct fixture *f);

static const char *const names[] = {
#define RESPONSE_EVENT(name, wire) [RESPONSE_##name] = #name,
#include "model/response_event.def"
#undef RESPONSE_EVENT
	[RESPONSE_rate_limits] = "rate_limits",
	[RESPONSE_turn_state] = "turn_state",
	[RESPONSE_served_by] = "served_by",
};

static void on_event(const struct response_event *event, void *self)
{
	struct fixture *f = self;
	if (event->limits && !event->limits->primary)
		return; /* the answer has started */
	buf_printf(&f->log, "%s", names[event->type]);
	if (event->text.ptr)
		buf_printf(&f->log, "=%.*s", STR_ARG(event->text));
	if (event->limits)
		buf_printf(&f->log, "=%g", event->limits->primary->used_percent);
	buf_append_char(&f->log, ' ');
	if (f->cancel_at && --f->cancel_at == 0) {
		model_call_cancel(steal(f->call));
		loop_stop(f->loop);
	}
}

static void on_done(const struct model_error *error, void *self)
{
	struct fixture *f = self;
	f->done++;
	f->call = NULL;
	buf_append_c(&f->log, error ? "failed" : "done");
	f->error = error ? *error : (struct model_error){0};
	if (f->more_calls-- > 0)
		start_call(f);
	else
		loop_stop(f->loop);
}

static const struct model_handler handler = {on_event, on_done};

static const struct str history[] = {{"{\"role\":\"user\"}", 15}};

static void start_call(struct fixture *f)
{
	struct model_info info = model_catalog_get(STR("mock-model"));
	struct model_prompt prompt = {.info = &info, .input = history, .input_count = 1, .thread_id = STR("thread-1")};
	f->call = model_client_stream(f->client, &prompt, &handler, f);
	assert_non_null(f->call);
}

static void run(struct fixture *f)
{
	f->requests = 0;
	f->done = 0;
	buf_clear(&f->log);
	start_call(f);
	assert_int_equal(f->done, 0);
	assert_int_equal(f->log.len, 0);
	loop_run(f->loop);
}

static void assert_log(struct fixture *f, const char *want)
{
	assert_string_equal(buf_str(&f->log).ptr, want);
}

static void assert_final(struct fixture *f, const char *beginning, const char *part)
{
	auto_buf struct buf text;
	buf_init(&text, 4 * KIB);
	model_error_write(&f->error, &text);
	assert_int_equal(f->done, 1);
	if (!str_has_prefix(buf_str(&text), beginning) || str_find(buf_str(&text), str_of(part)) < 0)
		fail_msg("got \"%s\", want \"%s…%s\"", text.data, beginning, part);
	assert_true(str_find(buf_str(&text), str_of(f->url)) >= 0);
}

/* Creates a client for the changed provider. */
static void renew_client(struct fixture *f)
{
	struct model_client_options options = {f->loop, f->http, &f->provider, {STR("codex_test"), STR("0.1.0")}};
	model_client_destroy(f->client);
	f->client = model_client_create(&options);
}

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	static const struct str headers[] = {{"x-mine: 1", 9}};
	f->loop = loop_create(NULL);
	f->http = http_client_create(f->loop, NULL);
	f->server = http_server_create(f->loop, NULL, 0, on_request, f, NULL);
	snprintf(f->url, sizeof(f->url), "http://127.0.0.1:%d/v1/responses", http_server_port(f->server));
	f->provider = (struct model_provider){
		.name = "mock",
		.authorization = "Authorization: Bearer k",
		.key_source = "MOCK_KEY",
		.url = f->url,
		.headers = headers,
		.header_count = 1,
		.request_max_retries = 1,
		.stream_idle_timeout_ms = 20000,
	};
	renew_client(f);
	buf_init(&f->log, MIB);
	buf_init(&f->body, MIB);
	buf_init(&f->head, MIB);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	model_client_destroy(f->client);
	http_client_destroy(f->http);
	http_server_destroy(f->server);
	loop_destroy(f->loop);
	buf_finish(&f->log);
	buf_finish(&f->body);
	buf_finish(&f->head);
	free(f);
	return 0;
}

/* ---- answers ---- */

static bool sent(struct fixture *f, const char *part)
{
	return str_find(buf_str(&f->head), str_of(part)) >= 0;
}

static void a_request_is_sent_and_its_response_read(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, NULL, CREATED DELTA COMPLETED};
	run(f);
	assert_log(f, "created text_delta=hi completed done");
	assert_int_equal(f->requests, 1);
	assert_true(str_has_prefix(buf_str(&f->body), "{\"model\":\"mock-model\",\"input\":[{\"role\":\"user\"}],"));
	assert_true(sent(f, "POST /v1/responses\n"));
	assert_true(sent(f, "accept: text/event-stream\n"));
	assert_true(sent(f, "session_id: thread-1\n"));
	assert_true(sent(f, "originator: codex_test\n"));
	assert_true(sent(f, "user-agent: codex_test/0.1.0 ("));
	assert_true(sent(f, "Authorization: Bearer k\n"));
	assert_true(sent(f, "x-mine: 1\n"));
}

static void the_head_is_passed_on(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, NULL, COMPLETED, WHOLE, "x-codex-turn-state: abc"};
	run(f);
	assert_log(f, "turn_state=abc completed done");
	f->answers[0].header = "x-codex-primary-used-percent: 12.5";
	run(f);
	assert_log(f, "rate_limits=12.5 completed done");
	f->answers[0].status = 429;
	run(f);
	assert_log(f, "rate_limits=12.5 failed");
}

static void one_call_can_follow_the_other(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, NULL, DELTA COMPLETED};
	f->more_calls = 2;
	run(f);
	assert_log(f, "text_delta=hi completed donetext_delta=hi completed donetext_delta=hi completed done");
}

static void an_answer_that_stays_open_is_still_complete(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, NULL, DELTA COMPLETED, OPEN};
	run(f);
	assert_log(f, "text_delta=hi completed done");
	f->answers[0].ending = CUT;
	run(f);
	assert_log(f, "text_delta=hi completed done");
}

static void a_stream_may_have_another_type(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, "text/plain", DELTA COMPLETED};
	run(f);
	assert_log(f, "text_delta=hi completed done");
}

/* ---- tries ---- */

static void server_errors_are_repeated_silently(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){500, NULL, "no"};
	f->answers[1] = (struct answer){200, NULL, COMPLETED};
	run(f);
	assert_log(f, "completed done");
	assert_int_equal(f->requests, 2);
}

static void dropped_connections_are_repeated_silently(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, .ending = NOTHING};
	f->answers[1] = (struct answer){200, NULL, COMPLETED};
	run(f);
	assert_log(f, "completed done");
	assert_int_equal(f->requests, 2);
}

static void repeating_has_an_end(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, .ending = NOTHING};
	run(f);
	assert_int_equal(f->requests, 2);
	assert_final(f, "stream disconnected before completion: error sending request (POST ", "continue");

	f->answers[0] = (struct answer){503, NULL, "overloaded"};
	run(f);
	assert_log(f, "failed");
	assert_int_equal(f->requests, 2);
	assert_int_equal(f->error.http_status, 503);
	assert_true(f->error.is_retryable);
	assert_final(f, "unexpected status 503 Service Unavailable: overloaded, url: ", "try again later");
}

static void refusals_are_not_repeated_silently(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int status;
		const char *beginning;
		const char *part;
		bool is_retryable;
	} cases[] = {
		{400, "no (POST ", "check the model's name", false},
		{401, "unexpected status 401 Unauthorized: no, url: ", "check MOCK_KEY", true},
		{404, "unexpected status 404 Not Found: no, url: ", "base_url of provider mock", true},
		{429, "exceeded retry limit, last status: 429 Too Many Requests (POST ", "wait", true},
	};
	for (size_t i = 0; i < countof(cases); i++) {
		f->answers[0] = (struct answer){cases[i].status, "text/plain", "no"};
		run(f);
		assert_int_equal(f->requests, 1);
		assert_int_equal(f->error.is_retryable, cases[i].is_retryable);
		assert_final(f, cases[i].beginning, cases[i].part);
	}
}

static void a_server_that_is_not_there_is_named(void **state)
{
	struct fixture *f = *state;
	http_server_destroy(steal(f->server));
	run(f);
	assert_log(f, "failed");
	assert_true(f->error.is_retryable);
	assert_final(f, "Connection failed: error sending request (POST ", "refused");
}

static void a_local_server_that_is_not_started_is_final(void **state)
{
	struct fixture *f = *state;
	f->provider.start = "start it with `serve`";
	http_server_destroy(steal(f->server));
	run(f);
	assert_log(f, "failed");
	assert_false(f->error.is_retryable);
	assert_final(f, "Connection failed: error sending request (POST ",
	             "the server of mock is not running: start it with `serve`");
}

/* The texts of a server, which may quote secrets, occur in errors, headers and events. */
static void no_secret_is_quoted(void **state)
{
	struct fixture *f = *state;
	static const struct str headers[] = {STR("x-portkey-key: pk-5d2/9e1c-gate"),
	                                     STR("Cookie: a=1; session=c00k1e5d2a"),
	                                     STR("OpenAI-Organization: org-of-mine")};
	static const struct {
		struct answer answer;
		const char *part;
	} cases[] = {
		{{401, NULL, "{\"error\":{\"message\":\"bad key sk-4b1d9e77, bad\"}}"}, "bad key [redacted], bad"},
		{{401, NULL, "{\"error\":{\"message\":\"bad key \\u0073k-4b1d9e77\"}}"}, "bad key [redacted]"},
		{{400, NULL, "{\"key\":\"pk-5d2\\/9e1c-gate\"}"}, "{\"key\":\"[redacted]\"}"},
		{{418, NULL, "for org-of-mine: c00k1e5d2a, a=1; session=c00k1e5d2a"},
	         "for org-of-mine: [redacted], a=1; [redacted]"},
		{{500, NULL, "sk-4b1d9e77"}, ": [redacted]; "},
		{{403, NULL, "no", WHOLE, "x-request-id: sk-4b1d9e77"}, "request id: [redacted]"},
		{{429, NULL, "no", WHOLE, "x-request-id: qu3ry-5d2a"}, "request id: [redacted]"},
		{{429, NULL, "{\"error\":{\"code\":\"insufficient_quota\",\"message\":\"none on sk-4b1d9e77\"}}"},
	         "none on [redacted]"},
		{{200, "text/html", "<p>sk-4b1d9e77</p>"}, "<p>[redacted]</p>"},
		{{200, NULL,
	          "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"sk-4b1d9e77!\"}}}\n\n"},
	         "[redacted]!"},
		{{200, NULL, "data: {\"type\":\"error\",\"message\":\"sk-4b1d9e77!\"}\n\n"}, "[redacted]!"},
		{{200, NULL,
	          "data: "
	          "{\"type\":\"response.incomplete\",\"response\":{\"incomplete_details\":{\"reason\":\"sk-4b1d9e77!\"}"
	          "}}\n\n"},
	         "[redacted]!"},
	};
	char address[128];
	snprintf(address, sizeof(address), "%s?api-key=qu3ry-5d2a&api-version=2025-04-01", f->url);
	f->provider.url = address;
	f->provider.authorization = "Authorization: Bearer sk-4b1d9e77";
	f->provider.headers = headers;
	f->provider.header_count = countof(headers);
	f->provider.request_max_retries = 0;
	renew_client(f);
	for (size_t i = 0; i < countof(cases); i++) {
		f->answers[0] = cases[i].answer;
		run(f);
		assert_final(f, "", cases[i].part);
		assert_null(strstr(f->error.text, "5d2a"));
		assert_null(strstr(f->error.text, "4b1d"));
		assert_null(strstr(f->error.advice, "4b1d"));
	}
}

/* Servers also quote decoded forms of a URL or of a Basic header. */
static void no_decoded_secret_is_quoted(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *body, *part;
	} cases[] = {
		{"no key ab+cd/5d2a==x", "no key [redacted]"},
		{"no key ab%2Bcd%2F5d2a%3D%3Dx!", "no key [redacted]!"},
		{"{\"key\":\"ab+cd\\/5d2a==x\"}", "{\"key\":\"[redacted]\"}"},
		{"user me:pass@5d2a", "user me:[redacted]"},
		{"user me:pass%405d2a", "user me:[redacted]"},
		{"Basic bWU6cGFzc0A1ZDJh", "Basic [redacted]"}, /* me:pass@5d2a */
		{"Basic eW91OnN0YXItNGIxZA==", "Basic [redacted]"},
		{"you:star-4b1d", "you:[redacted]"},
	};
	char address[160];
	snprintf(address, sizeof(address), "http://me:pass%%405d2a@%s?api-key=ab%%2Bcd%%2F5d2a%%3D%%3Dx",
	         f->url + strlen("http://"));
	f->provider.url = address;
	f->provider.authorization = "Authorization: Basic eW91OnN0YXItNGIxZA==";
	f->provider.request_max_retries = 0;
	renew_client(f);
	for (size_t i = 0; i < countof(cases); i++) {
		f->answers[0] = (struct answer){401, "text/plain", cases[i].body};
		run(f);
		assert_final(f, "", cases[i].part);
		assert_null(strstr(f->error.text, "5d2a"));
		assert_null(strstr(f->error.text, "4b1d"));
	}
}

static void a_secret_that_is_cut_leaves_nothing(void **state)
{
	struct fixture *f = *state;
	f->provider.authorization = "Authorization: Bearer sk-4b1d9e77";
	renew_client(f);
	for (size_t before = 900; before < 1010; before++) { /* the quoted part of the body ends in this range */
		char body[1100];
		snprintf(body, sizeof(body), "%0*d sk-4b1d9e77 and more", (int)before, 0);
		f->answers[0] = (struct answer){401, "text/plain", body};
		run(f);
		assert_null(strstr(f->error.text, "sk-4"));
	}
}

static void the_model_that_answers_is_named_in_utf8(void **state)
{
	struct fixture *f = *state;
	f->provider.authorization = "Authorization: Bearer sk-4b1d9e77";
	renew_client(f);
	f->answers[0] = (struct answer){200, NULL, COMPLETED, WHOLE, "openai-model: gpt-\xff sk-4b1d9e77"};
	run(f);
	assert_log(f, "served_by=gpt-\xef\xbf\xbd [redacted] completed done");
}

static void a_url_that_cannot_be_used_is_final(void **state)
{
	struct fixture *f = *state;
	f->provider.url = "htp://x/responses";
	run(f);
	assert_log(f, "failed");
	assert_false(f->error.is_retryable);
	assert_int_equal(f->error.kind, MODEL_ERROR_setup);
}

/* ---- streams that go wrong ---- */

static void broken_streams_say_how(void **state)
{
	struct fixture *f = *state;
	static const struct {
		struct answer answer;
		const char *log, *beginning, *part;
		bool is_retryable;
	} cases[] = {
		{{200, NULL, DELTA, CUT},
	         "text_delta=hi failed",
	         "stream disconnected before completion: Transport error: network error: error decoding response body "
	         "(POST ",
	         "continue",
	         true},
		{{200, NULL, DELTA, WHOLE},
	         "text_delta=hi failed",
	         "stream disconnected before completion: stream closed before response.completed (POST ",
	         "continue",
	         true},
		{{200, NULL, "", WHOLE},
	         "failed",
	         "stream disconnected before completion: stream closed before response.completed (POST ",
	         "continue",
	         true},
		{{200, NULL, "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"message\":\"oops\"}}}\n\n",
	          OPEN},
	         "failed",
	         "stream disconnected before completion: oops (POST ",
	         "continue",
	         true},
		{{200, "text/html; charset=utf-8", "<html>\n<h1>Log in</h1>", WHOLE},
	         "failed",
	         "stream disconnected before completion: the answer is text/html; charset=utf-8, not an event stream: "
	         "<html> <h1>Log in</h1> (POST ",
	         "base_url",
	         false},
		{{302, "text/html", "", WHOLE},
	         "failed",
	         "unexpected status 302 Found: Unknown error, url: ",
	         "",
	         true},
	};
	for (size_t i = 0; i < countof(cases); i++) {
		f->answers[0] = cases[i].answer;
		run(f);
		assert_log(f, cases[i].log);
		assert_int_equal(f->requests, 1);
		assert_int_equal(f->error.is_retryable, cases[i].is_retryable);
		assert_final(f, cases[i].beginning, cases[i].part);
	}
}

static void silence_ends_the_call(void **state)
{
	struct fixture *f = *state;
	f->provider.stream_idle_timeout_ms = 60;
	f->answers[0] = (struct answer){200, NULL, DELTA ": still here\n\n", OPEN};
	run(f);
	assert_log(f, "text_delta=hi failed");
	assert_true(f->error.is_retryable);
	assert_final(f, "stream disconnected before completion: idle timeout waiting for SSE (POST ",
	             "stream_idle_timeout_ms");
}

static void on_pause_over(void *self)
{
	struct fixture *f = self;
	model_call_resume(f->call);
}

static void pause_in_event(const struct response_event *event, void *self)
{
	struct fixture *f = self;
	on_event(event, self);
	if (event->type == RESPONSE_text_delta)
		model_call_pause(f->call);
}

/* A pause by the caller may last longer than the idle timeout of the server. */
static void silence_does_not_count_while_a_call_is_paused(void **state)
{
	struct fixture *f = *state;
	static const struct model_handler pausing = {pause_in_event, on_done};
	struct model_info info = model_catalog_get(STR("mock-model"));
	struct model_prompt prompt = {.info = &info, .input = history, .input_count = 1, .thread_id = STR("thread-1")};
	struct loop_timer *timer = loop_timer_create(f->loop, on_pause_over, f);
	f->provider.stream_idle_timeout_ms = 100;
	f->answers[0] = (struct answer){200, NULL, DELTA, OPEN};
	f->call = model_client_stream(f->client, &prompt, &pausing, f);
	loop_timer_start(timer, 450);
	uint64_t begun = uv_now(loop_uv(f->loop));
	loop_run(f->loop);
	assert_log(f, "text_delta=hi failed");
	assert_true(uv_now(loop_uv(f->loop)) - begun >=
	            450 + 100); /* the idle timeout starts at the end of the pause */
	loop_timer_destroy(timer);
}

static void error_bodies_are_bounded(void **state)
{
	struct fixture *f = *state;
	auto_free char *big = xmalloc(4 * MIB);
	memset(big, 'x', 4 * MIB - 1);
	big[4 * MIB - 1] = '\0';
	f->answers[0] = (struct answer){404, "text/plain", big};
	run(f);
	assert_log(f, "failed");
	assert_true(strlen(f->error.text) <= MODEL_ERROR_TEXT_MAX);
}

/* ---- cancelling ---- */

static void a_call_can_be_cancelled_in_any_event(void **state)
{
	struct fixture *f = *state;
	static const char *const logs[] = {"turn_state=abc ", "turn_state=abc created ",
	                                   "turn_state=abc created text_delta=hi ",
	                                   "turn_state=abc created text_delta=hi completed "};
	f->answers[0] = (struct answer){200, NULL, CREATED DELTA COMPLETED, WHOLE, "x-codex-turn-state: abc"};
	for (int i = 0; i < 4; i++) {
		f->cancel_at = i + 1;
		run(f);
		assert_log(f, logs[i]);
		assert_int_equal(f->done, 0);
	}
}

static void on_wait_over(void *self)
{
	struct fixture *f = self;
	model_call_cancel(steal(f->call));
	loop_stop(f->loop);
}

static void a_call_can_be_cancelled_at_any_time(void **state)
{
	struct fixture *f = *state;
	struct loop_timer *timer = loop_timer_create(f->loop, on_wait_over, f);
	f->answers[0] = (struct answer){503, NULL, ""};
	for (int ms = 0; ms < 120; ms += 30) {
		loop_timer_start(timer, (uint64_t)ms);
		run(f);
		assert_log(f, "");
	}
	loop_timer_destroy(timer);
	model_call_cancel(NULL);
}

static void a_client_can_go_while_calls_run(void **state)
{
	struct fixture *f = *state;
	f->answers[0] = (struct answer){200, NULL, DELTA, OPEN};
	f->provider.stream_idle_timeout_ms = 30;
	run(f);
	start_call(f);
	start_call(f);
	model_client_destroy(steal(f->client));
	assert_int_equal(f->done, 1);
}

#define CLIENT_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLIENT_TEST(a_request_is_sent_and_its_response_read),
		CLIENT_TEST(the_head_is_passed_on),
		CLIENT_TEST(one_call_can_follow_the_other),
		CLIENT_TEST(an_answer_that_stays_open_is_still_complete),
		CLIENT_TEST(a_stream_may_have_another_type),
		CLIENT_TEST(server_errors_are_repeated_silently),
		CLIENT_TEST(dropped_connections_are_repeated_silently),
		CLIENT_TEST(repeating_has_an_end),
		CLIENT_TEST(refusals_are_not_repeated_silently),
		CLIENT_TEST(a_server_that_is_not_there_is_named),
		CLIENT_TEST(a_local_server_that_is_not_started_is_final),
		CLIENT_TEST(no_secret_is_quoted),
		CLIENT_TEST(no_decoded_secret_is_quoted),
		CLIENT_TEST(a_secret_that_is_cut_leaves_nothing),
		CLIENT_TEST(the_model_that_answers_is_named_in_utf8),
		CLIENT_TEST(a_url_that_cannot_be_used_is_final),
		CLIENT_TEST(broken_streams_say_how),
		CLIENT_TEST(silence_ends_the_call),
		CLIENT_TEST(silence_does_not_count_while_a_call_is_paused),
		CLIENT_TEST(error_bodies_are_bounded),
		CLIENT_TEST(a_call_can_be_cancelled_in_any_event),
		CLIENT_TEST(a_call_can_be_cancelled_at_any_time),
		CLIENT_TEST(a_client_can_go_while_calls_run),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
