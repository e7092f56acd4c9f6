/* tool_agent.h — functions that the subagent tools share. Private to tool/. */
#ifndef TOOL_TOOL_AGENT_H
#define TOOL_TOOL_AGENT_H

#include <stdint.h>

#include "agent/agent_tree.h"
#include "tool/tool.h"

/* Returns the agent that calls a subagent_* tool. NULL if the session has no such tools; the call is then finished. */
struct agent *tool_agent_self(struct tool_call *call);
/* As tool_agent_self, for tools that identify agents by thread id. */
struct agent *tool_collab_self(struct tool_call *call);
/* Returns the agent with that number. NULL if there is no such agent; the call is then finished. */
struct agent *tool_agent_find(struct tool_call *call, const struct agent *self, int64_t id);

#endif
