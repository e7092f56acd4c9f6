/* The tools exec_command, which starts a command and waits for it up to a limit, and write_stdin, which polls it later
 * or types into it. */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"
#include "tool/exec/exec_gate.h"
#include "tool/tool_patch.h"
#include "tool/exec/exec_session_priv.h"
#include "tool/tool_impl.h"

enum {
	YIELD_DEFAULT_MS = 10000,
	YIELD_MIN_MS = 250,
	YIELD_MAX_MS = 30000,
	WRITE_DEFAULT_MS = 250,
	POLL_MIN_MS = 5000,
	POLL_MAX_MS = 300000,
};

static uint64_t clamp_ms(bool has, int64_t value, int64_t fallback, int64_t low, int64_t high)
{
	int64_t ms = has ? value : fallback;
	return (uint64_t)(ms < low ? low : ms > high ? high : ms);
}

/* Refuses the command: emits its end, and answers the call with text. */
static void refuse(struct tool_call *call, struct exec_session *session, struct str text)
{
	exec_command_emit_refused(&session->command, text);
	exec_session_destroy(session);
	call->state = NULL;
	tool_call_finish(call, false, text);
}

static void refuse_start(struct tool_call *call, struct exec_session *session, const struct error *err)
{
	struct error error = *err;
	error_wrap(&error, "exec_command failed");
	refuse(call, session, str_of(error.text));
}

static void run(struct tool_call *call, struct exec_session *session)
{
	const struct args_exec_command *args = call->args;
	uint64_t yield_ms =
		clamp_ms(args->has_yield_time_ms, args->yield_time_ms, YIELD_DEFAULT_MS, YIELD_MIN_MS, YIELD_MAX_MS);
	exec_session_start(session, call, yield_ms, args->has_max_output_tokens ? args->max_output_tokens : 0);
}

static void run_if(struct tool_call *call, bool is_approved)
{
	if (is_approved) {
		struct exec_session *session = call->state;
		exec_command_emit_begin(&session->command);
		run(call, session);
		return;
	}
	auto_buf struct buf text;
	buf_init(&text, 1 * KIB);
	exec_gate_refusal(true, &text);
	exec_command_report_denial(&((struct exec_session *)call->state)->command, call);
	refuse(call, call->state, buf_str(&text));
}

static void on_answer(struct tool_call *call, const void *decision)
{
	struct exec_session *session = call->state;
	run_if(call, exec_gate_read(&session->command, decision));
}

static void on_retry_answer(struct tool_call *call, const void *decision)
{
	struct exec_session *session = call->state;
	run_if(call, exec_retry_read(&session->command, decision));
}

/* Called when a command ends before its first answer: it could not be started, or the sandbox may have stopped it,
 * and then it can run again outside. */
static bool on_early_end(struct exec_session *session, const struct process_result *result)
{
	struct tool_call *call = session->waiter;
	if (result->error) {
		exec_session_unwait(session);
		refuse_start(call, session, result->error);
		return true;
	}
	if (!exec_retry_is_due(&session->command, result))
		return false;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX);
	output_text(&session->transcript, &text);
	struct sandbox_outcome outcome = {result->exit_code, result->signal, buf_str(&text), STR("")};
	enum exec_verdict verdict = exec_retry_check(&session->command, call, &outcome, on_retry_answer);
	if (verdict == EXEC_REFUSED)
		return false;
	exec_session_rewind(session);
	call->state = session;
	if (verdict == EXEC_RUN)
		run(call, session);
	return true;
}

static void check(struct tool_call *call, struct exec_session *session)
{
	auto_buf struct buf reason;
	buf_init(&reason, 4 * KIB);
	switch (exec_gate_check(&session->command, call, on_answer, &reason)) {
	case EXEC_REFUSED:
		exec_session_destroy(session);
		tool_call_finish(call, false, buf_str(&reason));
		return;
	case EXEC_WAIT:
		call->state = session;
		return;
	case EXEC_RUN:
		tool_call_note_allowed(call, session->command.is_known);
		exec_command_emit_begin(&session->command);
		run(call, session);
	}
}

/* Called on an interrupt: kills the command that the call started. */
static void stop_command(struct tool_call *call)
{
	struct exec_session *session = call->state;
	if (!session)
		return;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_EXEC_CAPTURE * 3 + OUTPUT_NOTE_MAX);
	output_text(&session->transcript, &text);
	struct str out = buf_str(&text);
	struct exec_outcome outcome = {-1, out, STR(""), out, out};
	if (session->command.is_held_back)
		exec_command_emit_refused(&session->command, STR("aborted by user"));
	else
		exec_command_emit_end(&session->command, &outcome);
	exec_session_destroy(session);
	call->state = NULL;
}

void tool_exec_command_start(struct tool_call *call)
{
	const struct args_exec_command *args = call->args;
	const char *argv[SHELL_ARGC + 1];
	bool login;
	if (!tool_call_choose(call, args->environment_id))
		return;
	if (exec_command_choose_login(call, args->has_login, args->login, &login) != 0)
		return;
	const char *shell = args->shell.ptr ? args->shell.ptr : exec_command_shell(call->environment);
	shell_argv(shell, args->cmd.ptr, login, argv);
	if (tool_patch_intercept(call, argv, args->workdir))
		return;
	struct exec_session *session = exec_session_create(call->host->exec, call, argv, args->workdir);
	session->has_terminal = args->has_tty && args->tty;
	exec_gate_request(&session->command, args->sandbox_permissions, args->justification, args->prefix_rule,
	                  args->prefix_rule_count);
	session->on_early_end = on_early_end;
	call->stop = stop_command;
	check(call, session);
}

/* Ends the wait, while the command keeps running. */
static void stop_waiting(struct tool_call *call)
{
	struct exec_session *session = call->state;
	if (session)
		exec_session_unwait(session);
	call->state = NULL;
}

/* Writes to the command. False if that failed; the call was then finished with the error. */
static bool write_chars(struct tool_call *call, struct exec_session *session, struct str chars)
{
	struct error err;
	if (!session->has_terminal) {
		tool_call_finish(
			call, false,
			STR("write_stdin failed: stdin is closed for this session; rerun exec_command with tty=true "
		            "to keep stdin open"));
		return false;
	}
	if (!session->has_ended && command_run_write(session->command.run, chars, &err) != 0) {
		tool_call_finishf(call, false, "write_stdin failed: %s", err.text);
		return false;
	}
	session->typed = chars;
	return true;
}

/* Returns the session of a call of write_stdin. NULL: the call was finished. */
static struct exec_session *find_session(struct tool_call *call)
{
	const struct args_write_stdin *args = call->args;
	struct exec_session *session = exec_session_find(call->host->exec, args->session_id);
	if (session && !session->waiter)
		return session;
	tool_call_finishf(call, false, "write_stdin failed: Unknown process id %lld", (long long)args->session_id);
	return NULL;
}

static void write_and_wait(struct tool_call *call, struct exec_session *session)
{
	const struct args_write_stdin *args = call->args;
	if (args->chars.len && !write_chars(call, session, args->chars))
		return;
	int64_t least_ms = args->chars.len ? YIELD_MIN_MS : POLL_MIN_MS;
	int64_t most_ms = args->chars.len ? YIELD_MAX_MS : POLL_MAX_MS;
	uint64_t yield_ms = clamp_ms(args->has_yield_time_ms, args->yield_time_ms, WRITE_DEFAULT_MS, least_ms, most_ms);
	call->stop = stop_waiting;
	exec_session_wait(session, call, yield_ms, args->has_max_output_tokens ? args->max_output_tokens : 0);
}

/* The command may have ended while the reviewer was asked. */
static void on_input_answer(struct tool_call *call, const void *body)
{
	const struct review_decision *decision = body;
	struct exec_session *session = find_session(call);
	if (decision->tag == review_decision_abort)
		call->host->interrupt(call->host);
	if (session &&
	    (decision->tag == review_decision_approved || decision->tag == review_decision_approved_for_session))
		write_and_wait(call, session);
	else if (session)
		tool_call_finish(call, false, STR("write_stdin failed: the input was rejected by the reviewer"));
}

void tool_write_stdin_start(struct tool_call *call)
{
	const struct args_write_stdin *args = call->args;
	struct exec_session *session = find_session(call);
	if (!session)
		return;
	if (args->chars.len && session->has_terminal && exec_gate_reviews_input(&session->command))
		exec_gate_ask_input(&session->command, call, args->chars, on_input_answer);
	else
		write_and_wait(call, session);
}
