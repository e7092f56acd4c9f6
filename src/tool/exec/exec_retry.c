/* Whether a fence stopped a command is a guess from what it printed, so it is never the reason to do something, only to
 * ask: the second run, without the fence, takes the user's word. Somebody who has approved the command already gave it
 * (that is what the approval under `untrusted` is for). */
#include "tool/exec/exec_retry.h"

#include "base/limits.h"
#include "process/process.h"
#include "command/shell.h"
#include "tool/exec/exec_decision.h"
#include "tool/exec/exec_judge.h"

#define REASON "command failed; retry without sandbox?"

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
	return command->is_fenced && (result->exit_code != 0 || result->signal != 0);
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
	if (command->is_approved || exec_gate_is_approved(command)) {
		command->is_freed = true;
		return EXEC_RUN;
	}
	struct exec_judgement judgement;
	exec_judge_proposal(command, &judgement);
	exec_gate_ask(command, &judgement, STR(REASON), call, answer);
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
	                          : "Sandbox: it seems to have stopped this command, and nobody may be asked to let it "
	                            "out. Work inside it, and report what could not be done.\n");
}
