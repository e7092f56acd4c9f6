/* gitDiffToRemote: an older method that clients use to copy a work tree to another machine. */
#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/rpc_request.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"
#include "config/config.h"
#include "workspace/git_delta.h"

static void on_cancel(struct rpc_request *request)
{
	git_delta_destroy(request->self);
}

static enum rpc_verdict refuse(struct rpc_request *request, const struct error *err)
{
	const struct app_git_diff_to_remote_params *params = request->params;
	return rpc_fail(request, APP_INVALID_REQUEST, "failed to compute git diff to remote for cwd: \"%.*s\": %s",
	                STR_ARG(params->cwd), err->text);
}

static void on_done(struct str sha, struct str patch, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	struct git_delta *delta = request->self;
	struct app_git_diff_to_remote_response response = {sha, patch};
	if (err)
		refuse(request, err);
	else
		rpc_reply(request, &response);
	git_delta_destroy(delta);
}

enum rpc_verdict on_rpc_git_diff_to_remote(struct rpc_request *request,
                                           const struct app_git_diff_to_remote_params *params)
{
	struct app_server *server = request->server;
	if (params->cwd.len && memchr(params->cwd.ptr, 0, params->cwd.len))
		return rpc_fail(request, APP_INVALID_REQUEST, "file name contained an unexpected NUL byte");
	auto_free char *given = str_dup(params->cwd), *cwd = path_join(server->cwd, given);
	const char *home = config_home(server->config);
	return rpc_wait(request, on_cancel, git_delta_create(server->loop, home, cwd, on_done, request));
}
