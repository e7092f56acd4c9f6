/* mcpServer/oauth/login: the request is answered when the URL for the browser is known. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/mcp_logins.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config.h"
#include "config/mcp_server.h"
#include "engine/codex/codex.h"
#include "mcp/mcp_pool.h"
#include "oauth/oauth_thread.h"

enum { LOGINS_MAX = 16, TIMEOUT_S = 300, TIMEOUT_MAX_S = 24 * 3600 };

struct mcp_logins {
	struct list pending;
	size_t count;
};

struct pending {
	struct list link;
	struct app_server *server;
	struct config *config; /* holds a reference */
	struct arena arena;    /* holds the settings of the MCP server, and the texts */
	const struct mcp_server *mcp;
	const char *scope;
	struct str thread_id;        /* or STR_NONE */
	struct rpc_request *request; /* not answered yet; NULL: answered, or the client has disconnected */
	struct oauth_thread *thread;
	char id[UUID_TEXT_SIZE];
};

static struct mcp_logins *logins_of(struct app_server *server)
{
	if (!server->mcp_logins) {
		server->mcp_logins = xnew(struct mcp_logins);
		list_init(&server->mcp_logins->pending);
	}
	return server->mcp_logins;
}

static void pending_destroy(struct pending *pending)
{
	oauth_thread_destroy(pending->thread);
	list_remove(&pending->link);
	config_unref(pending->config);
	arena_finish(&pending->arena);
	free(pending);
}

void mcp_logins_destroy(struct mcp_logins *logins)
{
	struct pending *it;
	if (!logins)
		return;
	list_for_each(it, &logins->pending, link)
		pending_destroy(it);
	free(logins);
}

/* ---- events ---- */

static void on_url(const char *url, void *self)
{
	struct pending *pending = self;
	struct app_mcp_server_oauth_login_response response = {str_of(url), str_of(pending->id)};
	struct rpc_request *request = steal(pending->request);
	if (request)
		rpc_reply(request, &response);
}

static void notify(const struct pending *pending, const struct error *err)
{
	struct app_mcp_server_oauth_login_completed_notification completed = {
		.name = pending->mcp->name,
		.thread_id = pending->thread_id,
		.login_id = str_of(pending->id),
		.success = !err,
		.error = err ? str_of(err->text) : STR_NONE,
	};
	app_server_notify(pending->server, NOTIFY_mcp_server_oauth_login_completed, &completed);
}

static void on_done(const struct error *err, void *self)
{
	struct pending *pending = self;
	struct rpc_request *request = steal(pending->request);
	if (request && err)
		rpc_fail_with(request, err);
	else
		notify(pending, err);
	if (!err)
		mcp_pool_retry(services_mcp(pending->server->services), pending->mcp->name);
	pending->server->mcp_logins->count--;
	pending_destroy(pending);
}

static void on_cancel(struct rpc_request *request)
{
	((struct pending *)request->self)->request = NULL;
}

/* ---- the start ---- */

static const struct mcp_server *find_server(struct pending *pending, struct str name)
{
	size_t count = 0;
	struct config_binder binder = config_binder(pending->config, &pending->arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, pending->config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		if (str_eq(servers[i].name, name))
			return &servers[i];
	}
	return NULL;
}

static const char *join_scopes(struct arena *arena, const struct str *scopes, size_t count)
{
	const char *joined = NULL;
	for (size_t i = 0; i < count; i++)
		joined = arena_printf(arena, "%s%s%.*s", joined ? joined : "", joined ? " " : "", STR_ARG(scopes[i]));
	return joined;
}

static uint64_t timeout_ms(const struct app_mcp_server_oauth_login_params *params)
{
	int64_t seconds = params->has_timeout_secs && params->timeout_secs > 0 ? params->timeout_secs : TIMEOUT_S;
	return 1000 * (uint64_t)(seconds < TIMEOUT_MAX_S ? seconds : TIMEOUT_MAX_S);
}

static struct pending *pending_create(struct rpc_request *request,
                                      const struct app_mcp_server_oauth_login_params *params, struct config *config)
{
	struct pending *pending = xnew(struct pending);
	pending->server = request->server;
	pending->config = config_ref(config);
	pending->thread_id = params->thread_id.ptr ? arena_str(&pending->arena, params->thread_id) : STR_NONE;
	pending->scope = join_scopes(&pending->arena, params->scopes, params->scopes_count);
	pending->mcp = find_server(pending, params->name);
	list_init(&pending->link);
	uuid_v7(pending->id);
	return pending;
}

static enum rpc_verdict refuse(struct rpc_request *request, struct pending *pending, const struct error *err)
{
	enum rpc_verdict verdict = rpc_fail(request, APP_INVALID_REQUEST, "%s", err->text);
	pending_destroy(pending);
	return verdict;
}

static int begin(struct pending *pending, const struct app_mcp_server_oauth_login_params *params, struct error *err)
{
	static const struct oauth_thread_events events = {on_url, on_done};
	if (!pending->mcp)
		return error_set(err, ERR_not_found, "No MCP server named '%.*s' found.", STR_ARG(params->name));
	if (pending->mcp->transport != MCP_TRANSPORT_http)
		return error_set(err, ERR_unsupported, "OAuth login is only supported for streamable HTTP servers.");
	if (logins_of(pending->server)->count == LOGINS_MAX)
		return error_set(err, ERR_limit, "%d logins wait for the user already", LOGINS_MAX);
	const struct oauth_login_options options = {
		.config = pending->config,
		.server = pending->mcp,
		.scope = pending->scope,
		.timeout_ms = timeout_ms(params),
	};
	pending->thread = oauth_thread_start(pending->server->loop, &options, &events, pending, err);
	return pending->thread ? 0 : -(int)err->code;
}

enum rpc_verdict on_rpc_mcp_server_oauth_login(struct rpc_request *request,
                                               const struct app_mcp_server_oauth_login_params *params)
{
	struct app_server *server = request->server;
	struct thread *thread = params->thread_id.ptr ? threads_find(server, params->thread_id) : NULL;
	struct error err;
	if (params->thread_id.ptr && !thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	struct pending *pending = pending_create(request, params, thread ? thread->config : server->config);
	if (begin(pending, params, &err) != 0)
		return refuse(request, pending, &err);
	pending->request = request;
	logins_of(server)->count++;
	list_append(&logins_of(server)->pending, &pending->link);
	return rpc_wait(request, on_cancel, pending);
}
