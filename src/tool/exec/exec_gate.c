/* exec_command_begin is emitted before the approval request, so that clients can render it, unless the host sets
 * begins_once_allowed. A forbidden command emits no events. */
#include "tool/exec/exec_gate.h"

#include "base/limits.h"
#include "command/shell.h"
#include "tool/exec/exec_decision.h"
#include "tool/exec/exec_judge.h"

static void ask(struct exec_command *command, const struct exec_judgement *judgement, struct str reason,
                struct tool_call *call, tool_answer_fn answer)
{
	if (!command->host->begins_once_allowed)
		exec_command_emit_begin(command);
	auto_arena struct arena arena = {0};
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
		.reason = reason,
		.proposed_execpolicy_amendment = (struct str *)judgement->proposal,
		.proposed_execpolicy_amendment_count = judgement->proposal_count,
		.parsed_cmd = parsed,
		.parsed_cmd_count = parsed_count,
	};
	call->host->ask(call->host, call, EV_exec_approval_request, &event, answer);
}

static bool is_approved(const struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	return !key.over && command->host->is_approved(command->host, buf_str(&key));
}

void exec_gate_request(struct exec_command *command, struct str permissions, struct str justification,
                       const struct str *prefix, size_t prefix_count)
{
	struct str *words = arena_array(&command->arena, struct str, prefix_count + 1);
	for (size_t i = 0; i < prefix_count; i++)
		words[i] = arena_str(&command->arena, prefix[i]);
	command->is_escalated = str_is(permissions, "require_escalated");
	command->justification = arena_str(&command->arena, justification);
	command->prefix = words;
	command->prefix_count = prefix_count;
}

enum exec_verdict exec_gate_check(struct exec_command *command, struct tool_call *call, tool_answer_fn answer,
                                  struct buf *ret_reason)
{
	const char *policy = approval_title(command->host->approval_policy);
	if (command->is_escalated && !exec_may_escalate(command->host->approval_policy)) {
		buf_printf(ret_reason,
		           "approval policy is %s; reject command — you cannot ask for escalated permissions if the "
		           "approval policy is %s",
		           policy, policy);
		return EXEC_REFUSED;
	}
	struct exec_judgement judgement;
	exec_judge(command, &judgement);
	command->is_allowed = judgement.is_allowed;
	if (judgement.decision == EXEC_forbidden) {
		exec_judge_refusal(command, &judgement, ret_reason);
		return EXEC_REFUSED;
	}
	if (judgement.decision == EXEC_allow || is_approved(command))
		return EXEC_RUN;
	auto_buf struct buf reason;
	buf_init(&reason, LIMIT_LINE);
	exec_judge_reason(command, &judgement, &reason);
	ask(command, &judgement, reason.len ? buf_str(&reason) : command->justification, call, answer);
	return EXEC_WAIT;
}

static void remember(struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	if (!key.over) /* a truncated key would match other commands */
		command->host->remember(command->host, buf_str(&key));
}

bool exec_gate_read(struct exec_command *command, const struct review_decision *decision)
{
	struct tool_host *host = command->host;
	switch (decision->tag) {
	case review_decision_approved:
		break;
	case review_decision_approved_for_session:
		remember(command);
		break;
	case review_decision_approved_execpolicy_amendment:
		host->amend(host, decision->approved_execpolicy_amendment->proposed_execpolicy_amendment,
		            decision->approved_execpolicy_amendment->proposed_execpolicy_amendment_count);
		break;
	case review_decision_abort:
		host->interrupt(host);
		return false;
	default:
		return false;
	}
	command->is_approved = true;
	return true;
}

void exec_gate_refusal(bool is_unified, struct buf *out)
{
	buf_append_c(out,
	             is_unified
	                     ? "exec_command failed: CreateProcess { message: \"Rejected(\\\"rejected by user\\\")\" }"
	                     : "exec command rejected by user");
}

/* ---- again, outside the sandbox ---- */

/* That the sandbox stopped a command is a guess from its output, so it only leads to an approval request: the second
 * run, outside the sandbox, needs the user's approval. An approval of the first run counts as one. */
#define RETRY_REASON "command failed; retry without sandbox?"

static void tell_client(struct exec_command *command, struct str evidence)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_append_c(&text, "The sandbox stopped `");
	shell_join(&text, command->argv);
	buf_append_c(&text, "`");
	if (evidence.len)
		buf_printf(&text, ": %.*s", STR_ARG(evidence));
	struct ev_background_event event = {buf_str(&text)};
	command->host->emit(command->host, command->turn_id, EV_background_event, &event);
}

bool exec_retry_is_due(const struct exec_command *command, const struct process_result *result)
{
	return command->is_sandboxed && (result->exit_code != 0 || result->signal != 0);
}

enum exec_verdict exec_retry_check(struct exec_command *command, struct tool_call *call,
                                   const struct sandbox_outcome *outcome, tool_answer_fn answer)
{
	struct str evidence;
	if (!sandbox_denial_is_likely(outcome, &evidence))
		return EXEC_REFUSED;
	command->is_stopped = true;
	tell_client(command, evidence);
	if (exec_decide_stopped(command->host->approval_policy) == EXEC_forbidden)
		return EXEC_REFUSED;
	if (command->is_approved || is_approved(command)) {
		command->is_freed = true;
		return EXEC_RUN;
	}
	struct exec_judgement judgement;
	exec_judge_proposal(command, &judgement);
	ask(command, &judgement, STR(RETRY_REASON), call, answer);
	return EXEC_WAIT;
}

bool exec_retry_read(struct exec_command *command, const struct review_decision *decision)
{
	command->is_freed = exec_gate_read(command, decision);
	return command->is_freed;
}

void exec_retry_note(const struct exec_command *command, struct buf *out)
{
	if (!command->is_stopped || command->is_freed)
		return;
	buf_append_c(out, exec_may_escalate(command->host->approval_policy)
	                          ? "Sandbox: it seems to have stopped this command. If the command is needed, call it "
	                            "again with sandbox_permissions \"require_escalated\" and a justification.\n"
	                          : "Sandbox: it seems to have stopped this command, and "
	                            "nobody may be asked to let it " /* words: quoted */
	                            "out. Work inside it, and report what could not be done.\n");
}
