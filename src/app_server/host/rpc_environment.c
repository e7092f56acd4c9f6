/* environment/info and environment/status: commands run on this machine, which is called local, and on no other. */
#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "command/shell.h"

static const char here[] = "local";

enum rpc_verdict on_rpc_environment_info(struct rpc_request *request, const struct app_environment_info_params *params)
{
	const char *path = shell_user();
	struct app_environment_shell_info shell = {str_of(shell_base_name(path)), str_of(path)};
	struct app_environment_info_response response = {.shell = &shell};
	if (!str_is(params->environment_id, here))
		return rpc_fail(request, APP_INVALID_REQUEST, "unknown environment id `%.*s`",
		                STR_ARG(params->environment_id));
	response.cwd = str_of(arena_printf(&request->arena, "file://%s", request->server->cwd));
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_environment_status(struct rpc_request *request,
                                           const struct app_environment_status_params *params)
{
	struct app_environment_status_response response = {.status = app_environment_status_kind_ready};
	if (!str_is(params->environment_id, here)) {
		response.status = app_environment_status_kind_unknown;
		response.error = str_of(arena_printf(&request->arena, "unknown environment id `%.*s`",
		                                     STR_ARG(params->environment_id)));
	}
	return rpc_reply(request, &response);
}
