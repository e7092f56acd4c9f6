/* tool_collab.h — functions shared by the tools that identify agents by thread id. Private to tool/. */
#ifndef TOOL_TOOL_COLLAB_H
#define TOOL_TOOL_COLLAB_H

#include "base/str.h"

struct agent;
struct json_writer;
struct tool_call;

/* Writes the status as AgentStatus; NULL: "not_found". */
void tool_agent_write_status(const struct agent *agent, struct json_writer *w);
/* Returns the subagent with that thread id. NULL if there is no such agent; the call is then finished. */
struct agent *tool_agent_by_id(struct tool_call *call, const struct agent *self, struct str id);

#endif
