/* command/exec runs a command in the sandbox and is answered when the command has ended. */
#include <errno.h>

#include "app_server/rpc/server.h"
#include "app_server/host/command_words.h"
#include "app_server/rpc/connection.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/config_view.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/config_env.h"
#include "tool/exec/exec_command.h"

#define MISSING "no active command/exec for process id"

/* ---- notifications and responses ---- */

static void on_output(struct client_command *command, enum exec_stream stream, struct str base64, bool is_capped)
{
	struct app_command_exec_output_delta_notification delta = {
		command->id, (enum app_command_exec_output_stream)stream, base64, is_capped};
	connection_notify(command->client, NOTIFY_command_exec_output_delta, &delta);
}

static void on_end(struct client_command *command, const struct client_command_end *end)
{
	struct app_command_exec_response response = {
		.exit_code = end->exit_code,
		.standard_output = end->text[exec_stream_stdout],
		.standard_error = end->text[exec_stream_stderr],
	};
	rpc_reply(command->request, &response);
}

static void on_failure(struct client_command *command, const struct error *err)
{
	rpc_refuse(command->request, command_words_not_started(command->request, "command", err));
}

static const struct client_command_kind exec_kind = {NULL, on_output, on_end, on_failure};

/* ---- the sandbox ---- */

static const char *real_path(struct str path, struct arena *arena)
{
	auto_free char *text = str_dup(path);
	auto_free char *real = realpath(text, NULL);
	return arena_cstr(arena, str_of(real ? real : text));
}

static void take_roots(struct sandbox_policy *policy, const struct str *roots, size_t count, struct arena *arena)
{
	const char **paths = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		paths[i] = real_path(roots[i], arena);
	policy->writable_roots = paths;
	policy->writable_root_count = count;
}

static void sandbox_of_config(const struct config *config, enum sandbox_mode mode, struct client_command *command)
{
	const struct config_sandbox *details = &config->sandbox_workspace_write;
	struct sandbox_policy *policy = &command->sandbox;
	policy->mode = mode;
	if (mode != sandbox_mode_workspace_write)
		return;
	take_roots(policy, details->writable_roots.items, details->writable_roots.count, &command->arena);
	policy->network_access = details->network_access;
	policy->exclude_tmpdir = details->exclude_tmpdir_env_var;
	policy->exclude_slash_tmp = details->exclude_slash_tmp;
}

static void sandbox_of_policy(const struct app_sandbox_policy *policy, struct client_command *command)
{
	struct sandbox_policy *sandbox = &command->sandbox;
	const struct app_sandbox_policy_workspace_write *write = policy->workspace_write;
	switch (policy->tag) {
	case app_sandbox_policy_danger_full_access:
		sandbox->mode = sandbox_mode_danger_full_access;
		return;
	case app_sandbox_policy_external_sandbox:
		sandbox->mode = sandbox_mode_external_sandbox;
		return;
	case app_sandbox_policy_workspace_write:
		sandbox->mode = sandbox_mode_workspace_write;
		take_roots(sandbox, write->writable_roots, write->writable_roots_count, &command->arena);
		sandbox->network_access = write->network_access;
		sandbox->exclude_tmpdir = write->exclude_tmpdir_env_var;
		sandbox->exclude_slash_tmp = write->exclude_slash_tmp;
		return;
	default:
		sandbox->mode = sandbox_mode_read_only;
		sandbox->network_access = policy->read_only->network_access;
	}
}

static const struct rpc_error *check_permitted(struct rpc_request *request, const struct client_command *command)
{
	struct error err;
	const struct config_required *required = config_required(request->server->config);
	const struct sandbox_policy *sandbox = &command->sandbox;
	bool is_limited = sandbox->mode == sandbox_mode_read_only || sandbox->mode == sandbox_mode_workspace_write;
	bool adds = is_limited && (sandbox->writable_root_count || sandbox->network_access);
	if (config_required_check_sandbox(required, sandbox->mode, &err) == 0 &&
	    config_required_check_additions(required, adds, &err) == 0)
		return NULL;
	return rpc_error(&request->arena, APP_INVALID_REQUEST, "%s", err.text);
}

static const struct rpc_error *take_sandbox(struct rpc_request *request, const struct app_command_exec_params *params,
                                            struct client_command *command)
{
	const struct config *config = request->server->config;
	enum sandbox_mode mode = config->sandbox_mode;
	struct error err;
	command->sandbox.backend = config->sandbox_backend;
	if (params->sandbox_policy && params->permission_profile.ptr)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "`permissionProfile` cannot be combined with `sandboxPolicy`");
	command->sandbox.cwd = real_path(str_of(command->cwd), &command->arena);
	command->sandbox.tmpdir = config_env("TMPDIR");
	command->sandbox.home = arena_cstr(&command->arena, str_of(config_home(config)));
	command->sandbox.has_terminal = command->has_terminal;
	if (params->sandbox_policy) {
		sandbox_of_policy(params->sandbox_policy, command);
		return check_permitted(request, command);
	}
	if (params->permission_profile.ptr && permission_profile_find(params->permission_profile, &mode, &err) != 0)
		return rpc_error(&request->arena, APP_INVALID_REQUEST, "invalid permission profile: %s", err.text);
	sandbox_of_config(config, mode, command);
	return check_permitted(request, command);
}

/* ---- command/exec ---- */

static const struct rpc_error *bad_params(struct rpc_request *request, const char *why)
{
	return rpc_error(&request->arena, APP_INVALID_PARAMS, "%s", why);
}

static const struct rpc_error *check_together(struct rpc_request *request, const struct app_command_exec_params *params)
{
	bool is_live = params->tty || params->stream_stdin || params->stream_stdout_stderr;
	if (params->has_output_bytes_cap && params->disable_output_cap)
		return bad_params(request, "command/exec cannot set both outputBytesCap and disableOutputCap");
	if (params->has_timeout_ms && params->disable_timeout)
		return bad_params(request, "command/exec cannot set both timeoutMs and disableTimeout");
	if (params->size && !params->tty)
		return bad_params(request, "command/exec size requires tty: true");
	if (is_live && !params->process_id.ptr)
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "command/exec tty or streaming requires a client-supplied processId");
	if (params->process_id.ptr && client_command_find(request->connection, &exec_kind, params->process_id))
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "duplicate active command/exec process id: \"%.*s\"", STR_ARG(params->process_id));
	if (client_command_is_full(request->connection))
		return rpc_error(&request->arena, APP_INVALID_REQUEST,
		                 "this connection runs %d commands already; wait for one to end",
		                 LIMIT_CLIENT_COMMANDS);
	return NULL;
}

static const struct rpc_error *take_limits(struct rpc_request *request, const struct app_command_exec_params *params,
                                           struct client_command *command)
{
	int64_t timeout = params->disable_timeout ? FIELD_NULL : params->timeout_ms;
	int64_t cap = params->disable_output_cap ? FIELD_NULL : params->output_bytes_cap;
	command->size = (struct pty_size){PTY_ROWS, PTY_COLS};
	const struct rpc_error *error = NULL;
	if (params->size)
		error = command_words_size(request, "command/exec", params->size->rows, params->size->cols,
		                           &command->size);
	if (!error)
		error = command_words_timeout(request, "command/exec",
		                              params->has_timeout_ms || params->disable_timeout, timeout, command);
	if (error)
		return error;
	return command_words_cap(request, params->has_output_bytes_cap || params->disable_output_cap, cap, command);
}

static void take_cwd(struct rpc_request *request, struct str cwd, struct client_command *command)
{
	auto_free char *text = str_dup(cwd.ptr ? cwd : STR("."));
	auto_free char *path = path_join(request->server->cwd, text);
	auto_free char *plain = path_normalize(path);
	command->cwd = arena_cstr(&command->arena, str_of(plain));
}

static void take_words(const struct app_command_exec_params *params, struct client_command *command)
{
	command->id = arena_str(&command->arena, params->process_id);
	command->has_terminal = params->tty;
	command->takes_input = params->tty || params->stream_stdin;
	command->is_streamed = params->tty || params->stream_stdout_stderr;
}

static const struct rpc_error *fill(struct rpc_request *request, const struct app_command_exec_params *params,
                                    struct client_command *command)
{
	const struct config *config = request->server->config;
	const struct rpc_error *error = command_words_argv(request, params->command, params->command_count, command);
	if (!error)
		error = check_together(request, params);
	if (!error)
		error = take_limits(request, params, command);
	if (error)
		return error;
	take_words(params, command);
	take_cwd(request, params->cwd, command);
	error = take_sandbox(request, params, command);
	if (error)
		return error;
	exec_command_env(&config->shell_environment_policy, &command->env);
	struct env_engine engine = {
		.network_disabled = sandbox_is_needed(command->sandbox.mode) && !command->sandbox.network_access,
	};
	env_engine_apply(&engine, &command->env);
	return command_words_env(request, params->env, command);
}

enum rpc_verdict on_rpc_command_exec(struct rpc_request *request, const struct app_command_exec_params *params)
{
	struct client_command *command = client_command_create(request, &exec_kind);
	return client_command_start(command, fill(request, params, command));
}

/* ---- while it runs ---- */

enum rpc_verdict on_rpc_command_exec_write(struct rpc_request *request,
                                           const struct app_command_exec_write_params *params)
{
	struct app_command_exec_write_response response = {0};
	struct command_words_input input = {
		.method = "command/exec/write",
		.what = "command/exec",
		.missing = MISSING,
		.id = params->process_id,
		.base64 = params->delta_base64,
		.closes = params->close_stdin,
	};
	const struct rpc_error *error = command_words_input(request, &input, &exec_kind);
	return error ? rpc_refuse(request, error) : rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_command_exec_resize(struct rpc_request *request,
                                            const struct app_command_exec_resize_params *params)
{
	struct app_command_exec_resize_response response = {0};
	struct command_words_resize resize = {
		.method = "command/exec",
		.missing = MISSING,
		.id = params->process_id,
		.rows = params->size->rows,
		.cols = params->size->cols,
	};
	const struct rpc_error *error = command_words_resize(request, &resize, &exec_kind);
	return error ? rpc_refuse(request, error) : rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_command_exec_terminate(struct rpc_request *request,
                                               const struct app_command_exec_terminate_params *params)
{
	struct app_command_exec_terminate_response response = {0};
	struct client_command *command = client_command_find(request->connection, &exec_kind, params->process_id);
	if (!command)
		return rpc_refuse(request, command_words_not_found(request, MISSING, params->process_id));
	enum rpc_verdict verdict = rpc_reply(request, &response);
	client_command_terminate(command);
	return verdict;
}
