/* exec_decision.h — run, ask or refuse: the decision table of core 2.3. Private to tool/.
 *
 * Pure: from the policy, what the command is, and whether there is a fence around it. Thread: any. */
#ifndef TOOL_EXEC_DECISION_H
#define TOOL_EXEC_DECISION_H

#include <stdbool.h>

#include "command/exec_policy.h"
#include "protocol/message/approval.h"

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

#endif
