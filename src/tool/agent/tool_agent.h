/* tool_agent.h — what the subagent tools share. Private to tool/. */
#ifndef TOOL_TOOL_AGENT_H
#define TOOL_TOOL_AGENT_H

#include <stdint.h>

#include "agent/agent_tree.h"
#include "tool/tool.h"

/* The agent that calls a subagent_* tool. NULL: the session has no such tools, and the call is finished. */
struct agent *tool_agent_self(struct tool_call *call);
/* The same for the tools that name agents by their threads. */
struct agent *tool_collab_self(struct tool_call *call);
/* The agent of that number; NULL: the call has been answered. */
struct agent *tool_agent_find(struct tool_call *call, const struct agent *self, int64_t id);

#endif
