/* command/exec and process/spawn differ only in their messages, for which a command has a table of functions. A
 * command is a resource of its client from its creation, even while the sandbox backends are probed: the client can
 * already write to it and terminate it. */
#include "app_server/host/client_command.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"

enum { EXIT_OVERDUE = 124, EXIT_SIGNAL = 128 };

static struct loop *loop_of(const struct client_command *command)
{
	return command->client->server->loop;
}

/* ---- end ---- */

struct client_command *client_command_create(struct rpc_request *request, const struct client_command_kind *kind)
{
	struct client_command *command = xnew(struct client_command);
	command->client = request->connection;
	command->request = request;
	command->kind = kind;
	env_init(&command->env);
	list_init(&command->resource.link);
	return command;
}

/* Kills it if it runs. */
static void destroy(struct client_command *command)
{
	list_remove(&command->resource.link);
	command_run_destroy(command->run);
	loop_timer_destroy(command->timer);
	env_finish(&command->env);
	for (size_t i = 0; i < countof(command->streams); i++)
		buf_finish(&command->streams[i].kept);
	arena_finish(&command->arena);
	free(command);
}

static void report_end(struct client_command *command, int exit_code, bool is_cut)
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
	destroy(command);
}

static void report_start(struct client_command *command)
{
	if (command->is_started)
		return;
	command->is_started = true;
	if (command->kind->on_start)
		command->kind->on_start(command);
}

static void on_run(void *self)
{
	report_start(self);
}

static void on_end(const struct process_result *result, void *self)
{
	struct client_command *command = self;
	if (result->error && !command->is_overdue) {
		command->kind->on_failure(command, result->error);
		destroy(command);
		return;
	}
	int exit_code = result->signal ? EXIT_SIGNAL + result->signal : result->exit_code;
	report_start(command);
	report_end(command, command->is_overdue ? EXIT_OVERDUE : exit_code, result->is_cut);
}

static void on_timeout(void *self)
{
	struct client_command *command = self;
	command->is_overdue = true;
	command_run_kill_now(command->run);
}

/* ---- output ---- */

static void hold(struct client_command *command, bool is_held)
{
	if (!command->is_streamed || command->is_held == is_held)
		return;
	command->is_held = is_held;
	if (is_held)
		command_run_pause(command->run);
	else
		command_run_resume(command->run);
}

static void report_output(struct client_command *command, enum exec_stream stream, struct str bytes, bool is_capped)
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
	report_start(command);
	if (room == 0)
		return;
	if (bytes.len > room)
		bytes.len = (size_t)room;
	to->seen += bytes.len;
	if (command->is_streamed)
		report_output(command, stream, bytes, to->seen == command->cap);
	else
		buf_append_str(&to->kept, bytes);
}

/* ---- start ---- */

/* Sets checks_program, because a sandbox would report a missing program with its own message and exit status. */
static void prepare(struct command_run_spec *spec, void *self)
{
	struct client_command *command = self;
	spec->policy = &command->sandbox;
	spec->process = (struct process_spec){
		.argv = command->argv,
		.env = env_vars(&command->env),
		.cwd = command->cwd,
		.checks_program = !strchr(command->argv[0], '/'),
		.stdin_open = command->takes_input,
		.terminal = command->has_terminal ? &command->size : NULL,
		.drain_ms = PROCESS_DRAIN_MS,
	};
}

static const struct command_run_handler handler = {prepare, on_output, on_end, on_run};

static void on_client_gone(struct client_resource *resource)
{
	destroy(list_entry(resource, struct client_command, resource));
}

static void on_client_pace(struct client_resource *resource, bool is_held)
{
	hold(list_entry(resource, struct client_command, resource), is_held);
}

static const struct client_resource_type resource_type = {on_client_gone, on_client_pace};

static void on_cancel(struct rpc_request *request)
{
	destroy(request->self);
}

static void start(struct client_command *command)
{
	if (!command->is_streamed && command->cap > LIMIT_CLIENT_OUTPUT_KEPT)
		command->cap = LIMIT_CLIENT_OUTPUT_KEPT;
	for (size_t i = 0; i < countof(command->streams); i++)
		buf_init(&command->streams[i].kept, LIMIT_CLIENT_OUTPUT_KEPT);
	command->run = command_run_start(loop_of(command), NULL, &command->sandbox, &handler, command);
	if (command->timeout_ms >= 0) {
		command->timer = loop_timer_create(loop_of(command), on_timeout, command);
		loop_timer_start(command->timer, (uint64_t)command->timeout_ms);
	}
	connection_add_resource(command->client, &command->resource, &resource_type);
}

enum rpc_verdict client_command_start(struct client_command *command, const struct rpc_error *error)
{
	struct rpc_request *request = command->request;
	if (error) {
		destroy(command);
		return rpc_refuse(request, error);
	}
	start(command);
	return rpc_wait(request, on_cancel, command);
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
	return command_run_write(command->run, bytes, err);
}

void client_command_close_input(struct client_command *command)
{
	command->is_input_closed = true;
	command_run_close_input(command->run);
}

int client_command_resize(struct client_command *command, const struct pty_size *size, struct error *err)
{
	command->size = *size;
	return command_run_resize(command->run, size, err);
}

void client_command_terminate(struct client_command *command)
{
	command_run_kill_now(command->run);
}
