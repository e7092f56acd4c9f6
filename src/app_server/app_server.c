/* The server is what its clients have in common and little else: who is there, which threads run, and the buffer that
 * every frame is written in. */
#include "app_server/app_server.h"

#include "app_server/app_server_priv.h"
#include "app_server/rpc/connection.h"
#include "app_server/installation.h"
#include "app_server/rpc/rpc.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/skill_hints.h"
#include "app_server/store/store_index.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_idle.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "transport/transport_stdio.h"

static struct thread *find_dead_thread(struct app_server *server)
{
	struct thread *it;
	list_for_each(it, &server->threads, link) {
		if (it->is_dead)
			return it;
	}
	return NULL;
}

/* Destroying a thread destroys those of its subagents as well: the list is begun anew after each. */
static void sweep_threads(struct app_server *server)
{
	struct thread *thread;
	while ((thread = find_dead_thread(server)))
		thread_destroy(thread);
}

static void on_sweep(void *self)
{
	struct app_server *server = self;
	struct connection *it;
	bool has_ended = false;
	sweep_threads(server);
	list_for_each(it, &server->connections, link) {
		if (!it->has_ended)
			continue;
		has_ended = true;
		app_server_drop(it);
	}
	if (has_ended)
		server->options.on_client_end(server->connection_count, server->options.self);
}

void app_server_sweep(struct app_server *server)
{
	loop_defer(&server->sweep);
}

struct connection *app_server_connect(struct app_server *server)
{
	server->connection_count++;
	return connection_create(server);
}

int app_server_connect_stdio(struct app_server *server, int in, int out, struct error *err)
{
	struct connection *connection = app_server_connect(server);
	struct transport *transport =
		transport_stdio_create(server->options.loop, in, out, &connection_events, connection, err);
	if (!transport) {
		app_server_drop(connection);
		return -(int)err->code;
	}
	connection_attach(connection, transport);
	return 0;
}

void app_server_drop(struct connection *connection)
{
	connection->server->connection_count--;
	connection_destroy(connection);
}

size_t app_server_client_count(const struct app_server *server)
{
	return server->connection_count;
}

void app_server_forget(struct app_server *server, struct connection *connection)
{
	struct thread *it;
	list_for_each(it, &server->threads, link)
		thread_unwatch(it, connection);
	rpc_asks_forget(&server->asks, connection);
}

void app_server_notify(struct app_server *server, enum app_notification_tag tag, const void *params)
{
	struct connection *it;
	list_for_each(it, &server->connections, link) {
		if (!it->is_initialized || !connection_wants(it, tag))
			continue;
		if (!server->out.len)
			rpc_write_notification(&server->out, &app_notifications[tag], params, clock_unix_ms());
		if (!server->out.over)
			connection_send_frame(it, buf_str(&server->out));
	}
	buf_reuse(&server->out);
}

struct str app_server_installation_id(struct app_server *server)
{
	if (!server->installation_id)
		server->installation_id = installation_id_read(config_home(server->options.config));
	return str_of(server->installation_id);
}

static void copy_overrides(struct app_server *server)
{
	const struct app_server_options *options = &server->options;
	struct str *copies = xcalloc(options->override_count + 1, sizeof(*copies));
	for (size_t i = 0; i < options->override_count; i++)
		copies[i] = str_n(str_dup(options->overrides[i]), options->overrides[i].len);
	server->options.overrides = copies;
}

struct app_server *app_server_create(const struct app_server_options *options)
{
	struct app_server *server = xnew(struct app_server);
	server->options = *options;
	config_ref(server->options.config);
	server->cwd = xstrdup(options->cwd);
	server->config_error = options->config_error ? xstrdup(options->config_error) : NULL;
	copy_overrides(server);
	list_init(&server->connections);
	list_init(&server->threads);
	for (size_t i = 0; i < THREAD_BUCKETS; i++)
		list_init(&server->buckets[i]);
	thread_configs_init(&server->configs);
	rpc_scopes_init(&server->scopes, options->loop, rpc_request_run);
	rpc_asks_init(&server->asks);
	buf_init(&server->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&server->sweep, options->loop, on_sweep, server);
	return server;
}

void app_server_destroy(struct app_server *server)
{
	struct connection *it;
	struct thread *thread;
	if (!server)
		return;
	list_for_each(it, &server->connections, link)
		app_server_drop(it);
	while ((thread = list_first(&server->threads, struct thread, link))) /* subagents' go with their root's */
		thread_destroy(thread);
	thread_idle_finish(server);
	skill_hints_destroy(server->skill_hints);
	thread_configs_finish(&server->configs);
	rpc_asks_finish(&server->asks);
	rpc_scopes_finish(&server->scopes);
	loop_deferred_finish(&server->sweep);
	config_unref(server->options.config);
	for (size_t i = 0; i < server->options.override_count; i++)
		free((char *)(uintptr_t)server->options.overrides[i].ptr);
	free((struct str *)(uintptr_t)server->options.overrides);
	vec_for_each (option, &server->switches)
		free((char *)(uintptr_t)option->ptr);
	vec_finish(&server->switches);
	buf_finish(&server->out);
	store_index_destroy(server->store);
	free(server->installation_id);
	free(server->config_error);
	free(server->cwd);
	free(server);
}
