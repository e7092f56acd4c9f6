/* The tools are collected when a request to the model is made, so that a call finds the tool that the request has
 * described, even if the server has changed its list meanwhile. */
#include "engine/session/session_mcp.h"

#include "base/clock.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/mcp_server.h"
#include "engine/session/session.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_pool.h"
#include "tool/code/code_cells.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/mcp/mcp_search.h"
#include "tool/mcp/mcp_await.h"
#include "tool/mcp/tool_mcp.h"

struct session_server {
	struct list link;
	struct session_mcp *mcp;
	const struct mcp_server *config;
	struct mcp_client *client; /* NULL: its settings cannot be used */
	struct mcp_watcher watcher;
	enum mcp_startup_status_tag status; /* as reported last */
	char *failure;
	const struct mcp_catalog *offered; /* the catalog at the last offer; only compared */
	bool has_warned;                   /* of tools beyond LIMIT_MCP_TOOLS */
};

struct session_mcp {
	struct session *session;
	struct config *config;
	struct config *next; /* of a reload that waits for the Task to end, or NULL */
	struct arena arena;  /* holds the settings of the servers */
	struct list servers;
	size_t count;     /* of servers */
	size_t pending;   /* of them that are starting */
	bool is_complete; /* mcp_startup_complete was emitted */
	bool has_warned;  /* of tools that are left out */
	struct mcp_offer *offer;
	VEC(struct mcp_offer *) retired; /* calls of the last response may refer to them */
	struct list waits;               /* struct mcp_await */
	uint64_t deadline_ms;            /* until then the first request waits */
	struct loop_timer *grace;
	struct loop_deferred go;
	loop_run_fn ready; /* NULL: no request waits */
	void *ready_self;
};

/* ---- events ---- */

static void emit_update(struct session_server *server)
{
	struct mcp_start_error error = {.error = str_of(server->failure ? server->failure : "")};
	struct mcp_startup_status status = {.tag = server->status};
	if (status.tag == mcp_startup_status_failed)
		status.failed = &error;
	struct ev_mcp_startup_update event = {.server = server->config->name, .status = &status};
	session_emit(server->mcp->session, STR(""), EV_mcp_startup_update, &event);
}

static void emit_complete(struct session_mcp *mcp)
{
	auto_arena struct arena arena = {0};
	struct session_server *it;
	struct str *ready = arena_array(&arena, struct str, mcp->count);
	struct str *cancelled = arena_array(&arena, struct str, mcp->count);
	struct mcp_startup_failure *failed = arena_array(&arena, struct mcp_startup_failure, mcp->count);
	struct ev_mcp_startup_complete event = {.ready = ready, .failed = failed, .cancelled = cancelled};
	list_for_each(it, &mcp->servers, link) {
		if (it->status == mcp_startup_status_failed)
			failed[event.failed_count++] =
				(struct mcp_startup_failure){it->config->name, str_of(it->failure)};
		else if (it->status == mcp_startup_status_cancelled)
			cancelled[event.cancelled_count++] = it->config->name;
		else
			ready[event.ready_count++] = it->config->name;
	}
	mcp->is_complete = true;
	session_emit(mcp->session, STR(""), EV_mcp_startup_complete, &event);
}

/* ---- the offer ---- */

static void warn_omitted(struct session_server *server, const struct mcp_catalog *catalog)
{
	if (!catalog->omitted || server->has_warned)
		return;
	server->has_warned = true;
	session_warn(server->mcp->session, STR(""),
	             "MCP server `%.*s` lists %zu tools. A server may have %d; the further ones are not offered to the "
	             "model.",
	             STR_ARG(server->config->name), catalog->tools.count + catalog->omitted, LIMIT_MCP_TOOLS);
}

static void refresh_offer(struct session_mcp *mcp)
{
	auto_arena struct arena arena = {0};
	struct session_server *it;
	size_t count = 0;
	struct mcp_offer_source *sources = arena_array(&arena, struct mcp_offer_source, mcp->count);
	list_for_each(it, &mcp->servers, link) {
		struct mcp_catalog *catalog = it->client ? mcp_client_catalog(it->client) : NULL;
		it->offered = catalog;
		if (!catalog)
			continue;
		warn_omitted(it, catalog);
		sources[count++] = (struct mcp_offer_source){it->config, it->client, catalog};
	}
	if (mcp->offer)
		vec_push(&mcp->retired, mcp->offer);
	mcp->offer = mcp_offer_create(sources, count);
}

static void drop_offers(struct session_mcp *mcp)
{
	vec_for_each(it, &mcp->retired)
		mcp_offer_destroy(*it);
	vec_finish(&mcp->retired);
	mcp_offer_destroy(steal(mcp->offer));
}

/* ---- waiting ---- */

/* True if a server is starting whose tools are unknown, or which must run: this one, or any if it is STR_NONE. */
static bool is_awaited(const struct session_mcp *mcp, struct str name)
{
	const struct session_server *it;
	list_for_each(it, &mcp->servers, link) {
		bool is_known = mcp_server_waits_for_tools(it->config) && it->client && mcp_client_catalog(it->client);
		bool is_meant = !name.ptr || str_eq(it->config->name, name);
		if (is_meant && it->status == mcp_startup_status_starting && !is_known)
			return true;
	}
	return false;
}

static bool is_required_awaited(const struct session_mcp *mcp)
{
	const struct session_server *it;
	list_for_each(it, &mcp->servers, link) {
		if (it->status == mcp_startup_status_starting && it->config->keys.required)
			return true;
	}
	return false;
}

static void release_request(void *self)
{
	struct session_mcp *mcp = self;
	loop_run_fn ready = mcp->ready;
	loop_timer_stop(mcp->grace);
	mcp->deadline_ms = 0;
	mcp->ready = NULL;
	if (ready)
		ready(mcp->ready_self);
}

static struct mcp_await *first_over(const struct session_mcp *mcp)
{
	struct mcp_await *it;
	list_for_each(it, &mcp->waits, link) {
		if (!is_awaited(mcp, it->server))
			return it;
	}
	return NULL;
}

/* A server has ended its start. */
static void on_go(void *self)
{
	struct session_mcp *mcp = self;
	struct mcp_await *wait;
	if (first_over(mcp))
		refresh_offer(mcp);
	while ((wait = first_over(mcp))) {
		list_remove(&wait->link);
		wait->on_ready(wait);
	}
	if (!is_awaited(mcp, STR_NONE))
		release_request(mcp);
}

/* Offers the servers that have become ready since the request; false without any. */
static bool offer_ready(struct session_mcp *mcp)
{
	const struct session_server *it;
	bool is_new = false;
	list_for_each(it, &mcp->servers, link)
		is_new |= it->client && !it->offered && mcp_client_catalog(it->client);
	if (is_new)
		refresh_offer(mcp);
	return is_new;
}

static bool host_await_mcp(struct tool_host *host, struct mcp_await *wait)
{
	struct session_mcp *mcp = container_of(host, struct session, host)->mcp;
	bool is_waiting = is_awaited(mcp, wait->server);
	if (is_waiting)
		list_append(&mcp->waits, &wait->link);
	else
		offer_ready(mcp);
	return is_waiting;
}

/* ---- the start ---- */

static void set_status(struct session_server *server, enum mcp_startup_status_tag status, const char *failure)
{
	struct session_mcp *mcp = server->mcp;
	if (server->status == status)
		return;
	mcp->pending += status == mcp_startup_status_starting;
	mcp->pending -= server->status == mcp_startup_status_starting;
	server->status = status;
	free(server->failure);
	server->failure = failure ? xstrdup(failure) : NULL;
	emit_update(server);
	if (!mcp->pending && !mcp->is_complete)
		emit_complete(mcp);
	free(steal(mcp->session->conversation.tools_model)); /* it names the servers that are starting */
	loop_defer(&mcp->go);
}

static void on_change(struct mcp_watcher *watcher)
{
	struct session_server *server = container_of(watcher, struct session_server, watcher);
	struct session *session = server->mcp->session;
	bool needs_login;
	if (mcp_client_catalog(server->client) != server->offered) /* describe the tools again */
		free(steal(session->conversation.tools_model));
	switch (mcp_client_state(server->client)) {
	case MCP_READY:
		set_status(server, mcp_startup_status_ready, NULL);
		break;
	case MCP_FAILED:
		set_status(server, mcp_startup_status_failed, mcp_client_failure(server->client, &needs_login));
		break;
	default:
		break; /* a later start of a server that was ready is not reported */
	}
}

/* A program whose tools an earlier process has stored is started by its first call. A server that is reached by HTTP
 * costs no process, and is asked in the background whether its tools have changed. */
static bool starts_lazily(const struct session_server *server)
{
	return server->config->transport == MCP_TRANSPORT_stdio && mcp_server_waits_for_tools(server->config) &&
	       mcp_client_state(server->client) == MCP_IDLE && mcp_client_catalog(server->client);
}

static void add_server(struct session_mcp *mcp, const struct mcp_server *config)
{
	struct error err;
	struct session *session = mcp->session;
	struct session_server *server = xnew(struct session_server);
	*server = (struct session_server){.mcp = mcp, .config = config, .watcher.on_change = on_change};
	server->status = mcp_startup_status_starting;
	list_init(&server->link);
	list_init(&server->watcher.link);
	list_append(&mcp->servers, &server->link);
	mcp->count++;
	mcp->pending++;
	emit_update(server);
	server->client = mcp_pool_get(session->env->mcp, mcp->config, config, session->settings->cwd, &err);
	if (!server->client) {
		set_status(server, mcp_startup_status_failed, err.text);
		return;
	}
	mcp_client_watch(server->client, &server->watcher);
	if (starts_lazily(server))
		set_status(server, mcp_startup_status_ready, NULL);
	else
		mcp_client_start(server->client);
	on_change(&server->watcher); /* another session may have started it */
}

/* ---- the first request waits ---- */

bool session_mcp_wait(struct session_mcp *mcp, loop_run_fn ready, void *self)
{
	uint64_t now = clock_now_ms();
	if (!mcp || !is_awaited(mcp, STR_NONE))
		return false;
	if (!is_required_awaited(mcp)) {
		if (mcp->deadline_ms <= now)
			return false;
		loop_timer_start(mcp->grace, mcp->deadline_ms - now);
	}
	mcp->ready = ready;
	mcp->ready_self = self;
	return true;
}

void session_mcp_forget(struct session_mcp *mcp)
{
	if (!mcp)
		return;
	mcp->ready = NULL;
	loop_timer_stop(mcp->grace);
}

bool session_mcp_has_servers(const struct session_mcp *mcp)
{
	return mcp && !list_empty(&mcp->servers);
}

void session_mcp_write_starting(const struct session_mcp *mcp, struct buf *out)
{
	const struct session_server *it;
	list_for_each(it, &mcp->servers, link) {
		if (is_awaited(mcp, it->config->name))
			buf_printf(out, "%s%.*s", out->len ? ", " : "", STR_ARG(it->config->name));
	}
}

void session_mcp_write_tools(struct session_mcp *mcp, bool is_searched, struct json_writer *w)
{
	if (!session_mcp_has_servers(mcp))
		return;
	if (!code_cells_have_calls(mcp->session->host.code.cells)) /* they refer to the former offer */
		drop_offers(mcp);
	refresh_offer(mcp);
	if (is_searched) {
		auto_buf struct buf starting;
		buf_init(&starting, LIMIT_MCP_OFFER);
		session_mcp_write_starting(mcp, &starting);
		mcp_search_write(mcp->offer, buf_str(&starting), w);
		return;
	}
	size_t omitted = mcp_offer_write(mcp->offer, w);
	if (!omitted || mcp->has_warned)
		return;
	mcp->has_warned = true;
	session_warn(
		mcp->session, STR(""),
		"%zu tools of MCP servers are not offered to the model: all of them would have more than %d MiB. Use "
		"enabled_tools to choose.",
		omitted, LIMIT_MCP_OFFER / MIB);
}

/* ---- open and close ---- */

static const struct mcp_offer *host_mcp_offer(struct tool_host *host)
{
	return container_of(host, struct session, host)->mcp->offer;
}

/* A former offer has the names that the request has described: new servers may have changed them (mcp_offer.h). */
static const struct mcp_offered *find_offered(const struct session_mcp *mcp, struct str namespace, struct str name)
{
	const struct mcp_offered *found = mcp_offer_find(mcp->offer, namespace, name);
	for (size_t i = mcp->retired.count; i-- > 0 && !found;)
		found = mcp_offer_find(mcp->retired.items[i], namespace, name);
	return found;
}

static void host_bind_mcp(struct tool_host *host, struct tool_call *call, struct str namespace)
{
	struct session_mcp *mcp = container_of(host, struct session, host)->mcp;
	const struct mcp_offered *offered = find_offered(mcp, namespace, call->name);
	bool is_meant = str_has_prefix(namespace, "mcp__"); /* a wrong name of another tool needs no server */
	if (!offered && is_meant && offer_ready(mcp))
		offered = mcp_offer_find(mcp->offer, namespace, call->name);
	if (offered)
		tool_mcp_bind(call, offered);
	else if (is_meant && is_awaited(mcp, STR_NONE))
		mcp_await_bind(call);
}

static void open_servers(struct session *session, struct config *config)
{
	size_t count = 0;
	struct session_mcp *mcp = xnew(struct session_mcp);
	*mcp = (struct session_mcp){.session = session, .config = config_ref(config)};
	mcp->grace = loop_timer_create(session->env->loop, release_request, mcp);
	mcp->deadline_ms = clock_now_ms() + (uint64_t)config->mcp_optional_startup_grace_ms;
	loop_deferred_init(&mcp->go, session->env->loop, on_go, mcp);
	list_init(&mcp->servers);
	list_init(&mcp->waits);
	session->mcp = mcp;
	session->host.bind_mcp = host_bind_mcp;
	session->host.mcp_offer = host_mcp_offer;
	session->host.await_mcp = host_await_mcp;
	struct config_binder binder = config_binder(config, &mcp->arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, config->mcp_servers, &count);
	mcp->pending = 1; /* complete is emitted after all have begun */
	for (size_t i = 0; i < count; i++) {
		if (servers[i].keys.enabled)
			add_server(mcp, &servers[i]);
	}
	if (--mcp->pending == 0)
		emit_complete(mcp);
}

void session_mcp_open(struct session *session)
{
	open_servers(session, session->env->config);
}

struct config *session_mcp_config(const struct session_mcp *mcp)
{
	return mcp->config;
}

static bool has_server(const struct session_mcp *mcp, struct str name)
{
	const struct session_server *it;
	list_for_each(it, &mcp->servers, link) {
		if (str_eq(it->config->name, name))
			return true;
	}
	return false;
}

static void cancel_start(struct session_server *server)
{
	if (server->status != mcp_startup_status_starting)
		return;
	server->status = mcp_startup_status_cancelled;
	emit_update(server);
}

/* Reports the servers that were starting and are no longer configured. */
static void emit_cancelled(struct session_mcp *old)
{
	struct session_server *it;
	list_for_each(it, &old->servers, link) {
		if (!has_server(old->session->mcp, it->config->name))
			cancel_start(it);
	}
}

/* Opens before it closes, so that servers with the same settings are kept. Waits for calls of scripts, which outlive
 * their task and refer to the servers. */
static void reload(struct session *session)
{
	struct session_mcp *old = session->mcp;
	if (!old || !old->next || code_cells_have_calls(session->host.code.cells))
		return;
	open_servers(session, old->next);
	session->mcp->has_warned = old->has_warned;
	free(steal(session->conversation.tools_model)); /* describe the tools again */
	emit_cancelled(old);
	session_mcp_destroy(old);
}

void session_mcp_cancel(struct session_mcp *mcp)
{
	struct session_server *it;
	if (!mcp)
		return;
	list_for_each(it, &mcp->servers, link) {
		mcp_client_unwatch(&it->watcher);
		cancel_start(it);
	}
	if (!mcp->is_complete)
		emit_complete(mcp);
}

void session_mcp_reload(struct session *session, struct config *config)
{
	config_unref(session->mcp->next);
	session->mcp->next = config_ref(config);
	if (!session->task)
		reload(session);
}

void session_mcp_begin_task(struct session *session)
{
	reload(session);
}

void session_mcp_destroy(struct session_mcp *mcp)
{
	struct session_server *it;
	if (!mcp)
		return;
	drop_offers(mcp);
	list_for_each(it, &mcp->servers, link) {
		mcp_client_unwatch(&it->watcher);
		mcp_client_unref(it->client);
		free(it->failure);
		free(it);
	}
	loop_timer_destroy(mcp->grace);
	loop_deferred_finish(&mcp->go);
	arena_finish(&mcp->arena);
	config_unref(mcp->config);
	config_unref(mcp->next);
	free(mcp);
}
