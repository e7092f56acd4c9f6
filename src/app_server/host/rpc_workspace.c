/* Methods that read a work tree: fuzzyFileSearch, as a single search and as a session whose query changes, and
 * gitDiffToRemote. */
#include "app_server/rpc/server.h"

#include <string.h>

#include "app_server/host/client_search.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "workspace/git_delta.h"

static const struct rpc_error *check_room(struct rpc_request *request, size_t root_count)
{
	if (root_count > LIMIT_SEARCH_ROOTS)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "%zu folders are too many to search; the maximum is %d", root_count,
		                 LIMIT_SEARCH_ROOTS);
	if (client_search_count(request->connection) >= LIMIT_CLIENT_SEARCHES)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "this connection runs %d searches already; stop one first", LIMIT_CLIENT_SEARCHES);
	return NULL;
}

/* ---- once ---- */

static void on_found(struct client_search *search, bool is_complete, void *self)
{
	struct rpc_request *request = self;
	struct app_fuzzy_file_search_response response = {0};
	auto_arena struct arena arena = {0};
	if (!is_complete)
		return;
	client_search_files(search, &arena, &response.files, &response.files_count);
	rpc_reply(request, &response);
	client_search_destroy(search);
}

static void on_cancel(struct rpc_request *request)
{
	client_search_destroy(request->self);
}

/* Cancels the earlier search with the same cancellationToken. */
static void cut_earlier(const struct rpc_request *request, struct str token)
{
	struct rpc_request *it;
	list_for_each(it, &request->connection->requests, link) {
		const struct app_fuzzy_file_search_params *params = it->params;
		if (it == request || it->method != request->method || !it->is_waiting)
			continue;
		if (params->cancellation_token.ptr && str_eq(params->cancellation_token, token))
			client_search_cut(it->self);
	}
}

enum rpc_verdict on_rpc_fuzzy_file_search(struct rpc_request *request,
                                          const struct app_fuzzy_file_search_params *params)
{
	struct app_fuzzy_file_search_response response = {0};
	if (params->cancellation_token.ptr)
		cut_earlier(request, params->cancellation_token);
	if (params->query.len == 0 || params->roots_count == 0)
		return rpc_reply(request, &response);
	const struct rpc_error *error = check_room(request, params->roots_count);
	if (error)
		return rpc_refuse(request, error);
	struct client_search *search = client_search_create(request->connection, STR_NONE, params->roots,
	                                                    params->roots_count, on_found, request);
	client_search_ask(search, params->query);
	return rpc_wait(request, on_cancel, search);
}

/* ---- sessions ---- */

static void on_progress(struct client_search *search, bool is_complete, void *self)
{
	struct connection *client = self;
	auto_arena struct arena arena = {0};
	if (!client_search_query(search).ptr) /* the session has no query yet */
		return;
	struct app_fuzzy_file_search_session_updated_notification updated = {
		.session_id = client_search_id(search),
		.query = client_search_query(search),
	};
	struct app_fuzzy_file_search_session_completed_notification completed = {client_search_id(search)};
	if (client_search_files(search, &arena, &updated.files, &updated.files_count) || is_complete)
		connection_notify(client, NOTIFY_fuzzy_file_search_session_updated, &updated);
	if (is_complete)
		connection_notify(client, NOTIFY_fuzzy_file_search_session_completed, &completed);
}

enum rpc_verdict on_rpc_fuzzy_file_search_session_start(struct rpc_request *request,
                                                        const struct app_fuzzy_file_search_session_start_params *params)
{
	struct app_fuzzy_file_search_session_start_response response = {0};
	struct connection *client = request->connection;
	if (params->session_id.len == 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "sessionId must not be empty");
	if (params->roots_count == 0)
		return rpc_fail(request, APP_INTERNAL_ERROR,
		                "failed to start fuzzy file search session: at least one search directory is required");
	client_search_destroy(client_search_find(client, params->session_id));
	const struct rpc_error *error = check_room(request, params->roots_count);
	if (error)
		return rpc_refuse(request, error);
	struct client_search *search = client_search_create(client, params->session_id, params->roots,
	                                                    params->roots_count, on_progress, client);
	client_search_ask(search, STR_NONE);
	return rpc_reply(request, &response);
}

enum rpc_verdict
on_rpc_fuzzy_file_search_session_update(struct rpc_request *request,
                                        const struct app_fuzzy_file_search_session_update_params *params)
{
	struct app_fuzzy_file_search_session_update_response response = {0};
	struct client_search *search = client_search_find(request->connection, params->session_id);
	if (!search)
		return rpc_fail(request, APP_INVALID_REQUEST, "fuzzy file search session not found: %.*s",
		                STR_ARG(params->session_id));
	client_search_ask(search, params->query);
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_fuzzy_file_search_session_stop(struct rpc_request *request,
                                                       const struct app_fuzzy_file_search_session_stop_params *params)
{
	struct app_fuzzy_file_search_session_stop_response response = {0};
	client_search_destroy(client_search_find(request->connection, params->session_id));
	return rpc_reply(request, &response);
}

/* ---- gitDiffToRemote ---- */

/* gitDiffToRemote is an older method by which clients copy a work tree to another machine. */
static void on_diff_cancel(struct rpc_request *request)
{
	git_delta_destroy(request->self);
}

static enum rpc_verdict refuse_diff(struct rpc_request *request, const struct error *err)
{
	const struct app_git_diff_to_remote_params *params = request->params;
	return rpc_fail(request, APP_INVALID_REQUEST, "failed to compute git diff to remote for cwd: \"%.*s\": %s",
	                STR_ARG(params->cwd), err->text);
}

static void on_diff(struct str sha, struct str patch, const struct error *err, void *self)
{
	struct rpc_request *request = self;
	struct git_delta *delta = request->self;
	struct app_git_diff_to_remote_response response = {sha, patch};
	if (err)
		refuse_diff(request, err);
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
	return rpc_wait(request, on_diff_cancel, git_delta_create(server->loop, home, cwd, on_diff, request));
}
