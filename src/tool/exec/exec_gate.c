/* A command begins before its question, so that a client can show what the question is about (protocol-v1 4), unless
 * the client expects it after the answer. A forbidden command is refused before any event: it never began. */
#include "tool/exec/exec_gate.h"

#include "base/limits.h"
#include "tool/exec/exec_decision.h"
#include "tool/exec/exec_judge.h"

void exec_gate_ask(struct exec_command *command, const struct exec_judgement *judgement, struct str reason,
                   struct tool_call *call, tool_answer_fn answer)
{
	if (!command->host->begins_once_allowed)
		exec_command_tell_begin(command);
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

bool exec_gate_is_approved(const struct exec_command *command)
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
	if (judgement.decision == EXEC_allow || exec_gate_is_approved(command))
		return EXEC_RUN;
	auto_buf struct buf reason;
	buf_init(&reason, LIMIT_LINE);
	exec_judge_reason(command, &judgement, &reason);
	exec_gate_ask(command, &judgement, reason.len ? buf_str(&reason) : command->justification, call, answer);
	return EXEC_WAIT;
}

static void remember(struct exec_command *command)
{
	auto_buf struct buf key;
	buf_init(&key, LIMIT_LINE);
	exec_command_key(command, &key);
	if (!key.over) /* cut short it would stand for other commands, too */
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
