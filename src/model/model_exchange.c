/* A long session sends megabytes of history with each tool call. Only the few hundred bytes around it are written here;
 * the history is sent from the caller's buffer without a copy. The order of keys is that of codex 0.169, because prompt
 * caches compare bytes.
 *
 * The outcome is determined at the end from the status, the content type, the events and the end of the connection.
 * This code is independent of sockets and timers, so that tests can cover all combinations. */
#include "model/model_exchange.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "model/model_catalog.h"
#include "model/model_secrets.h"
#include "model/model_usage.h"
#include "net/http_head.h"
#include "protocol/record/types.h"

/* ---- the request ---- */

static void write_reasoning(struct json_writer *w, const struct model_prompt *prompt)
{
	enum reasoning_effort effort = prompt->effort ? prompt->effort : prompt->info->default_effort;
	bool has_summary = prompt->info->has_reasoning && prompt->summary != reasoning_summary_none;
	if (effort == reasoning_effort_unset && !has_summary)
		return;
	jw_key(w, "reasoning");
	jw_object(w);
	if (effort != reasoning_effort_unset)
		jw_member_cstr(w, "effort", enum_wire(&enum_reasoning_effort, effort));
	if (has_summary)
		jw_member_cstr(w, "summary", enum_wire(&enum_reasoning_summary, prompt->summary));
	jw_object_end(w);
}

static void write_format(struct json_writer *w, struct str schema)
{
	jw_key(w, "format");
	jw_object(w);
	jw_member_cstr(w, "type", "json_schema");
	jw_member_bool(w, "strict", true);
	jw_member_raw(w, "schema", schema);
	jw_member_cstr(w, "name", "codex_output_schema");
	jw_object_end(w);
}

static void write_text(struct json_writer *w, const struct model_prompt *prompt)
{
	enum verbosity verbosity = prompt->verbosity ? prompt->verbosity : prompt->info->default_verbosity;
	bool has_verbosity = prompt->info->has_verbosity && verbosity != verbosity_unset;
	if (!has_verbosity && !prompt->output_schema.len)
		return;
	jw_key(w, "text");
	jw_object(w);
	if (has_verbosity)
		jw_member_cstr(w, "verbosity", enum_wire(&enum_verbosity, verbosity));
	if (prompt->output_schema.len)
		write_format(w, prompt->output_schema);
	jw_object_end(w);
}

static void write_include(struct json_writer *w, const struct model_prompt *prompt)
{
	jw_key(w, "include");
	jw_array(w);
	if (prompt->info->has_reasoning || prompt->effort != reasoning_effort_unset)
		jw_cstr(w, "reasoning.encrypted_content");
	jw_array_end(w);
}

/* Writes `{"model":…,"instructions":…,"input":[`. */
static void write_head(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "model", prompt->info->slug);
	if (prompt->instructions.ptr)
		jw_member_str(&w, "instructions", prompt->instructions);
	jw_key(&w, "input");
	jw_array(&w);
}

/* Writes the members that follow the tools. */
static void write_tail(struct buf *out, const struct model_prompt *prompt)
{
	struct json_writer w = json_writer(out);
	w.comma = true;
	jw_member_cstr(&w, "tool_choice", "auto");
	jw_member_bool(&w, "parallel_tool_calls", prompt->info->has_parallel_calls && !prompt->is_serial);
	write_reasoning(&w, prompt);
	jw_member_bool(&w, "store", prompt->is_stored);
	jw_member_bool(&w, "stream", true);
	write_include(&w, prompt);
	jw_member_str(&w, "prompt_cache_key", prompt->thread_id);
	write_text(&w, prompt);
	if (prompt->previous_response_id.len)
		jw_member_str(&w, "previous_response_id", prompt->previous_response_id);
	jw_object_end(&w);
}

static void add_input(struct model_request *request, const struct model_prompt *prompt)
{
	bool is_first = true;
	for (size_t i = 0; i < prompt->input_count; i++) {
		if (!prompt->input[i].len)
			continue;
		if (!is_first)
			vec_push(&request->body, STR(","));
		vec_push(&request->body, prompt->input[i]);
		is_first = false;
	}
}

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
}

int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err)
{
	*request = (struct model_request){0};
	buf_init(&request->head, LIMIT_REQUEST_FRAME);
	buf_init(&request->tail, LIMIT_REQUEST_FRAME);
	write_head(&request->head, prompt);
	write_tail(&request->tail, prompt);
	if (request->head.over || request->tail.over)
		return error_set(err, ERR_limit, "instructions or output schema are longer than %d MiB; shorten them",
		                 LIMIT_REQUEST_FRAME / MIB);
	vec_push(&request->body, buf_str(&request->head));
	add_input(request, prompt);
	vec_push(&request->body, STR("],\"tools\":"));
	vec_push(&request->body, prompt->tools.len ? prompt->tools : STR("[]"));
	vec_push(&request->body, buf_str(&request->tail));
	add_headers(request, prompt);
	return 0;
}

void model_request_finish(struct model_request *request)
{
	vec_finish(&request->body);
	vec_finish(&request->headers);
	buf_finish(&request->head);
	buf_finish(&request->tail);
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

void model_exchange_init(struct model_exchange *exchange, const struct model_secrets *secrets,
                         response_event_fn on_event, void *self)
{
	*exchange = (struct model_exchange){.on_event = on_event, .self = self, .secrets = secrets};
	model_stream_init(&exchange->stream, on_event, self);
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

void model_exchange_stop(struct model_exchange *exchange)
{
	exchange->is_stopped = true;
}

static bool is_success(const struct model_exchange *exchange)
{
	return exchange->status >= 200 && exchange->status < 300;
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
	exchange->request_id = shown(exchange, http_head_get(head, "x-request-id"));
	exchange->cf_ray = shown(exchange, http_head_get(head, "cf-ray"));
	struct str type = exchange->content_type;
	if (type.len > strlen("text/event-stream"))
		type.len = strlen("text/event-stream");
	exchange->is_event_stream = str_equal_fold(type, STR("text/event-stream"));
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

bool model_exchange_data(struct model_exchange *exchange, struct str bytes, struct error *err)
{
	if (!is_success(exchange)) {
		keep_body(exchange, bytes, LIMIT_HTTP_ERROR_BODY);
		return true;
	}
	if (!exchange->is_event_stream)
		keep_body(exchange, bytes, GLIMPSE_MAX);
	return sse_feed(&exchange->sse, bytes, err) == 0;
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
		model_secrets_append_masked(exchange->secrets, buf_str(&exchange->body), &more);
	}
	for (size_t i = start; i < more.len; i++) {
		if ((unsigned char)more.data[i] < ' ')
			more.data[i] = ' ';
	}
	model_error_set(ret_error, MODEL_ERROR_not_a_stream, buf_str(&more));
}

static enum model_outcome end_stream(struct model_exchange *exchange, const struct error *cause,
                                     struct model_error *ret_error)
{
	struct error limit;
	if (!exchange->is_stopped && sse_end(&exchange->sse, &limit) < 0 && !cause)
		cause = &limit;
	if (exchange->stream.state == MODEL_STREAM_COMPLETED)
		return MODEL_OUTCOME_completed;
	if (exchange->stream.state == MODEL_STREAM_FAILED)
		*ret_error = exchange->stream.error;
	else if (cause)
		model_error_from_transport(ret_error, cause, true);
	else if (!exchange->is_event_stream && !exchange->stream.has_events)
		set_not_a_stream(exchange, ret_error);
	else
		model_error_set(ret_error, MODEL_ERROR_stream_lost, STR("stream closed before response.completed"));
	return MODEL_OUTCOME_failed;
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
		.retry_after = exchange->retry_after,
		.request_id = exchange->request_id,
		.cf_ray = exchange->cf_ray,
		.url = url,
		.now_unix_ms = clock_unix_ms(),
	};
	model_error_from_answer(ret_error, &answer);
	return exchange->status >= 500 ? MODEL_OUTCOME_repeat : MODEL_OUTCOME_failed;
}
