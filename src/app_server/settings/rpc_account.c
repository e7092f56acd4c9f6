/* The only kind of account is an API key: from the environment or auth.json, in the order in which requests look for
 * it. Methods that need another kind return the errors of codex 0.169 with an API key, or without an account. */
#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/auth.h"
#include "config/config.h"
#include "config/config_env.h"
#include "loop/loop.h"

/* ---- who ---- */

static bool wants_openai_auth(const struct config *config)
{
	const struct toml *table =
		toml_find(toml_get(config_tree(config), "model_providers"), str_of(config->model_provider));
	const struct toml *wanted = toml_get(table, "requires_openai_auth");
	if (toml_is(wanted, TOML_bool))
		return wanted->boolean;
	return strcmp(config->model_provider, "openai") == 0 && !toml_get(table, "env_key");
}

/* Finds the key that requests use; wipe it with auth_finish. Empty if the file cannot be read. */
static void find_key(const struct config *config, struct auth *ret)
{
	static const char *const variables[] = {"CODEX_API_KEY", "OPENAI_API_KEY"};
	struct str key;
	*ret = (struct auth){0};
	for (size_t i = 0; i < countof(variables); i++) {
		const char *value = config_env(variables[i]);
		if (!value || !auth_check_key(str_of(value), &key))
			continue;
		*ret = (struct auth){.kind = AUTH_api_key, .api_key = str_dup(key)};
		return;
	}
	if (auth_read(auth_place_of(config), ret, NULL) != 0)
		*ret = (struct auth){0};
}

enum rpc_verdict on_rpc_account_read(struct rpc_request *request, const struct app_get_account_params *params)
{
	const struct config *config = request->server->config;
	struct app_account account = {.tag = app_account_api_key};
	struct app_get_account_response response = {.requires_openai_auth = wants_openai_auth(config)};
	auto_auth struct auth auth = {0};
	(void)params;
	if (response.requires_openai_auth)
		find_key(config, &auth);
	if (auth.kind == AUTH_api_key)
		response.account = &account;
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_get_auth_status(struct rpc_request *request, const struct app_get_auth_status_params *params)
{
	const struct config *config = request->server->config;
	bool is_wanted = wants_openai_auth(config);
	struct app_get_auth_status_response response = {.has_requires_openai_auth = true,
	                                                .requires_openai_auth = is_wanted};
	auto_auth struct auth auth = {0};
	if (is_wanted)
		find_key(config, &auth);
	if (auth.kind == AUTH_api_key)
		response.auth_method = STR("apikey");
	if (auth.kind == AUTH_api_key && params->has_include_token && params->include_token)
		response.auth_token = str_of(auth.api_key);
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
	worker_run(request->server->loop, on_login_work, on_login_done, job);
	return rpc_wait(request, on_login_cancel, job);
}

enum rpc_verdict on_rpc_account_login_start(struct rpc_request *request, const struct app_login_account_params *params)
{
	struct str key;
	if (params->type != app_login_kind_api_key)
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "This version of Codex has no login by `%s`. Log in with an API key: type `apiKey`.",
		                enum_wire(&enum_app_login_kind, (int)params->type));
	if (!params->api_key.ptr)
		return rpc_fail(request, APP_INVALID_REQUEST, "Invalid request: missing field `apiKey`");
	if (!auth_check_key(params->api_key, &key))
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "invalid API key: it is empty or contains whitespace or control characters");
	return start_login(request, key);
}

/* A login with an API key needs no browser, so none is ever pending. */
enum rpc_verdict on_rpc_account_login_cancel(struct rpc_request *request,
                                             const struct app_cancel_login_account_params *params)
{
	struct app_cancel_login_account_response response = {app_cancel_login_account_status_not_found};
	if (!uuid_is_valid(params->login_id))
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid login id: %.*s", STR_ARG(params->login_id));
	return rpc_reply(request, &response);
}

/* ---- out ---- */

enum rpc_verdict on_rpc_account_logout(struct rpc_request *request, const struct app_nothing *params)
{
	struct app_server *server = request->server;
	struct app_logout_account_response response = {0};
	struct app_account_updated_notification updated = {0};
	struct error err;
	bool was_there;
	(void)params;
	if (auth_remove(auth_place_of(server->config), &was_there, &err) != 0)
		return rpc_fail_with(request, &err);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	app_server_notify(server, NOTIFY_account_updated, &updated);
	return verdict;
}

/* ---- methods that need another kind of account ---- */

static enum rpc_verdict refuse(struct rpc_request *request, const char *what)
{
	auto_auth struct auth auth = {0};
	find_key(request->server->config, &auth);
	return rpc_fail(request, APP_INVALID_REQUEST, "%s authentication required %s",
	                auth.kind == AUTH_none ? "codex account" : "chatgpt", what);
}

enum rpc_verdict on_rpc_account_rate_limits_read(struct rpc_request *request,
                                                 const struct app_get_account_rate_limits_params *params)
{
	(void)params;
	return refuse(request, "to read rate limits");
}

enum rpc_verdict
on_rpc_account_rate_limit_reset_credit_consume(struct rpc_request *request,
                                               const struct app_consume_account_rate_limit_reset_credit_params *params)
{
	(void)params;
	return refuse(request, "for rate limit reset credits");
}

enum rpc_verdict on_rpc_account_usage_read(struct rpc_request *request,
                                           const struct app_get_account_token_usage_params *params)
{
	(void)params;
	return refuse(request, "to read token usage");
}

enum rpc_verdict on_rpc_account_workspace_messages_read(struct rpc_request *request, const struct app_nothing *params)
{
	(void)params;
	return refuse(request, "to read workspace messages");
}

enum rpc_verdict
on_rpc_account_send_add_credits_nudge_email(struct rpc_request *request,
                                            const struct app_send_add_credits_nudge_email_params *params)
{
	(void)params;
	return refuse(request, "to notify workspace owner");
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
