/* The clients are those that the session gets from the pool afterwards, so nothing starts twice. */
#include "engine/codex/mcp_wait.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/mcp_server.h"
#include "engine/session/session_env.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_pool.h"
#include "protocol/message/message.h"

struct required_server {
	struct list link;
	struct mcp_wait *wait;
	char *name;
	struct mcp_client *client; /* NULL: its settings cannot be used */
	char *failure;
	bool is_pending;
	struct mcp_watcher watcher;
};

static void on_deferred(void *self)
{
	struct mcp_wait *wait = self;
	struct submission *held = steal(wait->held);
	if (!held)
		return;
	wait->on_ready(wait->self, held);
	submission_destroy(held);
}

void mcp_wait_init(struct mcp_wait *wait, const struct session_env *env,
                   void (*on_ready)(void *self, const struct submission *submission), void *self)
{
	*wait = (struct mcp_wait){.env = env, .on_ready = on_ready, .self = self};
	list_init(&wait->servers);
	loop_deferred_init(&wait->ready, env->loop, on_deferred, wait);
}

static bool is_any_pending(const struct mcp_wait *wait)
{
	const struct required_server *it;
	list_for_each(it, &wait->servers, link) {
		if (it->is_pending)
			return true;
	}
	return false;
}

static void on_change(struct mcp_watcher *watcher)
{
	struct required_server *server = container_of(watcher, struct required_server, watcher);
	enum mcp_state state = mcp_client_state(server->client);
	bool needs_login;
	if (!server->is_pending || (state != MCP_READY && state != MCP_FAILED))
		return;
	server->is_pending = false;
	if (state == MCP_FAILED)
		server->failure = xstrdup(mcp_client_failure(server->client, &needs_login));
	if (!is_any_pending(server->wait))
		loop_defer(&server->wait->ready);
}

static void add_server(struct mcp_wait *wait, const struct mcp_server *config, const char *cwd)
{
	struct error err;
	struct required_server *server = xnew(struct required_server);
	*server = (struct required_server){.wait = wait, .name = str_dup(config->name), .watcher.on_change = on_change};
	list_init(&server->link);
	list_init(&server->watcher.link);
	list_append(&wait->servers, &server->link);
	server->client = mcp_pool_get(wait->env->mcp, wait->env->config, config, cwd, &err);
	if (!server->client) {
		server->failure = xstrdup(err.text);
		return;
	}
	server->is_pending = mcp_client_state(server->client) != MCP_READY;
	mcp_client_watch(server->client, &server->watcher);
	if (server->is_pending)
		mcp_client_start(server->client);
}

bool mcp_wait_begin(struct mcp_wait *wait, const struct submission *submission)
{
	auto_arena struct arena arena = {0};
	struct config *config = wait->env->config;
	struct config_binder binder = config_binder(config, &arena);
	struct str cwd = submission->op.configure_session->cwd;
	size_t count = 0;
	if (wait->has_begun)
		return false;
	wait->has_begun = true;
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		if (servers[i].keys.enabled && servers[i].keys.required)
			add_server(wait, &servers[i], cwd.len ? arena_cstr(&arena, cwd) : wait->env->cwd);
	}
	if (!is_any_pending(wait))
		return false;
	wait->held = submission_create(submission->id, &submission->op);
	return true;
}

int mcp_wait_check(const struct mcp_wait *wait, struct error *err)
{
	auto_buf struct buf text;
	const struct required_server *it;
	buf_init(&text, ERROR_TEXT_MAX);
	list_for_each(it, &wait->servers, link) {
		if (it->failure)
			buf_printf(&text, "%s%s: %s", text.len ? "; " : "", it->name, it->failure);
	}
	if (!text.len && !text.over)
		return 0;
	return error_set(err, ERR_unsupported,
	                 "Failed to initialize session: required MCP servers failed to initialize: %.*s",
	                 STR_ARG(buf_str(&text)));
}

bool mcp_wait_is_pending(const struct mcp_wait *wait)
{
	return wait->held;
}

void mcp_wait_release(struct mcp_wait *wait)
{
	struct required_server *it;
	wait->has_begun = false;
	list_for_each(it, &wait->servers, link) {
		list_remove(&it->link);
		mcp_client_unwatch(&it->watcher);
		mcp_client_unref(it->client);
		free(it->name);
		free(it->failure);
		free(it);
	}
}

void mcp_wait_finish(struct mcp_wait *wait)
{
	mcp_wait_release(wait);
	loop_deferred_finish(&wait->ready);
	submission_destroy(wait->held);
}
