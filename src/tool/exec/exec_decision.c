/* Decisions are a table, because the documentation of the approval policies is one: the two can be compared cell by
 * cell. */
#include "tool/exec/exec_decision.h"

/* A row for each approval policy. Two columns go beyond the documented ones. "to leave": as in codex 0.169, even a
 * command that only reads needs an approval to leave the sandbox, because the sandbox may forbid the read. "stopped": a
 * command that the sandbox stopped; under on-request the model is informed and can ask for the escalation itself. */
enum { TO_LEAVE = EXEC_kind_count, STOPPED, COLUMNS };

static const enum exec_decision table[][COLUMNS] = {
	/* clang-format off */
	/*                               safe        ordinary     dangerous       to leave        stopped */
	[ask_for_approval_untrusted]  = {EXEC_allow, EXEC_prompt, EXEC_prompt,    EXEC_forbidden, EXEC_prompt},
	[ask_for_approval_on_failure] = {EXEC_allow, EXEC_allow,  EXEC_prompt,    EXEC_forbidden, EXEC_prompt},
	[ask_for_approval_on_request] = {EXEC_allow, EXEC_allow,  EXEC_prompt,    EXEC_prompt,    EXEC_forbidden},
	[ask_for_approval_granular]   = {EXEC_allow, EXEC_allow,  EXEC_prompt,    EXEC_prompt,    EXEC_prompt},
	[ask_for_approval_never]      = {EXEC_allow, EXEC_allow,  EXEC_forbidden, EXEC_forbidden, EXEC_forbidden},
	/* clang-format on */
};

enum exec_decision exec_decide_stopped(const struct ask_for_approval *policy)
{
	return approval_may_ask(policy, QUESTION_sandbox) ? table[policy->tag][STOPPED] : EXEC_forbidden;
}

bool exec_may_escalate(const struct ask_for_approval *policy)
{
	return table[policy->tag][TO_LEAVE] != EXEC_forbidden && approval_may_ask(policy, QUESTION_sandbox);
}

enum exec_decision exec_decide(const struct ask_for_approval *policy, enum exec_kind kind, bool is_escalated,
                               bool has_sandbox)
{
	enum exec_decision decision = table[policy->tag][kind];
	bool leaves = is_escalated && has_sandbox;
	return leaves && table[policy->tag][TO_LEAVE] > decision ? table[policy->tag][TO_LEAVE] : decision;
}
