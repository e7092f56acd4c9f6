/* exec_judge.h — what is thought of a command before it runs: by the user's rules, else by the decision table.
 * Private to tool/. Each plain command in a shell's script is judged; the strictest judgement is the whole's. */
#ifndef TOOL_EXEC_JUDGE_H
#define TOOL_EXEC_JUDGE_H

#include "command/exec_policy.h"
#include "protocol/message/approval.h"

struct buf;
struct exec_command;

enum exec_kind {
	EXEC_safe,
	EXEC_ordinary,
	EXEC_dangerous,
	EXEC_kind_count
};

/* A command that asks to leave the fence, under a policy that lets no model ask, is refused whatever it is. */
bool exec_may_escalate(const struct ask_for_approval *policy);

/* A command that the fence has stopped, to be run again without: ask, or leave it at that (forbidden). */
enum exec_decision exec_decide_stopped(const struct ask_for_approval *policy);

/* is_escalated: it asks to leave the fence; exec_may_escalate holds. has_fence: there is one to leave. */
enum exec_decision exec_decide(const struct ask_for_approval *policy, enum exec_kind kind, bool is_escalated,
                               bool has_fence);

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
