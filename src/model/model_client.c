/* A call is a state machine around model_exchange with one timer: a token is pending, an attempt is running, the next
 * attempt is pending, or the outcome is known and the end of the response is pending.
 *
 * Reading a response to its end allows the next request to reuse the connection, which saves one to three round trips
 * per tool call. If a server keeps the stream open after response.completed, the connection is closed after a short
 * timeout. */
#include "model/model_client.h"

#include "account/account.h"
#include "account/token_command.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_backoff.h"
#include "model/model_secrets.h"
#include "net/http_client.h"
#include "net/http_url.h"

struct model_client {
	struct loop *loop;
	struct http_client *http;
	struct accounts *accounts;
	char *account_id; /* the account of the first request, which all further ones must have; NULL: not known yet */
	const struct model_provider *provider;
	struct user_agent agent;
	struct str agent_header; /* STR_NONE until the first request */
	struct arena arena;
	struct list calls;
	struct model_secrets secrets;
};

enum call_state {
	CALL_REFUSED,   /* the request cannot be sent: `refusal` is delivered in the next round of the loop */
	CALL_SIGNING,   /* waits for a token of the account or of the provider's command */
	CALL_TRYING,    /* an attempt is running; the timer detects an idle connection */
	CALL_WAITING,   /* the next attempt is pending; the timer starts it */
	CALL_LINGERING, /* the outcome is known; the timer limits the wait for the end of the response */
};

struct model_call {
	struct list link;
	struct model_client *client;
	const struct model_handler *handler;
	void *self;
	struct model_request request;
	struct buf url; /* the URL with secrets masked */
	enum call_state state;
	unsigned tries;
	struct http_call *http; /* non-NULL iff an attempt is running */
	struct account_call *account;
	struct token_request *token_request;
	size_t header_count; /* of the headers that all attempts share */
	char *token;         /* of the account or the command, in the last attempt; NULL: none */
	bool is_token_new;   /* the token was refreshed after a server had refused another */
	bool is_refused;     /* a server has refused the token */
	struct model_exchange exchange;
	uint64_t heard_at; /* loop time of the last byte */
	struct loop_timer *timer;
	bool is_paused;
	bool is_closed; /* lingering after the end mark of the stream */
	unsigned depth; /* depth of functions that call the handler; the call is freed when the outermost one returns */
	bool is_over;   /* the handler is no longer called */
	struct model_error refusal;
};

/* ---- the end of a call ---- */

static void forget_token(struct model_call *call)
{
	if (call->token)
		explicit_bzero(call->token, strlen(call->token));
	free(steal(call->token));
}

static void call_destroy(struct model_call *call)
{
	list_remove(&call->link);
	http_call_cancel(call->http);
	account_cancel(call->account);
	token_request_cancel(call->token_request);
	forget_token(call);
	loop_timer_destroy(call->timer);
	model_exchange_finish(&call->exchange);
	model_request_finish(&call->request);
	buf_finish(&call->url);
	free(call);
}

static void call_enter(struct model_call *call)
{
	call->depth++;
}

/* Returns false if the call has ended; it must not be accessed then. */
static bool call_leave(struct model_call *call)
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
	http_call_cancel(steal(call->http));
	account_cancel(steal(call->account));
	token_request_cancel(steal(call->token_request));
	if (call->depth == 0)
		call_destroy(call);
}

static void call_end(struct model_call *call, const struct model_error *error)
{
	call_enter(call);
	call->is_over = true;
	http_call_cancel(steal(call->http));
	call->handler->on_done(error, call->self);
	call_leave(call);
}

static void call_fail(struct model_call *call, struct model_error *error)
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
	model_error_advise(error, &place);
	call_end(call, error);
}

/* ---- one attempt ---- */

static void call_try(struct model_call *call);
static void call_sign(struct model_call *call);

/* A local server that is not running will not start during retries, so the call fails at once. */
static bool is_not_started(const struct model_call *call, const struct error *cause)
{
	return call->client->provider->start && cause && cause->code == ERR_connect;
}

/* Ends an attempt: delivers the outcome or schedules the next attempt. */
static void call_settle(struct model_call *call, const struct error *cause)
{
	struct model_error error;
	call_enter(call);
	enum model_outcome outcome = model_exchange_end(&call->exchange, cause, buf_str(&call->url), &error);
	if (!call_leave(call))
		return;
	if (outcome == MODEL_OUTCOME_repeat && is_not_started(call, cause)) {
		model_error_from_absence(&error, cause);
		outcome = MODEL_OUTCOME_failed;
	}
	if (outcome == MODEL_OUTCOME_completed) {
		call_end(call, NULL);
	} else if (error.http_status == 401 && call->token && !call->is_token_new) {
		call->is_refused = true;
		call_sign(call);
	} else if (error.http_status == 401 && call->token) {
		error.is_retryable = false; /* a new token was refused, too */
		call_fail(call, &error);
	} else if (outcome == MODEL_OUTCOME_repeat && call->tries <= call->client->provider->request_max_retries) {
		call->state = CALL_WAITING;
		loop_timer_start(call->timer, (uint64_t)model_backoff_ms(call->tries, model_backoff_random()));
	} else {
		call_fail(call, &error);
	}
}

static bool on_http_head(int status, const struct http_head *head, void *self)
{
	struct model_call *call = self;
	call_enter(call);
	model_exchange_head(&call->exchange, status, head);
	return call_leave(call);
}

static void on_http_data(struct str bytes, void *self)
{
	struct model_call *call = self;
	struct error err;
	call_enter(call);
	bool is_sound = model_exchange_data(&call->exchange, bytes, &err);
	if (!call_leave(call))
		return;
	if (!is_sound) {
		http_call_cancel(steal(call->http));
		call_settle(call, &err);
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
	call_settle(call, err);
}

static const struct http_handler http_handler = {on_http_head, on_http_data, on_http_done};

static void call_send(struct model_call *call)
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
	model_exchange_init(&call->exchange, &call->request, &call->client->secrets, call->handler->on_event,
	                    call->self);
	call->state = CALL_TRYING;
	call->tries++;
	call->is_closed = false;
	call->heard_at = uv_now(loop_uv(call->client->loop));
	call->http = http_call_start(call->client->http, &request, &http_handler, call);
	if (call->is_paused)
		http_call_pause(call->http);
	loop_timer_start(call->timer, provider->stream_idle_timeout_ms);
}

/* ---- tokens ---- */

static void add_token(struct model_call *call, const struct account_token *token)
{
	struct model_client *client = call->client;
	if (!client->account_id && token->account_id.ptr)
		client->account_id = str_dup(token->account_id);
	if (!call->token || !str_is(token->access_token, call->token))
		model_secrets_add(&client->secrets, token->access_token);
	forget_token(call);
	call->token = str_dup(token->access_token);
	call->is_token_new = call->is_refused && token->is_new;
	call->is_refused = false;
	call->request.headers.count = call->header_count;
	vec_push(&call->request.headers,
	         str_of(arena_printf(&call->request.arena, "Authorization: Bearer %s", call->token)));
	if (token->account_id.ptr)
		model_request_add_header(&call->request, "chatgpt-account-id", token->account_id);
}

static void on_account(const struct account_token *token, const struct error *err, void *self)
{
	struct model_call *call = self;
	struct model_error error;
	call->account = NULL;
	if (token) {
		add_token(call, token);
		call_send(call);
		return;
	}
	model_error_set(&error, MODEL_ERROR_unauthorized, str_of(err->text));
	call_fail(call, &error);
}

static void on_command(const struct account_token *token, const struct error *err, void *self)
{
	struct model_call *call = self;
	struct model_error error;
	call->token_request = NULL;
	if (token) {
		add_token(call, token);
		call_send(call);
		return;
	}
	model_error_set(&error, MODEL_ERROR_no_token, str_of(err->text));
	call_fail(call, &error);
}

/* Obtains a token, another one if a server has refused it. */
static void call_sign(struct model_call *call)
{
	const struct model_client *client = call->client;
	struct str refused = call->is_refused ? str_of(call->token) : STR_NONE;
	call->state = CALL_SIGNING;
	loop_timer_stop(call->timer);
	if (client->provider->auth_command) {
		call->token_request = token_command_get(accounts_commands(client->accounts),
		                                        client->provider->auth_command, refused, on_command, call);
		return;
	}
	struct account_request request = {
		.place = {client->provider->auth_home, client->provider->auth_store},
		.refused = refused,
		.account_id = str_of(client->account_id),
	};
	call->account = account_get(client->accounts, &request, on_account, call);
}

static void call_try(struct model_call *call)
{
	if (call->client->provider->uses_account || call->client->provider->auth_command)
		call_sign(call);
	else
		call_send(call);
}

void model_call_pause(struct model_call *call)
{
	call->is_paused = true;
	if (call->http)
		http_call_pause(call->http);
}

void model_call_resume(struct model_call *call)
{
	call->is_paused = false;
	call->heard_at = uv_now(loop_uv(call->client->loop));
	if (call->http)
		http_call_resume(call->http);
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
	call_fail(call, &error);
}

static void on_timer(void *self)
{
	struct model_call *call = self;
	switch (call->state) {
	case CALL_REFUSED:
		call_fail(call, &call->refusal);
		break;
	case CALL_WAITING:
		call_try(call);
		break;
	case CALL_SIGNING:
		break;
	case CALL_TRYING:
		give_up_on_silence(call);
		break;
	case CALL_LINGERING:
		http_call_cancel(steal(call->http));
		call_settle(call, NULL);
		break;
	}
}

/* ---- the start ---- */

static struct str agent_header(struct model_client *client)
{
	if (!client->agent_header.ptr) {
		auto_buf struct buf text;
		buf_init(&text, LIMIT_HTTP_HEAD);
		user_agent_write(&text, &client->agent);
		client->agent_header = arena_str(&client->arena, buf_str(&text));
	}
	return client->agent_header;
}

static void add_headers(struct model_call *call)
{
	struct model_client *client = call->client;
	const struct model_provider *provider = client->provider;
	model_request_add_header(&call->request, "originator", client->agent.originator);
	model_request_add_header(&call->request, "user-agent", agent_header(client));
	for (size_t i = 0; i < provider->header_count; i++)
		vec_push(&call->request.headers, provider->headers[i]);
	if (provider->authorization)
		vec_push(&call->request.headers, str_of(provider->authorization));
	call->header_count = call->request.headers.count;
}

/* Prepares the request, which all attempts share. */
static int call_prepare(struct model_call *call, const struct model_prompt *prompt, struct model_error *ret_error)
{
	struct error err;
	struct model_prompt stored = *prompt;
	stored.wire = call->client->provider->wire;
	stored.provider = str_of(call->client->provider->id);
	stored.max_output_tokens = call->client->provider->max_output_tokens;
	stored.service_tier = str_of(call->client->provider->service_tier);
	stored.is_stored = !prompt->is_private && (prompt->is_stored || call->client->provider->stores_responses);
	if (model_request_init(&call->request, &stored, &err) < 0) {
		model_error_set(ret_error, MODEL_ERROR_setup, str_of(err.text));
		return -(int)err.code;
	}
	add_headers(call);
	return 0;
}

struct model_call *model_client_stream(struct model_client *client, const struct model_prompt *prompt,
                                       const struct model_handler *handler, void *self)
{
	struct model_call *call = xnew(struct model_call);
	call->client = client;
	call->handler = handler;
	call->self = self;
	call->timer = loop_timer_create(client->loop, on_timer, call);
	list_append(&client->calls, &call->link);
	buf_init(&call->url, LIMIT_HTTP_HEAD);
	http_url_append_public(&call->url, str_of(client->provider->url));
	if (call_prepare(call, prompt, &call->refusal) < 0)
		loop_timer_start(call->timer, 0);
	else
		call_try(call);
	return call;
}

/* ---- the client ---- */

struct model_client *model_client_create(const struct model_client_options *options)
{
	struct model_client *client = xnew(struct model_client);
	client->loop = options->loop;
	client->http = options->http;
	client->accounts = options->accounts;
	client->provider = options->provider;
	client->agent = (struct user_agent){
		.originator = arena_str(&client->arena, options->agent.originator),
		.version = arena_str(&client->arena, options->agent.version),
		.terminal = arena_str(&client->arena, options->agent.terminal),
		.client = arena_str(&client->arena, options->agent.client),
		.client_version = arena_str(&client->arena, options->agent.client_version),
	};
	list_init(&client->calls);
	model_secrets_init(&client->secrets, client->provider);
	return client;
}

void model_client_preconnect(struct model_client *client)
{
	const struct http_request request = {
		.url = client->provider->url,
		.client_certificate = client->provider->client_certificate,
		.client_key = client->provider->client_key,
		.connect_timeout_ms = LIMIT_CONNECT_MS,
	};
	http_client_preconnect(client->http, &request);
}

void model_client_destroy(struct model_client *client)
{
	if (!client)
		return;
	struct model_call *call;
	list_for_each(call, &client->calls, link)
		call_destroy(call);
	free(client->account_id);
	model_secrets_finish(&client->secrets);
	arena_finish(&client->arena);
	free(client);
}
