/* The command needs no approval and has no sandbox, because the user could type it into any terminal. Its events are
 * those of the model's commands, so that clients need no further code. The end event contains the two streams
 * separately; the model gets stdout followed by stderr, truncated like any output. */
#include "tool/exec/user_shell.h"

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "loop/loop.h"
#include "process/output.h"
#include "command/shell.h"
#include "tool/exec/exec_command.h"

enum { TIMEOUT_EXIT_CODE = 124, STREAM_TEXT_MAX = LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX };

struct user_shell {
	struct exec_command command;
	struct loop_timer *timer;
	uint64_t timeout_ms;
	bool has_timed_out;
	struct text_budget budget;
	struct output out, err; /* stdout and stderr */
	user_shell_end_fn on_end;
	void *self;
};

void user_shell_destroy(struct user_shell *shell)
{
	if (!shell)
		return;
	loop_timer_destroy(shell->timer);
	output_finish(&shell->out);
	output_finish(&shell->err);
	exec_command_finish(&shell->command);
	free(shell);
}

/* ---- its end ---- */

static void write_report(const struct user_shell *shell, int exit_code, struct str output, struct buf *out)
{
	double seconds = (double)exec_command_ran_ns(&shell->command) / 1e9;
	struct str script = str_of(shell->command.argv[shell->command.argc - 1]);
	buf_append_c(out, "<user_shell_command>\n<command>\n");
	text_append_middle(out, script, shell->budget);
	buf_printf(out, "\n</command>\n<result>\nExit code: %d\nDuration: %.4f seconds\nOutput:\n", exit_code, seconds);
	buf_append_str(out, output);
	buf_append_c(out, "\n</result>\n</user_shell_command>");
}

static void end(struct user_shell *shell, int exit_code, struct str note)
{
	user_shell_end_fn on_end = shell->on_end;
	void *self = shell->self;
	auto_buf struct buf out, err, both, formatted, report;
	buf_init(&out, STREAM_TEXT_MAX);
	buf_init(&err, STREAM_TEXT_MAX);
	buf_init(&both, (size_t)2 * STREAM_TEXT_MAX + 4 * KIB);
	buf_init(&formatted, (size_t)2 * STREAM_TEXT_MAX + 8 * KIB);
	buf_init(&report, (size_t)2 * STREAM_TEXT_MAX + LIMIT_USER_COMMAND + 16 * KIB);
	output_text(&shell->out, &out);
	output_text(&shell->err, &err);
	buf_append_str(&both, note);
	buf_append_str(&both, buf_str(&out));
	buf_append_str(&both, buf_str(&err));
	text_append_output(&formatted, buf_str(&both), shell->budget);
	write_report(shell, exit_code, buf_str(&formatted), &report);
	struct exec_outcome outcome = {exit_code, buf_str(&out), buf_str(&err), buf_str(&both), buf_str(&formatted)};
	exec_command_emit_end(&shell->command, &outcome);
	user_shell_destroy(shell);
	on_end(buf_str(&report), self);
}

void user_shell_abort(struct user_shell *shell)
{
	end(shell, -1, STR("command aborted by user\n"));
}

static void fail(struct user_shell *shell, const struct error *err)
{
	struct error error = *err; /* a copy that outlives the command */
	error_wrap(&error, "execution error");
	end(shell, -1, str_of(error.text));
}

static void on_ended(const struct process_result *result, void *self)
{
	struct user_shell *shell = self;
	char note[96] = "";
	if (result->error && !shell->has_timed_out) {
		fail(shell, result->error);
		return;
	}
	uint64_t ms = exec_command_ran_ns(&shell->command) / 1000000u;
	if (shell->has_timed_out)
		snprintf(note, sizeof(note), "command timed out after %llu milliseconds\n", (unsigned long long)ms);
	end(shell, shell->has_timed_out ? TIMEOUT_EXIT_CODE : exec_exit_code(result), str_of(note));
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct user_shell *shell = self;
	output_append(stream == exec_stream_stdout ? &shell->out : &shell->err, bytes);
	exec_command_emit_output(&shell->command, stream, bytes);
}

static void on_timeout(void *self)
{
	struct user_shell *shell = self;
	if (shell->command.host->is_held) { /* a held command may be blocked, so its time does not run out */
		loop_timer_start(shell->timer, shell->timeout_ms);
		return;
	}
	shell->has_timed_out = true;
	command_run_kill(shell->command.run);
}

/* ---- its beginning ---- */

static void command_init(struct exec_command *command, struct tool_host *host, struct str turn_id, struct str script)
{
	auto_arena struct arena arena = {0};
	char id[UUID_TEXT_SIZE];
	const char *argv[SHELL_ARGC + 1];
	uuid_v7(id);
	shell_argv(exec_command_shell(host->environment), arena_cstr(&arena, script), true, argv);
	/* exec_command_init copies the data */
	struct tool_call call = {.host = host,
	                         .environment = host->environment,
	                         .cwd = host->cwd,
	                         .turn_id = turn_id,
	                         .call_id = str_of(id)};
	exec_command_init(command, &call, argv, STR_NONE, exec_source_user_shell);
}

static void prepare(struct command_run_spec *spec, void *self)
{
	struct user_shell *shell = self;
	spec->process.drain_ms = PROCESS_DRAIN_MS;
	exec_command_prepare(&shell->command, spec);
	loop_timer_start(shell->timer, shell->timeout_ms);
}

struct user_shell *user_shell_start(struct tool_host *host, struct str turn_id, struct str command, uint64_t timeout_ms,
                                    user_shell_end_fn on_end, void *self)
{
	static const struct command_run_handler handler = {prepare, on_output, on_ended, NULL};
	struct user_shell *shell = xnew(struct user_shell);
	command_init(&shell->command, host, turn_id, command);
	shell->timer = loop_timer_create(host->loop, on_timeout, shell);
	shell->timeout_ms = timeout_ms;
	shell->budget = host->output_budget;
	output_init(&shell->out, LIMIT_EXEC_CAPTURE);
	output_init(&shell->err, LIMIT_EXEC_CAPTURE);
	shell->on_end = on_end;
	shell->self = self;
	exec_command_emit_begin(&shell->command);
	exec_command_start(&shell->command, &handler, shell);
	return shell;
}
