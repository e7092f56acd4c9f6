/* tool_collab.h — what the tools share that name agents by their threads. Private to tool/. */
#ifndef TOOL_TOOL_COLLAB_H
#define TOOL_TOOL_COLLAB_H

#include "base/str.h"

struct agent;
struct json_writer;
struct tool_call;

/* As AgentStatus; NULL: "not_found". */
void tool_agent_write_status(const struct agent *agent, struct json_writer *w);
/* The subagent with that thread; NULL: the call has been answered. */
struct agent *tool_agent_by_id(struct tool_call *call, const struct agent *self, struct str id);

#endif
