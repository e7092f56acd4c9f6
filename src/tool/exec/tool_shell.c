/* shell and shell_command run one command with a time limit. They are for models trained on older tools; both return
 * the same text. */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"
#include "process/output.h"
#include "command/shell.h"
#include "tool/exec/exec_command.h"
#include "tool/exec/exec_gate.h"
#include "tool/tool_patch.h"
#include "tool/tool_impl.h"

enum { TIMEOUT_DEFAULT_MS = 10000, TIMEOUT_EXIT_CODE = 124, TIMEOUT_MAX_MS = 24 * 3600 * 1000 };

struct shell_run {
	struct tool_call *call;
	struct exec_command command;
	struct loop_timer *timer;
	uint64_t timeout_ms;
	bool has_timed_out;
	struct output out, err; /* stdout and stderr */
};

/* The arguments of either tool. */
struct shell_request {
	const char *const *argv;
	size_t argc;
	struct str workdir, sandbox_permissions, justification;
	const struct str *prefix_rule;
	size_t prefix_rule_count;
	bool has_timeout_ms;
	int64_t timeout_ms;
};

static void shell_run_destroy(struct shell_run *run)
{
	run->call->state = NULL;
	loop_timer_destroy(run->timer);
	output_finish(&run->out);
	output_finish(&run->err);
	exec_command_finish(&run->command);
	free(run);
}

/* Appends "Exit code: 0\nWall time: 0.8 seconds\nOutput:\n". */
static void append_head(const struct exec_command *command, int exit_code, struct buf *out)
{
	uint64_t tenths = (exec_command_ran_ns(command) + 50000000u) / 100000000u;
	buf_printf(out, "Exit code: %d\nWall time: %llu", exit_code, (unsigned long long)(tenths / 10));
	if (tenths % 10)
		buf_printf(out, ".%llu", (unsigned long long)(tenths % 10));
	buf_append_c(out, " seconds\n");
	exec_retry_note(command, out);
	buf_append_c(out, "Output:\n");
}

static void end(struct shell_run *run, int exit_code, struct str note)
{
	struct tool_call *call = run->call;
	auto_buf struct buf out, err, both, formatted, text;
	size_t room = LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX;
	buf_init(&out, room);
	buf_init(&err, room);
	buf_init(&both, 2 * room + 4 * KIB);
	buf_init(&formatted, 2 * room + 4 * KIB);
	buf_init(&text, 2 * room + 8 * KIB);
	output_text(&run->out, &out);
	output_text(&run->err, &err);
	buf_append_str(&both, note);
	buf_append_str(&both, buf_str(&out));
	buf_append_str(&both, buf_str(&err));
	text_append_output(&formatted, buf_str(&both), call->host->output_budget);
	append_head(&run->command, exit_code, &text);
	buf_append_str(&text, buf_str(&formatted));
	struct exec_outcome outcome = {exit_code, buf_str(&out), buf_str(&err), buf_str(&both), buf_str(&formatted)};
	exec_command_emit_end(&run->command, &outcome);
	shell_run_destroy(run);
	tool_call_finish(call, exit_code == 0, buf_str(&text));
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct shell_run *run = self;
	output_append(stream == exec_stream_stdout ? &run->out : &run->err, bytes);
	exec_command_emit_output(&run->command, stream, bytes);
}

static void begin(struct shell_run *run);
static void fail(struct shell_run *run, struct str text);
static void fail_start(struct shell_run *run, const struct error *err);

static void rewind_run(struct shell_run *run)
{
	loop_timer_stop(run->timer);
	exec_command_rewind(&run->command);
	output_finish(&run->out);
	output_finish(&run->err);
	output_init(&run->out, LIMIT_EXEC_CAPTURE);
	output_init(&run->err, LIMIT_EXEC_CAPTURE);
}

static void begin_if(struct shell_run *run, bool is_approved)
{
	if (is_approved) {
		exec_command_emit_begin(&run->command);
		begin(run);
		return;
	}
	auto_buf struct buf text;
	buf_init(&text, 1 * KIB);
	exec_gate_refusal(false, &text);
	exec_command_report_denial(&run->command, run->call);
	fail(run, buf_str(&text));
}

static void on_retry_answer(struct tool_call *call, const void *decision)
{
	struct shell_run *run = call->state;
	begin_if(run, exec_retry_read(&run->command, decision));
}

/* True if the sandbox may have stopped the command, so that it may run again outside and this end does not count. */
static bool runs_again(struct shell_run *run, const struct process_result *result)
{
	auto_buf struct buf out, err;
	buf_init(&out, LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX);
	buf_init(&err, LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX);
	output_text(&run->out, &out);
	output_text(&run->err, &err);
	struct sandbox_outcome outcome = {result->exit_code, result->signal, buf_str(&out), buf_str(&err)};
	enum exec_verdict verdict = exec_retry_check(&run->command, run->call, &outcome, on_retry_answer);
	if (verdict == EXEC_REFUSED)
		return false;
	rewind_run(run);
	if (verdict == EXEC_RUN)
		begin(run);
	return true;
}

static void on_end(const struct process_result *result, void *self)
{
	struct shell_run *run = self;
	if (result->error && !run->has_timed_out) {
		fail_start(run, result->error);
		return;
	}
	if (!run->has_timed_out && exec_retry_is_due(&run->command, result) && runs_again(run, result))
		return;
	char note[96] = "";
	uint64_t ms = exec_command_ran_ns(&run->command) / 1000000u;
	if (run->has_timed_out)
		snprintf(note, sizeof(note), "command timed out after %llu milliseconds\n", (unsigned long long)ms);
	end(run, run->has_timed_out ? TIMEOUT_EXIT_CODE : exec_exit_code(result), str_of(note));
}

static void on_timeout(void *self)
{
	struct shell_run *run = self;
	if (run->call->host->is_held) { /* a held command may be blocked, so its time does not run out */
		loop_timer_start(run->timer, run->timeout_ms);
		return;
	}
	run->has_timed_out = true;
	command_run_kill(run->command.run);
}

static void fail(struct shell_run *run, struct str text)
{
	struct tool_call *call = run->call;
	exec_command_emit_refused(&run->command, text);
	shell_run_destroy(run);
	tool_call_finish(call, false, text);
}

static void fail_start(struct shell_run *run, const struct error *err)
{
	struct error error = *err;
	error_wrap(&error, "execution error");
	fail(run, str_of(error.text));
}

/* The time limit does not include the trials of the sandbox backends. */
static void prepare(struct command_run_spec *spec, void *self)
{
	struct shell_run *run = self;
	spec->process.drain_ms = PROCESS_DRAIN_MS;
	exec_command_prepare(&run->command, spec);
	loop_timer_start(run->timer, run->timeout_ms);
}

static void begin(struct shell_run *run)
{
	static const struct command_run_handler handler = {prepare, on_output, on_end, NULL};
	exec_command_start(&run->command, &handler, run);
}

static void on_answer(struct tool_call *call, const void *decision)
{
	struct shell_run *run = call->state;
	begin_if(run, exec_gate_read(&run->command, decision));
}

/* Called on an interrupt: terminates the command and its descendants. */
static void stop(struct tool_call *call)
{
	struct shell_run *run = call->state;
	if (!run)
		return;
	exec_command_emit_refused(&run->command, STR("aborted by user"));
	shell_run_destroy(run);
}

static struct shell_run *shell_run_create(struct tool_call *call, const struct shell_request *request)
{
	struct shell_run *run = xnew(struct shell_run);
	run->call = call;
	exec_command_init(&run->command, call, request->argv, request->workdir, exec_source_agent);
	exec_gate_request(&run->command, request->sandbox_permissions, request->justification, request->prefix_rule,
	                  request->prefix_rule_count);
	run->timer = loop_timer_create(call->host->loop, on_timeout, run);
	int64_t timeout = request->has_timeout_ms && request->timeout_ms > 0 ? request->timeout_ms : TIMEOUT_DEFAULT_MS;
	run->timeout_ms = (uint64_t)(timeout < TIMEOUT_MAX_MS ? timeout : TIMEOUT_MAX_MS);
	output_init(&run->out, LIMIT_EXEC_CAPTURE);
	output_init(&run->err, LIMIT_EXEC_CAPTURE);
	call->state = run;
	call->stop = stop;
	return run;
}

static void start(struct tool_call *call, const struct shell_request *request)
{
	auto_buf struct buf reason;
	buf_init(&reason, 4 * KIB);
	if (tool_patch_intercept(call, request->argv, request->workdir))
		return;
	struct shell_run *run = shell_run_create(call, request);
	switch (exec_gate_check(&run->command, call, on_answer, &reason)) {
	case EXEC_REFUSED:
		fail(run, buf_str(&reason));
		return;
	case EXEC_WAIT:
		return;
	case EXEC_RUN:
		tool_call_note_allowed(call, run->command.is_known);
		exec_command_emit_begin(&run->command);
		begin(run);
	}
}

void tool_shell_start(struct tool_call *call)
{
	const struct args_shell *args = call->args;
	if (args->command_count == 0 || args->command_count > LIMIT_ARGV) {
		tool_call_finishf(call, false, "shell failed: command must have 1 to %d words", LIMIT_ARGV);
		return;
	}
	const char **argv = arena_array(&call->arena, const char *, args->command_count + 1);
	for (size_t i = 0; i < args->command_count; i++)
		argv[i] = args->command[i].ptr;
	struct shell_request request = {
		.argv = argv,
		.argc = args->command_count,
		.workdir = args->workdir,
		.sandbox_permissions = args->sandbox_permissions,
		.justification = args->justification,
		.prefix_rule = args->prefix_rule,
		.prefix_rule_count = args->prefix_rule_count,
		.has_timeout_ms = args->has_timeout_ms,
		.timeout_ms = args->timeout_ms,
	};
	start(call, &request);
}

void tool_shell_command_start(struct tool_call *call)
{
	const struct args_shell_command *args = call->args;
	const char *argv[SHELL_ARGC + 1];
	bool login;
	if (exec_command_choose_login(call, args->has_login, args->login, &login) != 0)
		return;
	shell_argv(exec_command_shell(call->environment), args->command.ptr, login, argv);
	struct shell_request request = {
		.argv = argv,
		.argc = SHELL_ARGC,
		.workdir = args->workdir,
		.sandbox_permissions = args->sandbox_permissions,
		.justification = args->justification,
		.prefix_rule = args->prefix_rule,
		.prefix_rule_count = args->prefix_rule_count,
		.has_timeout_ms = args->has_timeout_ms,
		.timeout_ms = args->timeout_ms,
	};
	start(call, &request);
}
