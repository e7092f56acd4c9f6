/* Environment variables are consulted in the order of config/model_provider.c: a key in CODEX_API_KEY precedes a login,
 * one in OPENAI_API_KEY precedes a stored key only. Claims of the tokens come from outside, so a plan that clients do
 * not know is reported as unknown. */
#include "app_server/settings/account_view.h"

#include <string.h>

#include "account/account_store.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "protocol/message/app.h"

bool account_is_wanted(const struct config *config)
{
	const struct toml *table =
		toml_find(toml_get(config_tree(config), "model_providers"), str_of(config->model_provider));
	const struct toml *wanted = toml_get(table, "requires_openai_auth");
	if (toml_is(wanted, TOML_bool))
		return wanted->boolean;
	return strcmp(config->model_provider, "openai") == 0 && !toml_get(table, "env_key");
}

static bool find_variable(const char *name, struct auth *ret)
{
	const char *value = config_env(name);
	struct str key;
	if (!value || !auth_check_key(str_of(value), &key))
		return false;
	auth_finish(ret);
	*ret = (struct auth){.kind = AUTH_api_key, .api_key = str_dup(key)};
	return true;
}

void account_find(const struct config *config, struct auth *ret)
{
	*ret = (struct auth){0};
	if (find_variable("CODEX_API_KEY", ret))
		return;
	if (auth_find(auth_place_of(config), ret, NULL) != 0)
		auth_finish(ret);
	if (!account_is_chatgpt(ret))
		find_variable("OPENAI_API_KEY", ret);
}

static struct str known_plan(struct str plan)
{
	int value;
	return plan.len && enum_parse(&enum_app_plan_type, plan, &value) ? str_of(enum_wire(&enum_app_plan_type, value))
	                                                                 : STR("unknown");
}

struct account_view account_view_make(const struct auth *auth, struct arena *arena)
{
	struct id_claims claims = {0};
	if (auth->kind == AUTH_api_key)
		return (struct account_view){.mode = STR("apikey")};
	if (!account_is_chatgpt(auth))
		return (struct account_view){0};
	if (auth->kind == AUTH_personal)
		return (struct account_view){
			.mode = STR("personalAccessToken"),
			.plan = known_plan(str_of(auth->plan)),
			.email = arena_str(arena, str_of(auth->email)),
		};
	const char *token = auth->id_token && auth->id_token[0] ? auth->id_token : auth->access_token;
	if (!token || !auth_read_claims(arena, str_of(token), &claims))
		claims = (struct id_claims){0};
	return (struct account_view){
		.mode = auth->kind == AUTH_client ? STR("chatgptAuthTokens") : STR("chatgpt"),
		.plan = known_plan(auth->plan ? str_of(auth->plan) : claims.plan),
		.email = claims.email,
		.user_id = claims.user_id,
	};
}

/* ---- the keyring ---- */

struct account_wait {
	struct settings_job job;
	struct rpc_request *request; /* NULL after the client has disconnected */
	struct account_fetch *fetch;
};

/* A request whose `self` is this has waited. */
static char fetched;

static void on_cancel(struct rpc_request *request)
{
	((struct account_wait *)request->self)->request = NULL;
}

static void on_fetched(void *self)
{
	struct account_wait *wait = self;
	struct rpc_request *request = wait->request;
	settings_job_finish(&wait->job);
	free(wait);
	if (!request)
		return;
	request->self = &fetched;
	rpc_request_run_again(request);
}

static void on_server_end(struct settings_job *job)
{
	struct account_wait *wait = container_of(job, struct account_wait, job);
	account_fetch_cancel(wait->fetch);
	free(wait);
}

bool account_must_wait(struct rpc_request *request)
{
	struct app_server *server = request->server;
	struct auth_place place = auth_place_of(server->config);
	if (request->self == &fetched || !auth_store_is_slow(place))
		return false;
	struct account_wait *wait = xnew(struct account_wait);
	wait->fetch = account_store_fetch(server->loop, place, on_fetched, wait);
	if (!wait->fetch) { /* a worker has just found that there is no keyring */
		free(wait);
		return false;
	}
	wait->request = request;
	wait->job.on_end = on_server_end;
	settings_job_init(&wait->job, server);
	rpc_wait(request, on_cancel, wait);
	return true;
}

enum rpc_verdict account_refuse(struct rpc_request *request, const char *what)
{
	auto_auth struct auth auth = {0};
	if (account_must_wait(request))
		return RPC_WAIT;
	account_find(request->server->config, &auth);
	if (account_is_chatgpt(&auth))
		return rpc_fail(request, APP_INVALID_REQUEST, "This version of Codex cannot ask ChatGPT %s.", what);
	return rpc_fail(request, APP_INVALID_REQUEST, "%s authentication required %s",
	                auth.kind == AUTH_none ? "codex account" : "chatgpt", what);
}
