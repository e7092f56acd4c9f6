/* collab_event.h — the events of calls that concern other agents: collab_*_begin and collab_*_end.
 *
 * Both families of tools (subagent_* and spawn_agent, wait, …) emit the same events. */
#ifndef TOOL_COLLAB_EVENT_H
#define TOOL_COLLAB_EVENT_H

#include "base/str.h"

struct agent;
struct agent_launch;
struct agent_status;
struct arena;
struct tool_call;

/* Returns the status of an agent in the form of these events; NULL: not found. */
struct agent_status collab_status(const struct agent *agent, struct arena *arena);

void collab_emit_spawn_begin(struct tool_call *call, const struct agent_launch *launch);
/* child: NULL if no agent could be started. */
void collab_emit_spawn_end(struct tool_call *call, const struct agent *child, const struct agent_launch *launch);
void collab_emit_message_begin(struct tool_call *call, const struct agent *to, struct str prompt);
void collab_emit_message_end(struct tool_call *call, const struct agent *to, struct str prompt);
/* target: NULL stands for all of the reader's children. */
void collab_emit_wait_begin(struct tool_call *call, const struct agent *reader, const struct agent *target);
void collab_emit_wait_end(struct tool_call *call, const struct agent *reader, const struct agent *target);
/* As for one target, for threads by id, known or unknown. The event of a wait that timed out lists only completed
 * agents. */
void collab_emit_wait_ids_begin(struct tool_call *call, const struct agent *reader, const struct str *ids,
                                size_t count);
void collab_emit_wait_ids_end(struct tool_call *call, const struct agent *reader, const struct str *ids, size_t count);
void collab_emit_close_begin(struct tool_call *call, const struct agent *agent);
/* Emits the end. For close_agent, status is the state before the call, as in its answer; for cancel and prune, the
 * state after it. nickname: STR_NONE for an agent that has none or does not exist. */
void collab_emit_close_end(struct tool_call *call, struct str session_id, struct str nickname,
                           const struct agent_status *status);
void collab_emit_resume_begin(struct tool_call *call, const struct agent *agent);
void collab_emit_resume_end(struct tool_call *call, const struct agent *agent);

#endif
