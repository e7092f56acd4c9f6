/* process/spawn starts a process without a sandbox. The response is sent after its start; process/exited reports its
 * end. */
#include "app_server/rpc/server.h"
#include "app_server/host/command_words.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"

#define MISSING "no active process for process handle"

static void on_start(struct client_command *command)
{
	struct app_process_spawn_response response = {0};
	struct rpc_request *request = command->request;
	command->request = NULL;
	rpc_reply(request, &response);
}

static void on_output(struct client_command *command, enum exec_stream stream, struct str base64, bool is_capped)
{
	struct app_process_output_delta_notification delta = {command->id, (enum app_process_output_stream)stream,
	                                                      base64, is_capped};
	connection_notify(command->client, NOTIFY_process_output_delta, &delta);
}

static void on_end(struct client_command *command, const struct client_command_end *end)
{
	struct app_process_exited_notification exited = {
		.process_handle = command->id,
		.exit_code = end->exit_code,
		.has_output_drain_timed_out = true,
		.output_drain_timed_out = end->is_cut,
		.standard_output = end->text[exec_stream_stdout],
		.stdout_cap_reached = end->is_capped[exec_stream_stdout],
		.standard_error = end->text[exec_stream_stderr],
		.stderr_cap_reached = end->is_capped[exec_stream_stderr],
	};
	connection_notify(command->client, NOTIFY_process_exited, &exited);
}

static void on_failure(struct client_command *command, const struct error *err)
{
	rpc_refuse(command->request, command_words_not_started(command->request, "process", err));
}

static const struct client_command_kind process_kind = {on_start, on_output, on_end, on_failure};

/* ---- process/spawn ---- */

static const struct rpc_error *check_handle(struct rpc_request *request, const struct app_process_spawn_params *params)
{
	struct arena *arena = &request->arena;
	if (params->process_handle.len == 0)
		return rpc_error(arena, APP_INVALID_REQUEST, "processHandle must not be empty");
	if (params->size && !params->tty)
		return rpc_error(arena, APP_INVALID_PARAMS, "process/spawn size requires tty: true");
	if (client_command_find(request->connection, &process_kind, params->process_handle))
		return rpc_error(arena, APP_INVALID_REQUEST, "duplicate active process handle: \"%.*s\"",
		                 STR_ARG(params->process_handle));
	if (client_command_is_full(request->connection))
		return rpc_error(arena, APP_INVALID_REQUEST,
		                 "this connection runs %d commands already; wait for one to end",
		                 LIMIT_CLIENT_COMMANDS);
	return NULL;
}

static const struct rpc_error *fill(struct rpc_request *request, const struct app_process_spawn_params *params,
                                    struct client_command *command)
{
	const struct env_policy everything = {.ignore_default_excludes = true};
	command->size = (struct pty_size){PTY_ROWS, PTY_COLS};
	const struct rpc_error *error = command_words_argv(request, params->command, params->command_count, command);
	if (!error)
		error = check_handle(request, params);
	if (!error && params->size)
		error = command_words_size(request, "process/spawn", params->size->rows, params->size->cols,
		                           &command->size);
	if (!error)
		error = command_words_timeout(request, "process/spawn", params->has_timeout_ms, params->timeout_ms,
		                              command);
	if (!error)
		error = command_words_cap(request, params->has_output_bytes_cap, params->output_bytes_cap, command);
	if (error)
		return error;
	command->id = arena_str(&command->arena, params->process_handle);
	command->cwd = arena_cstr(&command->arena, params->cwd);
	command->has_terminal = params->tty;
	command->takes_input = params->tty || params->stream_stdin;
	command->is_streamed = params->tty || params->stream_stdout_stderr;
	command->sandbox.mode = sandbox_mode_danger_full_access;
	env_policy_apply(&everything, NULL, &command->env);
	return command_words_env(request, params->env, command);
}

enum rpc_verdict on_rpc_process_spawn(struct rpc_request *request, const struct app_process_spawn_params *params)
{
	struct client_command *command = client_command_create(request, &process_kind);
	return client_command_start(command, fill(request, params, command));
}

/* ---- while it runs ---- */

enum rpc_verdict on_rpc_process_write_stdin(struct rpc_request *request,
                                            const struct app_process_write_stdin_params *params)
{
	struct app_process_write_stdin_response response = {0};
	struct command_words_input input = {
		.method = "process/writeStdin",
		.what = "process",
		.missing = MISSING,
		.id = params->process_handle,
		.base64 = params->delta_base64,
		.closes = params->close_stdin,
	};
	const struct rpc_error *error = command_words_input(request, &input, &process_kind);
	return error ? rpc_refuse(request, error) : rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_process_resize_pty(struct rpc_request *request,
                                           const struct app_process_resize_pty_params *params)
{
	struct app_process_resize_pty_response response = {0};
	struct command_words_resize resize = {
		.method = "process/resizePty",
		.missing = MISSING,
		.id = params->process_handle,
		.rows = params->size->rows,
		.cols = params->size->cols,
	};
	const struct rpc_error *error = command_words_resize(request, &resize, &process_kind);
	return error ? rpc_refuse(request, error) : rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_process_kill(struct rpc_request *request, const struct app_process_kill_params *params)
{
	struct app_process_kill_response response = {0};
	struct client_command *command =
		client_command_find(request->connection, &process_kind, params->process_handle);
	if (!command)
		return rpc_refuse(request, command_words_not_found(request, MISSING, params->process_handle));
	enum rpc_verdict verdict = rpc_reply(request, &response);
	client_command_terminate(command);
	return verdict;
}
