/* exec_judge.h — judges a command before it runs, by the user's rules, else by the decision table. Private to
 * tool/exec.
 *
 * Each plain command in a script is judged; the strictest decision applies. */
#ifndef TOOL_EXEC_JUDGE_H
#define TOOL_EXEC_JUDGE_H

#include "command/exec_policy.h"
#include "protocol/message/approval.h"

struct buf;
struct exec_command;

struct exec_judgement {
	enum exec_decision decision;
	bool is_ruled;              /* decided by a rule, not by the table */
	bool is_unaskable;          /* forbidden, because the policy rejects one of its questions */
	bool asks[QUESTION_count];  /* the kinds of questions to ask */
	bool is_allowed;            /* rules allow all of it: it runs outside the sandbox */
	struct str justification;   /* of the rule; may be absent */
	const struct str *proposal; /* a prefix rule to propose; the command's */
	size_t proposal_count;
};

/* exec_may_escalate holds if the command asks for it. */
void exec_judge(struct exec_command *command, struct exec_judgement *ret);

/* Fills only the proposal: a rule that would let this command run outside the sandbox. */
void exec_judge_proposal(struct exec_command *command, struct exec_judgement *ret);

/* Append the reason of a refusal, for the model, and of an approval request, for the user (empty without a rule). */
void exec_judge_refusal(const struct exec_command *command, const struct exec_judgement *judgement, struct buf *out);
void exec_judge_reason(const struct exec_command *command, const struct exec_judgement *judgement, struct buf *out);

#endif
