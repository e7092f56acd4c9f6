/* A call is a state machine around model_exchange with one timer: a token is pending, an attempt is running, the next
 * attempt is pending, or the outcome is known and the end of the response is pending.
 *
 * Reading a response to its end allows the next request to reuse the connection, which saves one to three round trips
 * per tool call. If a server keeps the stream open after response.completed, the connection is closed after a short
 * timeout. */
#include "model/model_client.h"

#include "account/account.h"
#include "account/token_command.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_backoff.h"
#include "model/model_catalog.h"
#include "model/model_list.h"
#include "model/model_client_priv.h"
#include "model/model_secrets.h"
#include "model/model_socket.h"
#include "net/http_client.h"
#include "net/http_head.h"
#include "net/http_url.h"

/* ---- the end of a call ---- */

static void call_destroy(struct model_call *call)
{
	model_call_leave_socket(call);
	if (call->client->warm_up == call)
		call->client->warm_up = NULL;
	list_remove(&call->link);
	http_call_cancel(call->http);
	account_cancel(call->account);
	token_request_cancel(call->token_request);
	model_call_forget_token(call);
	loop_timer_destroy(call->timer);
	model_exchange_finish(&call->exchange);
	model_request_finish(&call->request);
	buf_finish(&call->url);
	free(call);
}

void model_call_enter(struct model_call *call)
{
	call->depth++;
}

/* Returns false if the call has ended; it must not be accessed then. */
bool model_call_leave(struct model_call *call)
{
	call->depth--;
	if (!call->is_over)
		return true;
	if (call->depth == 0)
		call_destroy(call);
	return false;
}

void model_call_cancel(struct model_call *call)
{
	if (!call || call->is_over)
		return;
	call->is_over = true;
	model_exchange_stop(&call->exchange);
	model_call_leave_socket(call);
	http_call_cancel(steal(call->http));
	account_cancel(steal(call->account));
	token_request_cancel(steal(call->token_request));
	if (call->depth == 0)
		call_destroy(call);
}

static void call_end(struct model_call *call, const struct model_error *error)
{
	model_call_enter(call);
	struct model_client *client = call->client;
	bool is_warm_up = client->warm_up == call;
	call->is_over = true;
	model_call_leave_socket(call);
	http_call_cancel(steal(call->http));
	call->handler->on_done(error, call->self);
	model_call_leave(call);
	if (is_warm_up)
		model_client_send_queued(client);
}

/* ---- reports to the watch ---- */

static uint64_t take_duration(struct model_call *call)
{
	uint64_t then_ms = call->reported_ms;
	call->reported_ms = clock_now_ms();
	return call->reported_ms - then_ms;
}

static void report_attempt(struct model_call *call, int status, struct str failure)
{
	const struct model_client *client = call->client;
	const struct model_attempt attempt = {
		.provider = client->provider,
		.number = call->tries - 1,
		.status = status,
		.failure = failure,
		.duration_ms = take_duration(call),
		.effort = call->effort,
		.has_key = call->token || client->provider->authorization,
		.is_retry = call->is_token_new,
	};
	client->watch->on_attempt(&attempt, client->watch->self);
}

void model_call_report_status(struct model_call *call, int status)
{
	if (!call->client->watch || call->reported_status)
		return;
	call->reported_status = status;
	report_attempt(call, status, STR_NONE);
}

/* The events of a head come before an answer if it is that of a WebSocket. */
static void on_watched_event(const struct response_event *event, void *self)
{
	struct model_call *call = self;
	const struct model_watch *watch = call->client->watch;
	if (!call->is_on_socket || call->exchange.events) {
		model_call_report_status(call, call->exchange.status);
		watch->on_event(event, take_duration(call), watch->self);
	}
	call->handler->on_event(event, call->self);
}

/* Reports once that an attempt has failed. A status that is an error was reported as such. */
static void report_failure(struct model_call *call, struct model_error *error)
{
	const struct model_watch *watch = call->client->watch;
	if (!watch || !call->tries || call->is_failure_reported || call->reported_status >= 300)
		return;
	call->is_failure_reported = true;
	model_secrets_mask(&call->client->secrets, error->text, MODEL_ERROR_TEXT_MAX);
	if (call->reported_status)
		watch->on_failure(error, take_duration(call), watch->self);
	else
		report_attempt(call, 0, str_of(error->text));
}

void model_call_fail(struct model_call *call, struct model_error *error)
{
	struct model_place place = {
		.url = buf_str(&call->url),
		.provider = str_of(call->client->provider->name),
		.key = str_of(call->client->provider->key_source),
		.start = str_of(call->client->provider->start),
		.api = str_of(model_exchange_api(&call->exchange)),
	};
	model_secrets_mask(&call->client->secrets, error->text, MODEL_ERROR_TEXT_MAX);
	model_secrets_mask(&call->client->secrets, error->detail, MODEL_ERROR_DETAIL_MAX);
	report_failure(call, error);
	model_error_advise(error, &place);
	call_end(call, error);
}

/* ---- one attempt ---- */

static void call_try(struct model_call *call);
/* A local server that is not running will not start during retries, so the call fails at once. */
static bool is_not_started(const struct model_call *call, const struct error *cause)
{
	return call->client->provider->start && cause && cause->code == ERR_connect;
}

/* Ends an attempt: delivers the outcome or schedules the next attempt. */
void model_call_settle(struct model_call *call, const struct error *cause)
{
	struct model_error error;
	model_call_enter(call);
	enum model_outcome outcome = model_exchange_end(&call->exchange, cause, buf_str(&call->url), &error);
	if (!model_call_leave(call))
		return;
	if (outcome == MODEL_OUTCOME_repeat && is_not_started(call, cause)) {
		model_error_from_absence(&error, cause);
		outcome = MODEL_OUTCOME_failed;
	}
	if (outcome != MODEL_OUTCOME_completed && call != call->client->warm_up)
		report_failure(call, &error);
	bool lacks_state = outcome != MODEL_OUTCOME_completed && (error.lacks_response || error.lacks_socket);
	if (lacks_state && model_call_renew_socket(call))
		return;
	model_call_leave_socket(call);
	if (call == call->client->warm_up) {
		call_end(call, NULL);
		return;
	}
	if (outcome == MODEL_OUTCOME_completed) {
		call_end(call, NULL);
	} else if (error.http_status == 401 && call->token && !call->is_token_new) {
		call->is_refused = true;
		model_call_sign(call);
	} else if (error.http_status == 401 && call->token) {
		error.is_retryable = false; /* a new token was refused, too */
		model_call_fail(call, &error);
	} else if (outcome == MODEL_OUTCOME_repeat && call->tries <= call->client->provider->request_max_retries) {
		call->state = CALL_WAITING;
		loop_timer_start(call->timer, (uint64_t)model_backoff_ms(call->tries, model_backoff_random()));
	} else {
		model_call_fail(call, &error);
	}
}

static bool on_http_head(int status, const struct http_head *head, void *self)
{
	struct model_call *call = self;
	model_call_enter(call);
	model_call_report_status(call, status);
	model_exchange_head(&call->exchange, status, head);
	return model_call_leave(call);
}

static void on_http_data(struct str bytes, void *self)
{
	struct model_call *call = self;
	struct error err;
	model_call_enter(call);
	bool is_sound = model_exchange_data(&call->exchange, bytes, &err);
	if (!model_call_leave(call))
		return;
	if (!is_sound) {
		http_call_cancel(steal(call->http));
		model_call_settle(call, &err);
		return;
	}
	call->heard_at = uv_now(loop_uv(call->client->loop)); /* comments and pings count as well */
	bool is_closed = call->exchange.stream.state != MODEL_STREAM_OPEN;
	bool is_new = call->state == CALL_TRYING || (is_closed && !call->is_closed);
	if ((is_closed || call->exchange.stream.is_ending) && is_new) {
		call->state = CALL_LINGERING;
		call->is_closed = is_closed;
		loop_timer_start(call->timer, is_closed ? LIMIT_ANSWER_LINGER_MS : LIMIT_USAGE_LINGER_MS);
	}
}

static void on_http_done(const struct error *err, void *self)
{
	struct model_call *call = self;
	call->http = NULL;
	model_call_settle(call, err);
}

static const struct http_handler http_handler = {on_http_head, on_http_data, on_http_done};

/* ---- an attempt ---- */

void model_call_send(struct model_call *call)
{
	const struct model_provider *provider = call->client->provider;
	struct http_request request = {
		.method = "POST",
		.url = provider->url,
		.headers = call->request.headers.items,
		.header_count = call->request.headers.count,
		.body = call->request.body.items,
		.body_count = call->request.body.count,
		.client_certificate = provider->client_certificate,
		.client_key = provider->client_key,
		.connect_timeout_ms = LIMIT_CONNECT_MS,
	};
	model_exchange_finish(&call->exchange);
	bool is_watched = call->client->watch != NULL;
	model_exchange_init(&call->exchange, &call->request, &call->client->secrets,
	                    is_watched ? on_watched_event : call->handler->on_event, is_watched ? call : call->self);
	call->reported_ms = is_watched ? clock_now_ms() : 0;
	call->reported_status = 0;
	call->is_failure_reported = false;
	call->state = CALL_TRYING;
	call->is_closed = false;
	call->heard_at = uv_now(loop_uv(call->client->loop));
	loop_timer_start(call->timer, provider->stream_idle_timeout_ms);
	if (model_call_use_socket(call))
		return;
	if (call == call->client->warm_up) { /* which only a WebSocket has */
		call->state = CALL_REFUSED;
		loop_timer_start(call->timer, 0);
		return;
	}
	call->tries++;
	model_call_add_signature(call);
	request.headers = call->request.headers.items;
	request.header_count = call->request.headers.count;
	call->http = http_call_start(call->client->http, &request, &http_handler, call);
	if (call->is_paused)
		http_call_pause(call->http);
}

static void call_try(struct model_call *call)
{
	if (call->client->provider->uses_account || call->client->provider->auth_command)
		model_call_sign(call);
	else
		model_call_send(call);
}

void model_call_pause(struct model_call *call)
{
	call->is_paused = true;
	if (call->http)
		http_call_pause(call->http);
	if (call->is_on_socket)
		model_socket_pause(call->client->socket);
}

void model_call_resume(struct model_call *call)
{
	call->is_paused = false;
	call->heard_at = uv_now(loop_uv(call->client->loop));
	if (call->http)
		http_call_resume(call->http);
	if (call->is_on_socket)
		model_socket_resume(call->client->socket);
}

/* ---- timeouts ---- */

static void give_up_on_silence(struct model_call *call)
{
	struct model_error error;
	uint64_t limit = call->client->provider->stream_idle_timeout_ms;
	uint64_t silent = call->is_paused ? 0 : uv_now(loop_uv(call->client->loop)) - call->heard_at;
	if (silent < limit) {
		loop_timer_start(call->timer, limit - silent);
		return;
	}
	model_error_from_silence(&error, limit);
	model_call_fail(call, &error);
}

static void on_timer(void *self)
{
	struct model_call *call = self;
	switch (call->state) {
	case CALL_REFUSED:
		model_call_fail(call, &call->refusal);
		break;
	case CALL_WAITING:
		call_try(call);
		break;
	case CALL_SIGNING:
		break;
	case CALL_QUEUED:
		model_call_cancel(call->client->warm_up);
		model_client_send_queued(call->client);
		break;
	case CALL_TRYING:
		give_up_on_silence(call);
		break;
	case CALL_LINGERING:
		http_call_cancel(steal(call->http));
		model_call_settle(call, NULL);
		break;
	}
}

/* ---- the start ---- */

/* Most servers of Responses that are not OpenAI's know functions only, and so do models that are not. */
static bool has_flat_tools(const struct model_provider *provider, const struct model_info *info)
{
	bool is_openai = provider->is_openai || provider->stores_responses;
	return provider->wire == wire_api_responses && !is_openai && (provider->is_local || !info->is_known);
}

/* Prepares the request, which all attempts share. */
static int call_prepare(struct model_call *call, const struct model_prompt *prompt, struct model_error *ret_error)
{
	struct error err;
	struct model_prompt stored = *prompt;
	stored.wire = call->client->provider->wire;
	stored.has_flat_tools = has_flat_tools(call->client->provider, prompt->info);
	stored.provider = str_of(call->client->provider->id);
	stored.max_output_tokens = call->client->provider->max_output_tokens;
	stored.service_tier = str_of(call->client->provider->service_tier);
	stored.is_stored = !prompt->is_private && (prompt->is_stored || call->client->provider->stores_responses);
	if (model_request_init(&call->request, &stored, &err) < 0) {
		model_error_set(ret_error, MODEL_ERROR_setup, str_of(err.text));
		return -(int)err.code;
	}
	model_call_add_headers(call, prompt->info->slug);
	return 0;
}

struct model_call *model_call_start(struct model_client *client, const struct model_prompt *prompt,
                                    const struct model_handler *handler, void *self, bool is_warm_up)
{
	struct model_call *call = xnew(struct model_call);
	call->client = client;
	if (is_warm_up)
		client->warm_up = call;
	call->handler = handler;
	call->self = self;
	call->timer = loop_timer_create(client->loop, on_timer, call);
	list_append(&client->calls, &call->link);
	buf_init(&call->url, LIMIT_HTTP_HEAD);
	http_url_append_public(&call->url, str_of(client->provider->url));
	if (call_prepare(call, prompt, &call->refusal) < 0) {
		loop_timer_start(call->timer, 0);
		return call;
	}
	if (client->watch)
		call->effort = arena_str(&call->request.arena, str_of(wire_effort(prompt)));
	call_try(call);
	return call;
}

struct model_call *model_client_stream(struct model_client *client, const struct model_prompt *prompt,
                                       const struct model_handler *handler, void *self)
{
	return model_call_start(client, prompt, handler, self, false);
}

/* ---- the client ---- */

struct model_client *model_client_create(const struct model_client_options *options)
{
	struct model_client *client = xnew(struct model_client);
	client->loop = options->loop;
	client->http = options->http;
	client->accounts = options->accounts;
	client->provider = options->provider;
	client->watch = options->watch;
	client->agent = (struct user_agent){
		.originator = arena_str(&client->arena, options->agent.originator),
		.version = arena_str(&client->arena, options->agent.version),
		.terminal = arena_str(&client->arena, options->agent.terminal),
		.client = arena_str(&client->arena, options->agent.client),
		.client_version = arena_str(&client->arena, options->agent.client_version),
	};
	list_init(&client->calls);
	if (client->provider->has_sockets)
		client->socket = model_socket_create(client->loop, client->http, client->provider);
	model_secrets_init(&client->secrets, client->provider);
	return client;
}

void model_client_preconnect(struct model_client *client, bool is_likely)
{
	const struct http_request request = {
		.url = client->provider->url,
		.client_certificate = client->provider->client_certificate,
		.client_key = client->provider->client_key,
		.connect_timeout_ms = LIMIT_CONNECT_MS,
	};
	if (!client->socket /* which opens a connection of its own */ &&
	    (is_likely || http_client_is_preloaded(client->http)))
		http_client_preconnect(client->http, &request);
}

void model_client_destroy(struct model_client *client)
{
	if (!client)
		return;
	struct model_call *call;
	list_for_each(call, &client->calls, link)
		call_destroy(call);
	model_socket_destroy(client->socket);
	model_list_end(client->list);
	free(client->account_id);
	model_secrets_finish(&client->secrets);
	arena_finish(&client->arena);
	free(client);
}
