/* exec_decision.h — the table that decides whether to run a command, to ask, or to refuse it. Private to tool/exec.
 *
 * Pure: depends only on the approval policy, the kind of the command and whether a sandbox applies. Thread: any. */
#ifndef TOOL_EXEC_DECISION_H
#define TOOL_EXEC_DECISION_H

#include <stdbool.h>

#include "command/exec_policy.h"
#include "protocol/message/approval.h"

enum exec_kind { EXEC_safe, EXEC_ordinary, EXEC_dangerous, EXEC_kind_count };

/* True if the model may request to leave the sandbox; if false, every such command is refused. */
bool exec_may_escalate(const struct ask_for_approval *policy);

/* Decides about a command that the sandbox stopped: ask whether to run it again outside, or do not ask (forbidden). */
enum exec_decision exec_decide_stopped(const struct ask_for_approval *policy);

/* is_escalated: the command requests to leave the sandbox, and exec_may_escalate is true. has_sandbox: a sandbox
 * applies. */
enum exec_decision exec_decide(const struct ask_for_approval *policy, enum exec_kind kind, bool is_escalated,
                               bool has_sandbox);

#endif
