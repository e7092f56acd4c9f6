/* agents.h — runs the sessions of subagents: each is a Codex that the tree of agents owns. Private to engine/codex/.
 *
 * The root Codex owns the tree (agent/) and, through it, the Codex of every subagent; all share its services and
 * loop. The tree is created when the first tool of subagents is used. Loop thread only. See docs/subagents.md. */
#ifndef ENGINE_AGENTS_H
#define ENGINE_AGENTS_H

#include <stdbool.h>

#include "base/str.h"
#include "engine/session/session.h"
#include "tool/tool.h"

struct agent;
struct codex;
struct error;
struct event;
struct rollout_reader;
struct session;

/* Returns the agent of this session, and creates the tree if necessary. NULL if subagents are disabled. */
struct agent *agents_self(struct session *session);
/* A member of struct session_ops; self is the Codex. */
const struct session *agents_parent(void *self);
/* The two steps of ending a root: agents_close closes all subagents; agents_destroy destroys the tree, after the
 * root's session. */
void agents_close(struct codex *root);
void agents_destroy(struct codex *root);
/* Holds or releases the subagents with their root, unless the front end receives their events itself. */
void agents_hold(struct codex *root, bool is_held);

/* True if a subagent of this root works. */
bool agents_are_active(const struct codex *root);
/* Reports to the subagents what codex_settle reports. */
void agents_settle(struct codex *root, uint64_t number);

/* Restores the tree of a resumed root from its rollout. No subagent runs. */
void agents_restore(struct session *session, const struct rollout_reader *reader);
/* To be called after a configure_session. For a root, settles the restored subagents; for a subagent that is
 * reopened, applies its recorded settings and reads its inbox. */
void agents_on_configured(struct codex *codex);
/* To be called after a failed configure_session. A subagent that is reopened is unloaded and ends with this error;
 * no-op for a root. */
void agents_on_configure_failed(struct codex *codex, const struct error *err);

/* Takes over an event of a subagent's Codex: updates the agent, and passes the event to its receiver. */
void agents_take_event(struct codex *child, struct event *event);

/* The inbox of tasks; self is the Codex. */
extern const struct inbox_ops agents_inbox;
/* To be called when a task has ended: pending messages may start another one. */
void agents_on_task_end(struct codex *codex);
/* To be called when input of the user arrives: ends the session's waits for subagents. */
void agents_on_input(struct session *session);
/* While quiet, messages to inboxes start no Task: an interrupt must not start new work with the results of the work
 * that it ended. */
void agents_set_quiet(struct codex *codex, bool is_quiet);
/* To be called when the user interrupts the session: cancels its subagents if agents.interrupt_cascade is set. */
void agents_on_interrupt(struct codex *codex);

/* ---- requests that subagents ask through their root's events ---- */

/* Returns the call of the first subagent that has such a request pending, or NULL, and the number of these subagents.
 */
const struct tool_call *agents_find_pending(struct codex *root, enum pending_kind kind, struct str id, size_t *ret);
/* Appends the name of the subagent that runs this Task. */
void agents_write_asker(const struct codex *codex, struct str task, struct buf *out);
/* Answers the first such request; false if none is pending. */
bool agents_answer(struct codex *root, enum pending_kind kind, struct str id, const void *answer);

#endif
