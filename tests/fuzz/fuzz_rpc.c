/* A client's lines at a live app-server: every request with an id has exactly one answer, with that id; every line that
 * comes back is JSON, and either an answer, a question that has a row, or a notification that has one. Nothing is left
 * when the clients go, wherever they stop.
 *
 * The first byte of an input says whether the clients have sent initialize, whether the first one disconnects before it
 * is answered, and whether running tasks may end; the bits of the second assign lines to one of two clients. "@T" in a
 * line is the newest thread's id and "@U" that of its turn. Methods that would change a file, run a program or contact
 * another server are sent by a client without initialize: they are decoded and refused. spawn_start is replaced by the
 * linker: any attempt to run a program is a finding. */
#include "fuzz.h"

#include <string.h>
#include <unistd.h>

#include "app_server/app_server.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_turn.h"
#include "app_server/threads/threads.h"
#include "base/error.h"
#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "process/supervisor.h"
#include "process/spawn.h"
#include "transport/frame_lines.h"

enum { LINES_MAX = 48, CLIENTS = 3, STRANGER = 2 };
enum { SAYS_HELLO = 1, LEAVES_EARLY = 2, LETS_END = 4 };

struct client {
	struct transport transport;
	struct connection *connection; /* NULL: gone */
	VEC(struct str) unanswered;    /* ids as JSON text; owned */
};

struct clients {
	struct app_server *server;
	struct client all[CLIENTS];
};

static struct {
	char folder[64];
	struct loop *loop;
	struct services *services;
	struct config *config;
} world;

/* Also of the threads: the server loads a configuration for each. */
static const struct str overrides[] = {
	STR("model_provider=\"closed\""),
	STR("model_providers.closed.name=\"closed\""),
	STR("model_providers.closed.base_url=\"http://127.0.0.1:9/v1\""),
	STR("model_providers.closed.request_max_retries=0"),
	STR("model_providers.closed.stream_max_retries=0"),
	STR("history.persistence=\"none\""),
};

/* Named by the linker's --wrap, in the places of spawn_start and supervisor_spawn. */
int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err);

int __wrap_spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err)
{
	static const char *const words[] = {"import", "plugin"}; /* the commands that the app-server itself starts */
	(void)ret_pid;
	for (size_t i = 0; i < countof(words); i++) {
		if (strcmp(plan->paths[0], host_program()) == 0 && plan->argv[1] &&
		    strcmp(plan->argv[1], words[i]) == 0)
			return error_set(err, ERR_unsupported, "no commands here");
	}
	fprintf(stderr, "a request runs %s\n", plan->paths[0]);
	abort();
}

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err);

int __wrap_supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                            const struct supervisor_handler *handler, void *self, struct error *err)
{
	(void)loop, (void)child, (void)handler, (void)self;
	return __wrap_spawn_start(plan, NULL, err);
}

/* ---- the world, once ---- */

static void remove_world(void)
{
	char path[128];
	config_unref(world.config);
	services_destroy(world.services);
	loop_destroy(world.loop);
	snprintf(path, sizeof(path), "%s/installation_id", world.folder);
	unlink(path);
	rmdir(world.folder);
}

static void make_world(void)
{
	struct config_source source = {
		.codex_home = world.folder,
		.system_file = "/nonexistent/config.toml",
		.cwd = world.folder,
		.overrides = overrides,
		.override_count = countof(overrides),
	};
	snprintf(world.folder, sizeof(world.folder), "/tmp/codex-fuzz-XXXXXX");
	fuzz_check(mkdtemp(world.folder));
	setenv("NO_PROXY", "*", 1);
	unsetenv("OPENAI_API_KEY");
	unsetenv("CODEX_API_KEY");
	setenv("CODEX_HOME", world.folder, 1);
	world.loop = loop_create(NULL);
	world.config = config_load(&source, NULL);
	fuzz_check(world.loop && world.config);
	world.services = services_create(world.loop, "fuzz");
	atexit(remove_world);
}

/* ---- what comes back ---- */

static bool is_question(struct str method)
{
	for (size_t i = 0; i < ASK_count; i++) {
		if (str_eq(app_server_requests[i].wire, method))
			return true;
	}
	return false;
}

static void check_answer(struct client *client, const struct json *line, struct str id)
{
	fuzz_check(!json_get(line, "error") != !json_get(line, "result"));
	for (size_t i = 0; i < client->unanswered.count; i++) {
		struct str *it = &client->unanswered.items[i];
		if (!str_eq(*it, id))
			continue;
		free((char *)(uintptr_t)it->ptr);
		*it = client->unanswered.items[--client->unanswered.count];
		return;
	}
	fuzz_check(!"an answer that nobody waits for");
}

static void check_line(struct client *client, struct str text)
{
	auto_arena struct arena arena = {0};
	const struct json *line = json_parse(&arena, text, NULL);
	fuzz_check(line && line->type == JSON_object);
	const struct json *id = json_get(line, "id");
	struct str method = json_get_str(line, "method");
	if (!method.ptr) {
		fuzz_check(id);
		check_answer(client, line, id->span);
	} else if (id) {
		fuzz_check(is_question(method));
	} else {
		fuzz_check(app_notification_find(method) != NOTIFY_count);
	}
}

static bool client_send(struct transport *transport, struct str frames)
{
	struct client *client = container_of(transport, struct client, transport);
	struct str line;
	fuzz_check(str_has_suffix(frames, "\n"));
	while (str_next_line(&frames, &line))
		check_line(client, line);
	return true;
}

static bool client_send_large(struct transport *transport, struct str head, struct buf *body, struct str tail)
{
	auto_buf struct buf frame;
	buf_init(&frame, LIMIT_STREAM_QUEUE_HARD);
	buf_append_str(&frame, head);
	buf_append_str(&frame, buf_str(body));
	buf_append_str(&frame, tail);
	buf_finish(body);
	return client_send(transport, buf_str(&frame));
}

static void client_flow(struct transport *transport)
{
	(void)transport;
}

static void client_gone(struct transport *transport, bool flush)
{
	(void)transport, (void)flush;
}

static const struct transport_kind client_kind = {
	.send = client_send,
	.send_large = client_send_large,
	.pause = client_flow,
	.resume = client_flow,
	.destroy = client_gone,
};

/* ---- clients ---- */

static void on_client_end(size_t left, void *self)
{
	(void)left, (void)self;
}

static void client_leave(struct client *client)
{
	if (client->connection)
		connection_destroy(steal(client->connection));
	vec_for_each(id, &client->unanswered)
		free((char *)(uintptr_t)id->ptr);
	vec_finish(&client->unanswered);
}

/* Remembers what is to be answered, then says it. */
static void client_say(struct client *client, struct str line, const struct rpc_message *message)
{
	if (!client->connection)
		return;
	if (message && message->kind == RPC_REQUEST) {
		struct str id = message->has_bad_id ? STR("null") : message->id;
		vec_push(&client->unanswered, str_n(str_dup(id), id.len));
	}
	connection_events.on_frame(line, client->connection);
}

static void say_hello(struct client *client)
{
	static const char hello[] = "{\"id\":\"hello\",\"method\":\"initialize\",\"params\":{\"clientInfo\":"
				    "{\"name\":\"f\",\"version\":\"1\"},\"capabilities\":{\"experimentalApi\":true}}}";
	struct rpc_message message = {.kind = RPC_REQUEST, .id = STR("\"hello\"")};
	client_say(client, str_of(hello), &message);
}

static void open_clients(struct clients *clients, unsigned flags)
{
	struct app_server_options options = {
		.loop = world.loop,
		.services = world.services,
		.config = world.config,
		.cwd = world.folder,
		.overrides = overrides,
		.override_count = countof(overrides),
		.on_client_end = on_client_end,
	};
	clients->server = app_server_create(&options);
	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &clients->all[i];
		client->connection = app_server_add_client(clients->server);
		client->transport = (struct transport){&client_kind, &connection_events, client->connection};
		connection_attach(client->connection, &client->transport);
		if (i != STRANGER && (flags & SAYS_HELLO))
			say_hello(client);
	}
}

/* Every answer arrives without further input. */
static void hear_all(struct clients *clients)
{
	for (size_t i = 0; i < CLIENTS; i++) {
		struct client *client = &clients->all[i];
		while (client->connection && client->unanswered.count)
			uv_run(loop_uv(world.loop), UV_RUN_ONCE);
		fuzz_check(!client->connection || client->connection->request_count == 0);
	}
}

static bool has_turn(struct app_server *server)
{
	struct thread *it;
	list_for_each(it, &server->threads->all, link) {
		if (it->turn)
			return true;
	}
	return false;
}

static void close_clients(struct clients *clients, unsigned flags)
{
	if (flags & LEAVES_EARLY)
		client_leave(&clients->all[0]);
	hear_all(clients);
	while ((flags & LETS_END) && has_turn(clients->server))
		uv_run(loop_uv(world.loop), UV_RUN_ONCE);
	for (size_t i = 0; i < CLIENTS; i++)
		client_leave(&clients->all[i]);
	app_server_destroy(clients->server);
	uv_run(loop_uv(world.loop), UV_RUN_NOWAIT);
}

/* ---- lines ---- */

/* Files of the client's choice, programs, and what is written down for later. */
static bool is_harmful_method(enum app_method_tag tag)
{
	switch (tag) {
	case METHOD_fs_read_file:
	case METHOD_fs_write_file:
	case METHOD_fs_create_directory:
	case METHOD_fs_get_metadata:
	case METHOD_fs_read_directory:
	case METHOD_fs_remove:
	case METHOD_fs_copy:
	case METHOD_fs_watch:
	case METHOD_command_exec:
	case METHOD_process_spawn:
	case METHOD_thread_fork:
	case METHOD_thread_shell_command:
	case METHOD_fuzzy_file_search:
	case METHOD_fuzzy_file_search_session_start:
	case METHOD_skills_list:
	case METHOD_config_value_write:
	case METHOD_config_batch_write:
	case METHOD_model_provider_config_write:
	case METHOD_account_login_start:
	case METHOD_account_logout:
		return true;
	default:
		return false;
	}
}

/* Settings may name programs and servers, a thread's path any file, and one that is not ephemeral has a file. */
static bool is_harmful(const struct rpc_message *message)
{
	static const char *const words[] = {"config", "modelProvider", "path", "history"};
	const struct app_method *method = app_method_find(message->method);
	if (message->kind != RPC_REQUEST || !method || method->outcome != APP_SERVED)
		return false;
	for (size_t i = 0; i < countof(words); i++) {
		if (json_get(message->body, words[i]))
			return true;
	}
	const struct json *ephemeral = json_get(message->body, "ephemeral");
	bool is_kept = !ephemeral || ephemeral->type != JSON_bool || !ephemeral->boolean;
	return (method == &app_methods[METHOD_thread_start] && is_kept) ||
	       is_harmful_method((enum app_method_tag)(method - app_methods));
}

static void fill_in(const struct app_server *server, struct str line, struct buf *out)
{
	const struct thread *it, *newest = NULL;
	list_for_each(it, &server->threads->all, link)
		newest = it;
	for (size_t i = 0; i < line.len; i++) {
		char next = i + 1 < line.len ? line.ptr[i + 1] : 0;
		if (line.ptr[i] != '@' || (next != 'T' && next != 'U')) {
			buf_append_char(out, line.ptr[i]);
			continue;
		}
		if (next == 'T')
			buf_append_str(out, str_of(newest ? newest->id : ""));
		else if (newest && newest->turn)
			buf_append_str(out, str_of(newest->turn->id));
		i++;
	}
}

static void say_line(struct clients *clients, size_t who, struct str template)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf line;
	struct error err;
	struct rpc_message message;
	buf_init(&line, LIMIT_LINE);
	fill_in(clients->server, template, &line);
	if (line.over)
		return;
	if (rpc_read(buf_str(&line), &arena, &message, &err) != 0)
		client_say(&clients->all[who], buf_str(&line), NULL);
	else
		client_say(&clients->all[is_harmful(&message) ? STRANGER : who], buf_str(&line), &message);
	if (memmem(template.ptr, template.len, "thread/start", 12))
		hear_all(clients);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct clients clients = {0};
	struct frame_lines frames;
	struct str line;
	if (size < 2)
		return 0;
	if (!world.loop)
		make_world();
	open_clients(&clients, data[0]);
	frame_lines_init(&frames, LIMIT_LINE);
	frame_lines_add(&frames, str_n((const char *)data + 2, size - 2));
	frame_lines_end(&frames);
	for (size_t i = 0; i < LINES_MAX && frame_lines_next(&frames, &line) == FRAME_LINE; i++)
		say_line(&clients, data[1] >> i % 8 & 1, line);
	frame_lines_finish(&frames);
	close_clients(&clients, data[0]);
	return 0;
}
