/* tool_collab.h — functions shared by the tools that identify agents by thread id. Private to tool/. */
#ifndef TOOL_TOOL_COLLAB_H
#define TOOL_TOOL_COLLAB_H

#include <stdbool.h>
#include <stdint.h>

#include "agent/agent_wait.h"
#include "base/str.h"

struct agent;
struct agent_launch;
struct json_writer;
struct tool_call;

/* Writes the status as AgentStatus; NULL: "not_found". */
void tool_agent_write_status(const struct agent *agent, struct json_writer *w);
/* Returns the subagent with that thread id. NULL if there is no such agent; the call is then finished. */
struct agent *tool_agent_by_id(struct tool_call *call, const struct agent *self, struct str id);

/* Starts an agent, with the events of it. NULL if that fails; the call is then finished. limit_text: the error if there
 * are too many agents, or NULL for the general one. */
struct agent *tool_collab_launch(struct tool_call *call, struct agent *self, const struct agent_launch *wish,
                                 const char *limit_text);

/* A wait, the state of its call. */
struct tool_collab_wait {
	struct tool_call *call;
	struct agent *self;
	struct agent_wait *wait;
	const struct str *targets; /* for the events */
	size_t target_count;
	void (*answer)(struct tool_collab_wait *wait, enum agent_wake wake); /* finishes the call */
};
/* Waits as the tools of the namespaces do: timeout_ms is bounded, and has a default. The wait that is given holds call,
 * self, targets and answer. */
void tool_collab_wait(const struct tool_collab_wait *with, agent_find_fn find, bool has_timeout_ms, int64_t timeout_ms);

#endif
