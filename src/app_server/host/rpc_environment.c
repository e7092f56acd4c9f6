/* environment/add registers a machine that has an exec-server; environment/info and environment/status ask it over a
 * new link, so they report whether it can be reached now. `local` is this machine. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"
#include "engine/codex/codex.h"
#include "remote/environments.h"
#include "remote/exec_link.h"

enum { PATIENCE_MS = 10 * LIMIT_ENVIRONMENT_ANSWER_MS };

#define UNKNOWN "unknown environment id `%.*s`"

static struct environment *find(const struct rpc_request *request, struct str id)
{
	return environments_find(services_environments(request->server->services), id);
}

/* ---- environment/add ---- */

enum rpc_verdict on_rpc_environment_add(struct rpc_request *request, const struct app_environment_add_params *params)
{
	struct error err;
	struct environment_words words = {
		.id = params->environment_id,
		.url = params->exec_server_url,
		.token = params->auth_bearer_token,
		.request_id = params->websocket_request_id,
		.connect_timeout_ms = LIMIT_ENVIRONMENT_CONNECT_MS,
	};
	if (params->has_connect_timeout_ms) {
		if (params->connect_timeout_ms < 0 || params->connect_timeout_ms > PATIENCE_MS)
			return rpc_fail(request, APP_INVALID_REQUEST, "connectTimeoutMs must be from 0 to %d",
			                PATIENCE_MS);
		words.connect_timeout_ms = (uint64_t)params->connect_timeout_ms;
	}
	if (params->skills && params->skills->required_count)
		return rpc_fail(request, APP_INVALID_REQUEST,
		                "skills of an environment are not supported; omit `skills.required`");
	if (environments_add(services_environments(request->server->services), &words, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "exec-server protocol error: %s", err.text);
	return rpc_reply_empty(request);
}

/* ---- environment/info, environment/status ---- */

static void on_cancel(struct rpc_request *request)
{
	exec_question_cancel(request->self);
}

static enum rpc_verdict ask(struct rpc_request *request, struct environment *environment, const char *method,
                            exec_question_fn on_done)
{
	return rpc_wait(request, on_cancel, exec_question_start(environment, method, on_done, request));
}

/* Returns a text of the server, which is not trusted; STR_NONE if it is too long. */
static struct str text_of(const struct json *json, const char *key)
{
	struct str text = json_get_str(json, key);
	return text.len > LIMIT_ENVIRONMENT_TEXT ? STR_NONE : text;
}

static void on_info(const struct json *result, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	const struct app_environment_info_params *params = request->params;
	struct exec_question *question = request->self;
	const struct json *info = json_get(result, "shell");
	struct app_environment_shell_info shell = {text_of(info, "name"), text_of(info, "path")};
	struct app_environment_info_response response = {&shell, text_of(result, "cwd")};
	if (!str_has_prefix(response.cwd, "file:///"))
		response.cwd = STR_NONE;
	if (shell.name.ptr && shell.path.ptr)
		rpc_reply(request, &response);
	else
		rpc_fail(request, APP_INTERNAL_ERROR, "failed to get info for environment `%.*s`: %s",
		         STR_ARG(params->environment_id), err ? err->text : "the server named no shell");
	exec_question_cancel(question);
}

enum rpc_verdict on_rpc_environment_info(struct rpc_request *request, const struct app_environment_info_params *params)
{
	const char *path = shell_user();
	struct app_environment_shell_info shell = {str_of(shell_base_name(path)), str_of(path)};
	struct app_environment_info_response response = {.shell = &shell};
	struct environment *environment = find(request, params->environment_id);
	if (environment)
		return ask(request, environment, "environment/info", on_info);
	if (!str_is(params->environment_id, ENVIRONMENT_LOCAL))
		return rpc_fail(request, APP_INVALID_REQUEST, UNKNOWN, STR_ARG(params->environment_id));
	response.cwd = str_of(arena_printf(&request->arena, "file://%s", request->server->cwd));
	return rpc_reply(request, &response);
}

static void on_status(const struct json *result, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	struct exec_question *question = request->self;
	struct app_environment_status_response response = {.status = app_environment_status_kind_disconnected};
	int status = app_environment_status_kind_disconnected;
	struct str word = text_of(result, "status");
	response.error = err ? str_of(err->text) : text_of(result, "error");
	if (!err && !enum_parse(&enum_app_environment_status_kind, word, &status))
		response.error = STR("the server reported an unknown status");
	response.status = (enum app_environment_status_kind)status;
	rpc_reply(request, &response);
	exec_question_cancel(question);
}

enum rpc_verdict on_rpc_environment_status(struct rpc_request *request,
                                           const struct app_environment_status_params *params)
{
	struct app_environment_status_response response = {.status = app_environment_status_kind_ready};
	struct environment *environment = find(request, params->environment_id);
	if (environment)
		return ask(request, environment, "environment/status", on_status);
	if (!str_is(params->environment_id, ENVIRONMENT_LOCAL)) {
		response.status = app_environment_status_kind_unknown;
		response.error = str_of(arena_printf(&request->arena, UNKNOWN, STR_ARG(params->environment_id)));
	}
	return rpc_reply(request, &response);
}
