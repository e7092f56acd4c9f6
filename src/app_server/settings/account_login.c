/* The client that supplied tokens is asked for others when a server has refused them; only that client can know new
 * ones, so the request for them ends when it disconnects. */
#include "app_server/settings/account_login.h"

#include <string.h>

#include "account/account.h"
#include "account/login.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_ask.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/account_view.h"
#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/config_env.h"
#include "engine/codex/codex.h"
#include "loop/lane.h"

struct account_logins {
	struct app_server *server;
	struct list pending; /* struct pending */
	struct list logouts; /* struct logout */
};

struct pending {
	struct list link;
	struct app_server *server;
	struct config *config; /* holds a reference */
	struct login *login;
	struct rpc_request *request; /* not answered yet; NULL: answered, or the client has disconnected */
	bool is_device;
	char id[UUID_TEXT_SIZE];
};

struct logout {
	struct list link;
	struct app_server *server;   /* NULL: it has ended, while a worker removes the credentials */
	struct rpc_request *request; /* NULL: the client has disconnected */
	struct http_fetch *fetch;
	struct config *config; /* holds a reference */
	char *token;           /* to revoke, or NULL */
	struct error err;
	bool is_removing;
};

static void on_ask(struct accounts *accounts, struct str account_id, void *self);

static struct account_logins *logins_of(struct app_server *server)
{
	if (!server->logins) {
		server->logins = xnew(struct account_logins);
		server->logins->server = server;
		list_init(&server->logins->pending);
		list_init(&server->logins->logouts);
		accounts_set_client(services_accounts(server->services), on_ask, server);
	}
	return server->logins;
}

/* ---- reports ---- */

static void notify_updated(struct app_server *server)
{
	auto_auth struct auth auth = {0};
	auto_arena struct arena arena = {0};
	if (auth_read(auth_place_of(server->config), &auth, NULL) != 0)
		auth_finish(&auth);
	struct account_view view = account_view_make(&auth, &arena);
	struct app_account_updated_notification updated = {.auth_mode = view.mode, .plan_type = view.plan};
	app_server_notify(server, NOTIFY_account_updated, &updated);
}

static void notify_completed(struct app_server *server, struct str id, const char *why)
{
	struct app_account_login_completed_notification completed = {
		.login_id = id,
		.success = !why,
		.error = str_of(why),
	};
	app_server_notify(server, NOTIFY_account_login_completed, &completed);
}

/* ---- logins at the issuer ---- */

static void pending_destroy(struct pending *pending)
{
	list_remove(&pending->link);
	config_unref(pending->config);
	free(pending);
}

static void on_prompt(const struct login_prompt *prompt, void *self)
{
	struct pending *pending = self;
	struct app_login_account_response response = {
		.type = pending->is_device ? app_login_kind_chatgpt_device_code : app_login_kind_chatgpt,
		.login_id = str_of(pending->id),
		.auth_url = pending->is_device ? STR_NONE : str_of(prompt->url),
		.verification_url = pending->is_device ? str_of(prompt->url) : STR_NONE,
		.user_code = str_of(prompt->user_code),
	};
	struct rpc_request *request = steal(pending->request);
	if (request)
		rpc_reply(request, &response);
}

static void on_done(const struct error *err, void *self)
{
	struct pending *pending = self;
	struct app_server *server = pending->server;
	struct rpc_request *request = steal(pending->request);
	if (request)
		rpc_fail_with(request, err);
	else
		notify_completed(server, str_of(pending->id), err ? err->text : NULL);
	if (!err)
		notify_updated(server);
	pending_destroy(pending);
}

static void on_cancel(struct rpc_request *request)
{
	((struct pending *)request->self)->request = NULL;
}

enum rpc_verdict account_login_start(struct rpc_request *request, bool is_device)
{
	static const struct login_events events = {on_prompt, on_done};
	struct app_server *server = request->server;
	struct pending *pending = xnew(struct pending);
	pending->server = server;
	pending->config = config_ref(server->config);
	pending->request = request;
	pending->is_device = is_device;
	uuid_v7(pending->id);
	list_append(&logins_of(server)->pending, &pending->link);
	struct login_options options = {
		.loop = server->loop,
		.http = services_http(server->services),
		.place = auth_place_of(pending->config),
		.config = pending->config,
		.issuer = config_env("CODEX_APP_SERVER_LOGIN_ISSUER"),
		.client_id = config_env("CODEX_APP_SERVER_LOGIN_CLIENT_ID"),
		.originator = services_originator(server->services),
		.is_device = is_device,
	};
	pending->login = login_start(&options, &events, pending);
	return rpc_wait(request, on_cancel, pending);
}

bool account_login_cancel(struct app_server *server, struct str id)
{
	struct pending *it;
	if (!server->logins)
		return false;
	list_for_each(it, &server->logins->pending, link) {
		if (!str_is(id, it->id))
			continue;
		login_cancel(it->login);
		notify_completed(server, id, "Login was not completed");
		pending_destroy(it);
		return true;
	}
	return false;
}

/* ---- tokens of the client ---- */

static int store_tokens(const struct app_server *server, struct str token, struct str account, struct str plan,
                        struct error *err)
{
	struct str access_token, account_id;
	if (!auth_check_key(token, &access_token) || !auth_check_key(account, &account_id))
		return error_set(err, ERR_invalid,
		                 "accessToken or chatgptAccountId is empty or contains characters that cannot be sent");
	auto_auth struct auth auth = {
		.kind = AUTH_client,
		.access_token = str_dup(access_token),
		.account_id = str_dup(account_id),
		.plan = plan.len ? str_dup(plan) : NULL,
	};
	if (!auth_allows_workspace(&server->config->forced_chatgpt_workspace_id, auth.account_id, err))
		return -(int)ERR_denied;
	return auth_write(auth_place_of(server->config), &auth, err);
}

enum rpc_verdict account_login_with_tokens(struct rpc_request *request, const struct app_login_account_params *params)
{
	struct app_server *server = request->server;
	struct app_login_account_response response = {.type = app_login_kind_chatgpt_auth_tokens};
	struct error err;
	logins_of(server);
	if (!params->access_token.ptr || !params->chatgpt_account_id.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "Invalid request: missing field `%s`",
		                params->access_token.ptr ? "chatgptAccountId" : "accessToken");
	if (store_tokens(server, params->access_token, params->chatgpt_account_id, params->chatgpt_plan_type, &err) !=
	    0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	notify_completed(server, STR_NONE, NULL);
	notify_updated(server);
	return verdict;
}

static bool on_tokens(const struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	const struct app_chatgpt_auth_tokens_refresh_response *tokens = result;
	struct app_server *server = ask->owner;
	struct error err = {0};
	if (outcome != RPC_ASK_ANSWERED)
		error_set(&err, ERR_denied, "the client has no new access token");
	else if (store_tokens(server, tokens->access_token, tokens->chatgpt_account_id, tokens->chatgpt_plan_type,
	                      &err) == 0)
		err = (struct error){0};
	accounts_client_answer(services_accounts(server->services), err.code ? &err : NULL);
	return true;
}

/* Asks all clients: those that did not supply the tokens answer with an error. */
static void on_ask(struct accounts *accounts, struct str account_id, void *self)
{
	struct app_server *server = self;
	struct app_chatgpt_auth_tokens_refresh_params params = {
		.reason = app_chatgpt_auth_tokens_refresh_reason_unauthorized,
		.previous_account_id = account_id,
	};
	struct rpc_ask_options options = {
		.tag = ASK_account_chatgpt_auth_tokens_refresh,
		.params = &params,
		.owner = server,
		.key = STR("tokens"),
		.on_answer = on_tokens,
	};
	struct connection *client;
	struct error err;
	if (list_empty(&server->connections)) {
		error_set(&err, ERR_denied, "the client that supplied the access token has disconnected");
		accounts_client_answer(accounts, &err);
		return;
	}
	struct rpc_ask *ask = rpc_ask_open(&server->asks, &options);
	list_for_each(client, &server->connections, link)
		rpc_ask_send(ask, client);
}

/* ---- logout ---- */

static void on_logout_cancel(struct rpc_request *request)
{
	((struct logout *)request->self)->request = NULL;
}

static void logout_destroy(struct logout *logout)
{
	list_remove(&logout->link);
	http_fetch_cancel(logout->fetch);
	config_unref(logout->config);
	if (logout->token)
		explicit_bzero(logout->token, strlen(logout->token));
	free(logout->token);
	free(logout);
}

static void on_remove_work(void *self)
{
	struct logout *logout = self;
	bool was_there;
	best_effort(auth_remove(auth_place_of(logout->config), &logout->token, &was_there, &logout->err));
}

static void finish(struct logout *logout)
{
	struct app_server *server = logout->server;
	struct app_logout_account_response response = {0};
	struct app_account_updated_notification updated = {0};
	bool has_failed = logout->err.code;
	if (logout->request && has_failed)
		rpc_fail_with(logout->request, &logout->err);
	else if (logout->request)
		rpc_reply(logout->request, &response);
	if (server && !has_failed)
		app_server_notify(server, NOTIFY_account_updated, &updated);
	logout_destroy(logout);
}

static void on_revoked(int status, struct str body, const struct error *err, void *self)
{
	struct logout *logout = self;
	(void)status;
	(void)body;
	(void)err;
	logout->fetch = NULL;
	finish(logout);
}

static void on_removed(void *self)
{
	struct logout *logout = self;
	logout->is_removing = false;
	if (logout->token && logout->server)
		logout->fetch = login_revoke(services_http(logout->server->services),
		                             config_env("CODEX_APP_SERVER_LOGIN_CLIENT_ID"), str_of(logout->token),
		                             on_revoked, logout);
	else
		finish(logout);
}

enum rpc_verdict account_logout(struct rpc_request *request)
{
	struct app_server *server = request->server;
	struct logout *logout = xnew(struct logout);
	logout->server = server;
	logout->request = request;
	logout->config = config_ref(server->config);
	logout->is_removing = true;
	list_append(&logins_of(server)->logouts, &logout->link);
	lane_run(server->loop, on_remove_work, on_removed, logout);
	return rpc_wait(request, on_logout_cancel, logout);
}

/* ---- the end ---- */

void account_logins_destroy(struct account_logins *logins)
{
	struct pending *it;
	struct logout *logout;
	if (!logins)
		return;
	accounts_set_client(services_accounts(logins->server->services), NULL, NULL);
	list_for_each(it, &logins->pending, link) {
		login_cancel(it->login);
		pending_destroy(it);
	}
	list_for_each(logout, &logins->logouts, link) {
		logout->request = NULL;
		logout->server = NULL;
		if (logout->is_removing)
			list_remove(&logout->link);
		else
			logout_destroy(logout);
	}
	free(logins);
}
