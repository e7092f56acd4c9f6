/* What is asked for is told first, so that a client can show what the question is about (protocol-v1 4). What is
 * forbidden is refused before anything is told: it never began. */
#include "tool/exec_gate.h"

#include "base/limits.h"
#include "process/command_safety.h"
#include "process/sandbox.h"
#include "process/shell.h"
#include "tool/exec_decision.h"

static const char *policy_name(enum approval_policy policy)
{
	static const char *const names[] = {
		[approval_policy_on_request] = "OnRequest",
		[approval_policy_untrusted] = "UnlessTrusted",
		[approval_policy_on_failure] = "OnFailure",
		[approval_policy_never] = "Never",
	};
	return names[policy];
}

static void ask(struct exec_command *command, struct tool_call *call, tool_answer_fn answer)
{
	exec_command_tell_begin(command);
	struct arena arena = {0};
	struct str *argv = arena_array(&arena, struct str, command->argc);
	for (size_t i = 0; i < command->argc; i++)
		argv[i] = str_of(command->argv[i]);
	size_t parsed_count;
	struct parsed_command *parsed = exec_command_parsed(command, &parsed_count);
	struct ev_exec_approval event = {
		.call_id = command->call_id,
		.turn_id = command->turn_id,
		.command = argv,
		.command_count = command->argc,
		.cwd = str_of(command->cwd),
		.reason = command->justification,
		.parsed_cmd = parsed,
		.parsed_cmd_count = parsed_count,
	};
	call->host->ask(call->host, call, EV_exec_approval_request, &event, answer);
	arena_finish(&arena);
}

static bool is_approved(const struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	return !key.over && command->host->is_approved(command->host, buf_str(&key));
}

static enum exec_kind kind_of(const struct exec_command *command)
{
	if (command_is_dangerous(command->argv))
		return EXEC_dangerous;
	return command_is_safe(command->argv) ? EXEC_safe : EXEC_ordinary;
}

static enum exec_decision decide(const struct exec_command *command)
{
	const struct tool_host *host = command->host;
	return exec_decide(host->approval_policy, kind_of(command), command->is_escalated,
	                   sandbox_is_needed(host->sandbox->mode));
}

static void tell_forbidden(const struct exec_command *command, struct buf *out)
{
	buf_append_char(out, '`');
	shell_join(out, command->argv);
	buf_append_c(out, "` rejected: it destroys what cannot be had back, and nobody may be asked under this policy. "
	                  "Do it in a safer way.");
}

enum exec_verdict exec_gate_check(struct exec_command *command, struct tool_call *call, tool_answer_fn answer,
                                  struct buf *ret_reason)
{
	const char *policy = policy_name(command->host->approval_policy);
	if (command->is_escalated && !exec_may_escalate(command->host->approval_policy)) {
		buf_printf(ret_reason,
		           "approval policy is %s; reject command — you cannot ask for escalated permissions if the "
		           "approval policy is %s",
		           policy, policy);
		return EXEC_REFUSED;
	}
	enum exec_decision decision = decide(command);
	if (decision == EXEC_forbidden) {
		tell_forbidden(command, ret_reason);
		return EXEC_REFUSED;
	}
	if (decision == EXEC_allow || is_approved(command))
		return EXEC_RUN;
	ask(command, call, answer);
	return EXEC_WAIT;
}

bool exec_gate_read(struct exec_command *command, const struct review_decision *decision)
{
	if (decision->tag == review_decision_abort)
		command->host->interrupt(command->host);
	if (decision->tag == review_decision_approved_for_session) {
		auto_buf struct buf key;
		buf_init(&key, LIMIT_LINE);
		exec_command_key(command, &key);
		if (!key.over) /* cut short it would stand for other commands, too */
			command->host->remember(command->host, buf_str(&key));
	}
	return decision->tag != review_decision_abort && decision->tag != review_decision_denied;
}

void exec_gate_refusal(bool is_unified, struct buf *out)
{
	buf_append_c(out,
	             is_unified
	                     ? "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"
	                     : "exec command rejected by user");
}
