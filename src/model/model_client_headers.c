/* A request says which program sends it, and with which credentials: a key, or a token of an account or a command,
 * which a server can refuse once before the call fails. */
#include "model/model_client_priv.h"

#include "account/account.h"
#include "account/token_command.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/auth.h"
#include "config/aws_key.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_list.h"
#include "net/aws_sign.h"

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

void model_call_add_headers(struct model_call *call, struct str slug)
{
	struct str model;
	struct model_client *client = call->client;
	const struct model_provider *provider = client->provider;
	model_request_add_header(&call->request, "originator", client->agent.originator);
	model_request_add_header(&call->request, "user-agent", agent_header(client));
	for (size_t i = 0; i < provider->header_count; i++)
		vec_push(&call->request.headers, provider->headers[i]);
	if (provider->authorization)
		vec_push(&call->request.headers, str_of(provider->authorization));
	if (provider->is_openai && provider->uses_account && auth_check_key(slug, &model))
		model_request_add_header(&call->request, "x-codex-routing-hint",
		                         str_of(arena_printf(&call->request.arena, "model=%.*s", STR_ARG(model))));
	call->header_count = call->request.headers.count;
}

/* ---- tokens ---- */

static void add_token(struct model_call *call, const struct account_token *token)
{
	struct model_client *client = call->client;
	if (!client->account_id && token->account_id.ptr)
		client->account_id = str_dup(token->account_id);
	if (!call->token || !str_is(token->access_token, call->token))
		model_secrets_add(&client->secrets, token->access_token);
	model_call_forget_token(call);
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
		struct model_client *client = call->client;
		add_token(call, token);
		model_call_send(call);
		if (!client->list)
			client->list = model_list_ask(client->loop, client->http, client->provider, token);
		return;
	}
	model_error_set(&error, MODEL_ERROR_unauthorized, str_of(err->text));
	model_call_fail(call, &error);
}

static void on_command(const struct account_token *token, const struct error *err, void *self)
{
	struct model_call *call = self;
	struct model_error error;
	call->token_request = NULL;
	if (token) {
		add_token(call, token);
		model_call_send(call);
		return;
	}
	model_error_set(&error, MODEL_ERROR_no_token, str_of(err->text));
	model_call_fail(call, &error);
}

void model_call_sign(struct model_call *call)
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
		.workspaces = &client->provider->workspaces,
	};
	call->account = account_get(client->accounts, &request, on_account, call);
}

void model_call_add_signature(struct model_call *call)
{
	const struct aws_key *key = call->client->provider->aws;
	if (!key)
		return;
	struct aws_signer signer = {key->id, key->secret, key->session, key->region, "bedrock-mantle"};
	struct model_request *request = &call->request;
	struct aws_signature signature =
		aws_sign(&signer, STR("POST"), str_of(call->client->provider->url), request->body.items,
	                 request->body.count, clock_unix_ms() / 1000, &request->arena);
	request->headers.count = call->header_count;
	vec_push(&request->headers, signature.date);
	vec_push(&request->headers, signature.authorization);
	if (signature.session.ptr)
		vec_push(&request->headers, signature.session);
}

void model_call_forget_token(struct model_call *call)
{
	if (call->token)
		explicit_bzero(call->token, strlen(call->token));
	free(steal(call->token));
}
