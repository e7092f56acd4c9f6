/* unfinished.h — a task that a lost process has left, to be continued by another one. Borrowed by the engine until the
 * session is configured. */
#ifndef ENGINE_UNFINISHED_H
#define ENGINE_UNFINISHED_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

struct event_msg;
struct submission;

/* A call of the model whose effects had begun. */
struct unfinished_call {
	struct str call_id;
	const struct event_msg *begin; /* exec_command_begin, patch_apply_begin or mcp_tool_call_begin; NULL: unknown */
	bool has_ended;                /* the end event was emitted */
	struct str output;             /* what the call returned, if it has ended */
};

struct unfinished {
	struct str id;                          /* of the task; STR_NONE: only subagents worked */
	struct str turn_id;                     /* its name in the rollout */
	const char *worker;                     /* the lost process, for the warning */
	const struct submission *const *inputs; /* those that started and steered the task, oldest first */
	size_t input_count;
	bool is_first_recorded; /* the first of them is in the history */
	const struct unfinished_call *calls;
	size_t call_count;
	const char *thread_id;           /* of a subagent; NULL: the session itself */
	const struct unfinished *agents; /* tasks of subagents, without inputs */
	size_t agent_count;
};

#endif
