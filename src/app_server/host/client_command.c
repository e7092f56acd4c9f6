/* Both families of methods differ in words alone, so what differs is a table of three functions, and everything else is
 * here. A command is among its client's from its start on, even while the sandbox is still being found out: it can be
 * written to and terminated then. */
#include "app_server/host/client_command.h"

#include <signal.h>

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "process/spawn.h"

enum { EXIT_OVERDUE = 124, EXIT_SIGNAL = 128 };

static struct loop *loop_of(const struct client_command *command)
{
	return command->client->server->loop;
}

/* ---- end ---- */

struct client_command *client_command_create(struct connection *client, const struct client_command_kind *kind)
{
	struct client_command *command = xnew(struct client_command);
	command->client = client;
	command->kind = kind;
	env_init(&command->env);
	buf_init(&command->typed, LIMIT_EXEC_STDIN);
	list_init(&command->resource.link);
	return command;
}

void client_command_destroy(struct client_command *command)
{
	if (!command)
		return;
	list_remove(&command->resource.link);
	process_destroy(command->process);
	sandbox_probe_destroy(command->probe);
	loop_timer_destroy(command->timer);
	env_finish(&command->env);
	buf_finish(&command->typed);
	for (size_t i = 0; i < countof(command->streams); i++)
		buf_finish(&command->streams[i].kept);
	arena_finish(&command->arena);
	free(command);
}

static void tell_end(struct client_command *command, int exit_code, bool is_cut)
{
	struct client_command_end end = {.exit_code = exit_code, .is_cut = is_cut};
	struct buf text[2];
	for (size_t i = 0; i < countof(text); i++) {
		buf_init(&text[i], 3 * LIMIT_CLIENT_OUTPUT_KEPT);
		text_append_utf8_lossy(&text[i], buf_str(&command->streams[i].kept));
		end.text[i] = buf_str(&text[i]);
		end.is_capped[i] = command->streams[i].seen >= command->cap;
	}
	command->kind->on_end(command, &end);
	for (size_t i = 0; i < countof(text); i++)
		buf_finish(&text[i]);
	client_command_destroy(command);
}

static void on_end(const struct process_result *result, void *self)
{
	struct client_command *command = self;
	if (result->error && !command->is_overdue) {
		command->kind->on_failure(command, result->error);
		client_command_destroy(command);
		return;
	}
	int exit_code = result->signal ? EXIT_SIGNAL + result->signal : result->exit_code;
	tell_end(command, command->is_overdue ? EXIT_OVERDUE : exit_code, result->is_cut);
}

static void on_timeout(void *self)
{
	struct client_command *command = self;
	command->is_overdue = true;
	if (command->process)
		process_kill_now(command->process);
	else
		tell_end(command, EXIT_OVERDUE, false);
}

/* ---- output ---- */

static void hold(struct client_command *command, bool is_held)
{
	if (!command->is_streamed || !command->process || command->is_held == is_held)
		return;
	command->is_held = is_held;
	(is_held ? process_pause : process_resume)(command->process);
}

static void tell_output(struct client_command *command, enum exec_stream stream, struct str bytes, bool is_capped)
{
	auto_buf struct buf text;
	buf_init(&text, 2 * bytes.len + 4);
	text_base64(&text, bytes.ptr, bytes.len);
	command->kind->on_output(command, stream, buf_str(&text), is_capped);
	hold(command, command->client->is_slow);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct client_command *command = self;
	struct client_command_stream *to = &command->streams[stream];
	uint64_t room = command->cap - to->seen;
	if (room == 0)
		return;
	if (bytes.len > room)
		bytes.len = (size_t)room;
	to->seen += bytes.len;
	if (command->is_streamed)
		tell_output(command, stream, bytes, to->seen == command->cap);
	else
		buf_append_str(&to->kept, bytes);
}

/* ---- start ---- */

static const struct process_handler handler = {on_output, on_end};

/* Behind a sandbox the sandbox is what is started, and would not know how to say that its command does not exist. */
static int check_program(const struct client_command *command, struct error *err)
{
	auto_free char *path = spawn_find_program(command->argv[0], env_vars(&command->env), command->cwd, err);
	return path ? 0 : -(int)err->code;
}

static int launch(struct client_command *command, struct error *err)
{
	auto_sandboxed_command struct sandboxed_command *sandboxed = NULL;
	if (check_program(command, err) != 0 || sandbox_wrap(&command->sandbox, command->argv, &sandboxed, err) != 0)
		return -(int)err->code;
	struct process_spec spec = {
		.argv = command->argv,
		.launch = sandbox_launch(sandboxed, env_vars(&command->env)),
		.env = env_vars(&command->env),
		.cwd = command->cwd,
		.stdin_open = command->takes_input,
		.terminal = command->has_terminal ? &command->size : NULL,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	command->process = process_start(loop_of(command), &spec, &handler, command, err);
	if (!command->process)
		return -(int)err->code;
	if (command->typed.len)
		process_write_stdin(command->process, buf_str(&command->typed), NULL);
	if (command->is_input_closed)
		process_close_stdin(command->process);
	buf_finish(&command->typed);
	return 0;
}

static void on_probed(void *self)
{
	struct client_command *command = self;
	struct error err;
	sandbox_probe_destroy(steal(command->probe));
	if (launch(command, &err) == 0)
		return;
	command->kind->on_failure(command, &err);
	client_command_destroy(command);
}

static void on_client_gone(struct client_resource *resource)
{
	client_command_destroy(list_entry(resource, struct client_command, resource));
}

static void on_client_pace(struct client_resource *resource, bool is_held)
{
	hold(list_entry(resource, struct client_command, resource), is_held);
}

static const struct client_resource_type resource_type = {on_client_gone, on_client_pace};

int client_command_start(struct client_command *command, struct error *err)
{
	bool waits = sandbox_is_needed(command->sandbox.mode) && !sandbox_is_probed(command->sandbox.backend);
	if (!command->is_streamed && command->cap > LIMIT_CLIENT_OUTPUT_KEPT)
		command->cap = LIMIT_CLIENT_OUTPUT_KEPT;
	for (size_t i = 0; i < countof(command->streams); i++)
		buf_init(&command->streams[i].kept, LIMIT_CLIENT_OUTPUT_KEPT);
	if (!waits && launch(command, err) != 0)
		return -(int)err->code;
	if (waits)
		command->probe = sandbox_probe_create(loop_of(command), command->sandbox.backend, on_probed, command);
	if (command->timeout_ms >= 0) {
		command->timer = loop_timer_create(loop_of(command), on_timeout, command);
		loop_timer_start(command->timer, (uint64_t)command->timeout_ms);
	}
	connection_add_resource(command->client, &command->resource, &resource_type);
	return 0;
}

/* ---- while it runs ---- */

struct client_command *client_command_find(struct connection *client, const struct client_command_kind *kind,
                                           struct str id)
{
	struct client_resource *it;
	list_for_each(it, &client->resources, link) {
		struct client_command *command = list_entry(it, struct client_command, resource);
		if (it->type == &resource_type && command->kind == kind && command->id.ptr && str_eq(command->id, id))
			return command;
	}
	return NULL;
}

bool client_command_is_full(struct connection *client)
{
	return connection_count_resources(client, &resource_type) >= LIMIT_CLIENT_COMMANDS;
}

int client_command_write(struct client_command *command, struct str bytes, struct error *err)
{
	if (command->is_input_closed)
		return error_set(err, ERR_io, "stdin is already closed");
	if (command->process)
		return process_write_stdin(command->process, bytes, err);
	buf_append_str(&command->typed, bytes);
	if (!command->typed.over)
		return 0;
	buf_truncate(&command->typed, command->typed.len);
	return error_set(err, ERR_busy, "the command does not read its input yet: %zu bytes wait already",
	                 command->typed.len);
}

void client_command_close_input(struct client_command *command)
{
	command->is_input_closed = true;
	if (command->process)
		process_close_stdin(command->process);
}

int client_command_resize(struct client_command *command, const struct pty_size *size, struct error *err)
{
	command->size = *size;
	return command->process ? process_resize(command->process, size, err) : 0;
}

void client_command_terminate(struct client_command *command)
{
	if (command->process)
		process_kill_now(command->process);
	else
		tell_end(command, EXIT_SIGNAL + SIGKILL, false);
}
