/* exec_judge.h — what is thought of a command before it runs: by the user's rules, else by the decision table.
 * Private to tool/. Each plain command in a shell's script is judged; the strictest judgement is the whole's. */
#ifndef TOOL_EXEC_JUDGE_H
#define TOOL_EXEC_JUDGE_H

#include "command/exec_policy.h"
#include "protocol/message/approval.h"

struct buf;
struct exec_command;

struct exec_judgement {
	enum exec_decision decision;
	bool is_ruled;                  /* a rule says so, not the table */
	bool is_unaskable;              /* forbidden, as there is a question that the policy lets nobody ask */
	bool asks[QUESTION_count];      /* the questions that it takes */
	bool is_allowed;                /* rules allow all of it: no fence is needed */
	struct str justification;       /* of the rule; may be absent */
	const struct str *proposal;     /* words that could be allowed for good; the command's */
	size_t proposal_count;
};

/* exec_may_escalate holds if the command asks for it. */
void exec_judge(struct exec_command *command, struct exec_judgement *ret);

/* Judges nothing, and only proposes: what could be allowed for good so that this command needs no fence. */
void exec_judge_proposal(struct exec_command *command, struct exec_judgement *ret);

/* Appends why it is forbidden, for the model; or why it asks, for the user (nothing without a rule). */
void exec_judge_refusal(const struct exec_command *command, const struct exec_judgement *judgement, struct buf *out);
void exec_judge_reason(const struct exec_command *command, const struct exec_judgement *judgement, struct buf *out);

#endif
