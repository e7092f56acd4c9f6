/* The outcome is determined at the end from the status, the content type, the events and the end of the connection.
 * This code is independent of sockets and timers, so that tests can cover all combinations. */
#include "model/model_exchange.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/model_secrets.h"
#include "model/model_usage.h"
#include "net/http_head.h"
#include "protocol/record/types.h"

static const struct model_wire *wire_of(enum wire_api wire)
{
	static const struct model_wire *const wires[] = {
		[wire_api_responses] = &model_wire_responses,
		[wire_api_chat] = &model_wire_chat,
		[wire_api_messages] = &model_wire_messages,
	};
	return wires[wire];
}

/* ---- the request ---- */

void model_request_add_header(struct model_request *request, const char *name, struct str value)
{
	const char *line = arena_printf(&request->arena, "%s: %.*s", name, STR_ARG(value));
	vec_push(&request->headers, str_of(line));
}

/* Adds the ids under the old and the new header names, because gateways use them for routing and logs. The session
 * id of a subagent is that of its root. */
static void add_ids(struct model_request *request, const struct model_prompt *prompt)
{
	struct str session_id = prompt->root_thread_id.len ? prompt->root_thread_id : prompt->thread_id;
	if (!prompt->thread_id.len)
		return;
	model_request_add_header(request, "session_id", session_id);
	model_request_add_header(request, "session-id", session_id);
	model_request_add_header(request, "thread-id", prompt->thread_id);
	model_request_add_header(request, "x-client-request-id", prompt->thread_id);
	if (prompt->parent_thread_id.len)
		model_request_add_header(request, "x-codex-parent-thread-id", prompt->parent_thread_id);
}

static void add_headers(struct model_request *request, const struct model_prompt *prompt)
{
	model_request_add_header(request, "accept", STR("text/event-stream"));
	model_request_add_header(request, "content-type", STR("application/json"));
	add_ids(request, prompt);
	if (prompt->turn_state.len)
		model_request_add_header(request, "x-codex-turn-state", prompt->turn_state);
	if (prompt->subagent.len)
		model_request_add_header(request, "x-openai-subagent", prompt->subagent);
	if (prompt->is_lite && prompt->wire == wire_api_responses)
		model_request_add_header(request, "x-openai-internal-codex-responses-lite", STR("true"));
}

int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	*request = (struct model_request){.wire = prompt->wire};
	request->provider = arena_str(&request->arena, prompt->provider);
	buf_init(&request->head, LIMIT_REQUEST_FRAME);
	buf_init(&request->tail, LIMIT_REQUEST_FRAME);
	buf_init(&request->own, LIMIT_REQUEST_BODY);
	int status = wire_of(prompt->wire)->write_body(request, prompt, err);
	if (status < 0)
		return status;
	add_headers(request, prompt);
	return 0;
}

void model_request_finish(struct model_request *request)
{
	vec_finish(&request->body);
	vec_finish(&request->headers);
	model_memo_unref(request->memo);
	vec_finish(&request->fresh);
	buf_finish(&request->head);
	buf_finish(&request->tail);
	buf_finish(&request->own);
	arena_finish(&request->arena);
}

/* ---- the response ---- */

/* Number of bytes that are quoted of a response that is not an event stream. */
enum { GLIMPSE_MAX = 200 };
/* Limits: of the shown part of a header, and of a head or body after masking its secrets. */
enum { SHOWN_HEADER_MAX = 200, MASKED_MAX = 4 * LIMIT_HTTP_ERROR_BODY };

static bool on_sse(const struct sse_event *event, void *self)
{
	struct model_exchange *exchange = self;
	exchange->events++;
	return model_stream_feed(&exchange->stream, event->event, event->data) && !exchange->is_stopped;
}

void model_exchange_init(struct model_exchange *exchange, const struct model_request *request,
                         const struct model_secrets *secrets, response_event_fn on_event, void *self)
{
	*exchange = (struct model_exchange){
		.on_event = on_event, .self = self, .secrets = secrets, .wire = wire_of(request->wire)};
	model_stream_init(&exchange->stream, exchange->wire->reader, on_event, self);
	exchange->stream.request = request;
	exchange->stream.provider = request->provider;
	sse_init(&exchange->sse, on_sse, exchange);
	buf_init(&exchange->body, LIMIT_HTTP_ERROR_BODY);
}

void model_exchange_finish(struct model_exchange *exchange)
{
	sse_finish(&exchange->sse);
	model_stream_finish(&exchange->stream);
	buf_finish(&exchange->body);
	arena_finish(&exchange->arena);
}

const char *model_exchange_api(const struct model_exchange *exchange)
{
	return exchange->wire ? exchange->wire->api : NULL;
}

void model_exchange_stop(struct model_exchange *exchange)
{
	exchange->is_stopped = true;
}

static bool is_success(const struct model_exchange *exchange)
{
	return (exchange->status >= 200 && exchange->status < 300) || exchange->status == MODEL_STATUS_SOCKET;
}

static struct str keep_header(struct model_exchange *exchange, const struct http_head *head, const char *name)
{
	return arena_str(&exchange->arena, http_head_get(head, name));
}

static void emit_header(struct model_exchange *exchange, enum response_event_type type, struct str value)
{
	struct response_event event = {.type = type, .text = value};
	if (value.len && is_success(exchange) && !exchange->is_stopped)
		exchange->on_event(&event, exchange->self);
}

/* Returns a header for display, as valid UTF-8 with secrets masked: a server may echo credentials and send any byte. */
static struct str shown(struct model_exchange *exchange, struct str value)
{
	auto_buf struct buf masked, clean;
	buf_init(&masked, MASKED_MAX);
	buf_init(&clean, 3 * (size_t)MASKED_MAX);
	model_secrets_append_masked(exchange->secrets, value, &masked);
	text_append_utf8_lossy(&clean, buf_str(&masked));
	struct str text = buf_str(&clean);
	text.len = text_floor_boundary(text, SHOWN_HEADER_MAX);
	return arena_str(&exchange->arena, text);
}

void model_exchange_head(struct model_exchange *exchange, int status, const struct http_head *head)
{
	struct rate_limits limits;
	struct response_event event = {.type = RESPONSE_rate_limits, .limits = &limits};
	exchange->status = status;
	exchange->content_type = shown(exchange, http_head_get(head, "content-type"));
	exchange->retry_after = keep_header(exchange, head, "retry-after");
	exchange->retry_after_ms = keep_header(exchange, head, "retry-after-ms");
	exchange->request_id = shown(exchange, http_head_get(head, "x-request-id"));
	if (!exchange->request_id.len)
		exchange->request_id = shown(exchange, http_head_get(head, "request-id"));
	exchange->cf_ray = shown(exchange, http_head_get(head, "cf-ray"));
	struct str type = exchange->content_type;
	if (type.len > strlen("text/event-stream"))
		type.len = strlen("text/event-stream");
	exchange->is_event_stream = status == MODEL_STATUS_SOCKET || str_equal_fold(type, STR("text/event-stream"));
	bool has_limits = model_usage_limits(head, &exchange->arena, &limits);
	if (limits.credits && limits.credits->balance.ptr)
		limits.credits->balance = shown(exchange, limits.credits->balance);
	if (has_limits || (is_success(exchange) && exchange->is_event_stream))
		exchange->on_event(&event, exchange->self);
	emit_header(exchange, RESPONSE_turn_state, http_head_get(head, "x-codex-turn-state"));
	emit_header(exchange, RESPONSE_served_by, shown(exchange, http_head_get(head, "openai-model")));
}

static void keep_body(struct model_exchange *exchange, struct str bytes, size_t max)
{
	if (exchange->body.len >= max)
		return;
	if (bytes.len > max - exchange->body.len)
		bytes.len = max - exchange->body.len;
	buf_append_str(&exchange->body, bytes);
}

/* True if a body that was announced as a stream begins as JSON. */
static bool is_json_body(const struct model_exchange *exchange, struct str bytes)
{
	return !exchange->stream.has_events && (exchange->body.len || str_has_prefix(str_trim_start(bytes), "{"));
}

bool model_exchange_data(struct model_exchange *exchange, struct str bytes, struct error *err)
{
	if (!is_success(exchange)) {
		keep_body(exchange, bytes, LIMIT_HTTP_ERROR_BODY);
		return true;
	}
	if (!exchange->is_event_stream || is_json_body(exchange, bytes))
		keep_body(exchange, bytes, LIMIT_HTTP_ERROR_BODY);
	return sse_feed(&exchange->sse, bytes, err) == 0;
}

/* Takes an error that stands for an answer with a status of its own: {"type":"error","status":429,"error":{…},
 * "headers":{…}}. */
static void take_refusal(struct model_exchange *exchange)
{
	auto_arena struct arena arena = {0};
	struct str text = exchange->stream.refusal;
	const struct json *root = json_parse(&arena, text, NULL), *headers = json_get(root, "headers");
	exchange->status = (int)json_get_i64(root, "status", 0);
	keep_body(exchange, text, LIMIT_HTTP_ERROR_BODY);
	exchange->retry_after = arena_str(&exchange->arena, json_get_str(headers, "retry-after"));
	exchange->retry_after_ms = arena_str(&exchange->arena, json_get_str(headers, "retry-after-ms"));
	exchange->request_id = shown(exchange, json_get_str(headers, "x-request-id"));
	exchange->cf_ray = shown(exchange, json_get_str(headers, "cf-ray"));
}

void model_exchange_message(struct model_exchange *exchange, struct str text)
{
	exchange->events++;
	if (exchange->is_stopped)
		return;
	model_stream_feed(&exchange->stream, STR(""), text);
	if (exchange->stream.refusal.ptr)
		take_refusal(exchange);
}

/* Sets an error such as "the answer is text/html, not an event stream: <html>…". */
static void set_not_a_stream(const struct model_exchange *exchange, struct model_error *ret_error)
{
	auto_buf struct buf more;
	buf_init(&more, 4 * KIB);
	struct str type = str_n(exchange->content_type.ptr, text_floor_boundary(exchange->content_type, 64));
	buf_printf(&more, "the answer is %.*s, not an event stream",
	           STR_ARG(type.len ? type : STR("of no known type")));
	size_t start = more.len;
	if (exchange->body.len) {
		buf_append_c(&more, ": ");
		struct str body = buf_str(&exchange->body);
		body.len = body.len < GLIMPSE_MAX ? body.len : GLIMPSE_MAX;
		model_secrets_append_masked(exchange->secrets, body, &more);
	}
	for (size_t i = start; i < more.len; i++) {
		if ((unsigned char)more.data[i] < ' ')
			more.data[i] = ' ';
	}
	model_error_set(ret_error, MODEL_ERROR_not_a_stream, buf_str(&more));
}

static void set_cut(const struct model_exchange *exchange, struct model_error *ret_error)
{
	char text[128];
	snprintf(text, sizeof(text), "stream closed before %s", exchange->wire->end_mark);
	model_error_set(ret_error, MODEL_ERROR_stream_lost, str_of(text));
}

/* Reads a body that is JSON where a stream was expected: an error with status 200, or the whole response at once. */
static void read_whole_body(struct model_exchange *exchange)
{
	struct str body = str_trim(buf_str(&exchange->body));
	bool is_known = exchange->wire != &model_wire_responses;
	if (is_known && !exchange->stream.has_events && !exchange->is_stopped && str_has_prefix(body, "{"))
		model_stream_feed(&exchange->stream, STR(""), body);
}

static enum model_outcome end_stream(struct model_exchange *exchange, const struct error *cause,
                                     struct model_error *ret_error)
{
	struct error limit;
	if (!exchange->is_stopped && sse_end(&exchange->sse, &limit) < 0 && !cause)
		cause = &limit;
	if (!cause)
		read_whole_body(exchange);
	if (!exchange->is_stopped && !cause)
		model_stream_end(&exchange->stream, false);
	if (exchange->stream.state == MODEL_STREAM_COMPLETED)
		return MODEL_OUTCOME_completed;
	if (exchange->stream.state == MODEL_STREAM_FAILED)
		*ret_error = exchange->stream.error;
	else if (cause)
		model_error_from_transport(ret_error, cause, true);
	else if (!exchange->is_event_stream && !exchange->stream.has_events)
		set_not_a_stream(exchange, ret_error);
	else
		set_cut(exchange, ret_error);
	return MODEL_OUTCOME_failed;
}

static bool is_repeated(int status)
{
	return status >= 500 || status == 408 || status == 409;
}

enum model_outcome model_exchange_end(struct model_exchange *exchange, const struct error *cause, struct str url,
                                      struct model_error *ret_error)
{
	if (is_success(exchange))
		return end_stream(exchange, cause, ret_error);
	if (exchange->status == 0) {
		struct error nothing;
		error_set(&nothing, ERR_transport, "the server closed the connection without an answer");
		model_error_from_transport(ret_error, cause ? cause : &nothing, false);
		return ret_error->is_retryable ? MODEL_OUTCOME_repeat : MODEL_OUTCOME_failed;
	}
	auto_buf struct buf body;
	buf_init(&body, MASKED_MAX);
	model_secrets_append_masked(exchange->secrets, buf_str(&exchange->body), &body);
	struct model_answer answer = {
		.status = exchange->status,
		.body = buf_str(&body),
		.is_other_api = exchange->wire != &model_wire_responses,
		.retry_after = exchange->retry_after,
		.retry_after_ms = exchange->retry_after_ms,
		.request_id = exchange->request_id,
		.cf_ray = exchange->cf_ray,
		.url = url,
		.now_unix_ms = clock_unix_ms(),
	};
	model_error_from_answer(ret_error, &answer);
	return is_repeated(exchange->status) ? MODEL_OUTCOME_repeat : MODEL_OUTCOME_failed;
}
