/* Methods that need a ChatGPT login return the errors of codex 0.169 with an API key, or without an account. */
#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/account_login.h"
#include "app_server/settings/account_view.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_required.h"
#include "loop/lane.h"

/* ---- who ---- */

enum rpc_verdict on_rpc_account_read(struct rpc_request *request, const struct app_get_account_params *params)
{
	const struct config *config = request->server->config;
	struct app_get_account_response response = {.requires_openai_auth = account_is_wanted(config)};
	auto_auth struct auth auth = {0};
	(void)params;
	if (account_must_wait(request))
		return RPC_WAIT;
	if (response.requires_openai_auth)
		account_find(config, &auth);
	struct account_view view = account_view_make(&auth, &request->arena);
	struct app_account_chatgpt chatgpt = {.email = view.email, .plan_type = view.plan};
	struct app_account account = {.tag = app_account_api_key};
	if (account_is_chatgpt(&auth))
		account = (struct app_account){.tag = app_account_chatgpt, .chatgpt = &chatgpt};
	if (view.mode.ptr)
		response.account = &account;
	response.user_id = view.user_id;
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_get_auth_status(struct rpc_request *request, const struct app_get_auth_status_params *params)
{
	const struct config *config = request->server->config;
	bool is_wanted = account_is_wanted(config);
	struct app_get_auth_status_response response = {.has_requires_openai_auth = true,
	                                                .requires_openai_auth = is_wanted};
	auto_auth struct auth auth = {0};
	if (account_must_wait(request))
		return RPC_WAIT;
	if (is_wanted)
		account_find(config, &auth);
	response.auth_method = account_view_make(&auth, &request->arena).mode;
	if (params->has_include_token && params->include_token)
		response.auth_token = str_of(account_is_chatgpt(&auth) ? auth.access_token : auth.api_key);
	return rpc_reply(request, &response);
}

/* ---- in ---- */

struct login_job {
	struct settings_job job;
	struct rpc_request *request; /* NULL after the client has disconnected */
	enum credentials_store store;
	char *home, *key;
	struct error err;
};

static void on_login_cancel(struct rpc_request *request)
{
	((struct login_job *)request->self)->request = NULL;
}

static void on_login_work(void *self)
{
	struct login_job *job = self;
	best_effort(auth_write_api_key((struct auth_place){job->home, job->store}, str_of(job->key), &job->err));
}

static void notify_login(struct app_server *server)
{
	struct app_account_login_completed_notification completed = {.success = true};
	struct app_account_updated_notification updated = {.auth_mode = STR("apikey")};
	app_server_notify(server, NOTIFY_account_login_completed, &completed);
	app_server_notify(server, NOTIFY_account_updated, &updated);
}

static void on_login_done(void *self)
{
	struct login_job *job = self;
	struct app_login_account_response response = {app_login_kind_api_key};
	bool is_stored = job->err.code == ERR_none;
	if (job->request && is_stored)
		rpc_reply(job->request, &response);
	else if (job->request)
		rpc_fail_with(job->request, &job->err);
	if (job->job.server && is_stored) /* other clients are notified although this one may have disconnected */
		notify_login(job->job.server);
	settings_job_finish(&job->job);
	explicit_bzero(job->key, strlen(job->key));
	free(job->key);
	free(job->home);
	free(job);
}

static enum rpc_verdict start_login(struct rpc_request *request, struct str key)
{
	struct login_job *job = xnew(struct login_job);
	*job = (struct login_job){
		.request = request,
		.home = xstrdup(config_home(request->server->config)),
		.store = request->server->config->cli_auth_credentials_store,
		.key = str_dup(key),
	};
	settings_job_init(&job->job, request->server);
	lane_run(request->server->loop, on_login_work, on_login_done, job);
	return rpc_wait(request, on_login_cancel, job);
}

static enum rpc_verdict login_with_key(struct rpc_request *request, const struct app_login_account_params *params)
{
	struct str key;
	if (!params->api_key.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "Invalid request: missing field `apiKey`");
	if (!auth_check_key(params->api_key, &key))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "invalid API key: it is empty or contains whitespace or control characters");
	return start_login(request, key);
}

enum rpc_verdict on_rpc_account_login_start(struct rpc_request *request, const struct app_login_account_params *params)
{
	enum login_method forced = request->server->config->forced_login_method;
	bool is_key = params->type == app_login_kind_api_key;
	const struct config_required *required = config_required(request->server->config);
	struct error err;
	if (config_required_check_login(required, is_key ? login_method_api : login_method_chatgpt, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "%s", err.text);
	if (is_key && forced == login_method_chatgpt)
		return rpc_fail(request, APP_INVALID_REQUEST, "API key login is disabled. Use ChatGPT login instead.");
	if (is_key)
		return login_with_key(request, params);
	if (params->type != app_login_kind_chatgpt && params->type != app_login_kind_chatgpt_device_code &&
	    params->type != app_login_kind_chatgpt_auth_tokens)
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "This version of Codex has no login by `%s`. Log in with an API key: type `apiKey`.",
		                enum_wire(&enum_app_login_kind, (int)params->type));
	if (forced == login_method_api)
		return rpc_fail(request, APP_INVALID_REQUEST, "ChatGPT login is disabled. Use API key login instead.");
	if (params->type == app_login_kind_chatgpt_auth_tokens)
		return account_login_with_tokens(request, params);
	return account_login_start(request, params->type == app_login_kind_chatgpt_device_code);
}

enum rpc_verdict on_rpc_account_login_cancel(struct rpc_request *request,
                                             const struct app_cancel_login_account_params *params)
{
	struct app_cancel_login_account_response response = {app_cancel_login_account_status_not_found};
	if (!uuid_is_valid(params->login_id))
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid login id: %.*s", STR_ARG(params->login_id));
	if (account_login_cancel(request->server, params->login_id))
		response.status = app_cancel_login_account_status_canceled;
	return rpc_reply(request, &response);
}

/* ---- out ---- */

enum rpc_verdict on_rpc_account_logout(struct rpc_request *request, const struct app_nothing *params)
{
	(void)params;
	return account_logout(request);
}

/* ---- methods that need another kind of account ---- */

enum rpc_verdict
on_rpc_account_rate_limit_reset_credit_consume(struct rpc_request *request,
                                               const struct app_consume_account_rate_limit_reset_credit_params *params)
{
	(void)params;
	return account_refuse(request, "for rate limit reset credits");
}

enum rpc_verdict on_rpc_account_usage_read(struct rpc_request *request,
                                           const struct app_get_account_token_usage_params *params)
{
	(void)params;
	return account_refuse(request, "to read token usage");
}

enum rpc_verdict on_rpc_account_workspace_messages_read(struct rpc_request *request, const struct app_nothing *params)
{
	(void)params;
	return account_refuse(request, "to read workspace messages");
}

enum rpc_verdict
on_rpc_account_send_add_credits_nudge_email(struct rpc_request *request,
                                            const struct app_send_add_credits_nudge_email_params *params)
{
	(void)params;
	return account_refuse(request, "to notify workspace owner");
}

/* Apps need a ChatGPT account, too. */
enum rpc_verdict on_rpc_app_read(struct rpc_request *request, const struct app_apps_read_params *params)
{
	struct app_apps_read_response response = {
		.apps = STR("[]"),
		.missing_app_ids = params->app_ids,
		.missing_app_ids_count = params->app_ids_count,
	};
	return rpc_reply(request, &response);
}

/* ---- userVerification/enroll, delete, verify ---- */

/* Clients evaluate data; the message is for people. */
static enum rpc_verdict refuse_verification(struct rpc_request *request)
{
	return rpc_refuse(request, rpc_error_data(&request->arena, APP_INTERNAL_ERROR,
	                                          STR("{\"type\":\"unavailable\",\"reason\":\"providerUnavailable\"}"),
	                                          "User verification is not available in this build or account."));
}

enum rpc_verdict on_rpc_user_verification_enroll(struct rpc_request *request,
                                                 const struct app_user_verification_enroll_params *params)
{
	(void)params;
	return refuse_verification(request);
}

enum rpc_verdict on_rpc_user_verification_delete(struct rpc_request *request,
                                                 const struct app_user_verification_delete_params *params)
{
	(void)params;
	return refuse_verification(request);
}

enum rpc_verdict on_rpc_user_verification_verify(struct rpc_request *request,
                                                 const struct app_user_verification_verify_params *params)
{
	(void)params;
	return rpc_refuse(request, rpc_error_data(&request->arena, APP_INVALID_PARAMS,
	                                          STR("{\"type\":\"invalidRequest\",\"reason\":\"invalidParams\"}"),
	                                          "Invalid verification challenge or display text."));
}
