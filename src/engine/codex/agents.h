/* agents.h — the Sessions behind a tree of agents: a subagent is a Codex that another one owns. Private to engine/.
 *
 * The root Codex owns the tree and, through it, every subagent's Codex; all share its services and its loop. The tree
 * is made when the first agent is asked for: a session that never starts one has nothing of it.
 * Loop thread only. Source: seed 001, subagents 5, 10. */
#ifndef ENGINE_AGENTS_H
#define ENGINE_AGENTS_H

#include <stdbool.h>

#include "base/str.h"
#include "engine/session/pending.h"
#include "tool/tool.h"

struct agent;
struct codex;
struct event;
struct rollout_reader;
struct session;

/* Who this Session is; NULL if subagents are switched off. */
struct agent *agents_self(struct session *session);
/* Of struct session_ops; self: the Codex. */
const struct session *agents_parent(void *self);
/* The root's end, in two steps: closes every subagent; then, when the root's own Session is gone, forgets the tree. */
void agents_close(struct codex *root);
void agents_destroy(struct codex *root);
/* Subagents whose events nobody takes but the root's front end stand still with it. */
void agents_hold(struct codex *root, bool is_held);

/* A resumed root has the subagents again that its rollout tells of; none of them runs. */
void agents_restore(struct session *session, const struct rollout_reader *reader);
/* Finds out and tells what became of those that were at work; once session_configured is told. */
void agents_tell_restored(struct session *session);

/* An event of a subagent's Codex, taken over: its state follows from it, and its listener hears it. */
void agents_take_event(struct codex *child, struct event *event);

/* For the Tasks; self: the Codex. */
extern const struct inbox_ops agents_inbox;
void agents_record_taken(void *self);
/* A Task has ended: what came meanwhile may begin another. */
void agents_on_task_end(struct codex *codex);
/* The user has said something to a Session that may be waiting for subagents. */
void agents_on_input(struct session *session);
/* What comes to inboxes now begins no Task, but waits for one: who stops everything does not want to hear at once that
 * it has stopped. */
void agents_set_quiet(struct codex *codex, bool is_quiet);
/* The user has interrupted it: what it started ends as well, where that is configured. */
void agents_on_interrupt(struct codex *codex);

/* ---- requests that subagents ask through their root's events ---- */

/* Number of subagents that have such a request pending. */
size_t agents_count_pending(struct codex *root, enum pending_kind kind, struct str id);
/* Answers the first such request. False if there is none. */
bool agents_answer(struct codex *root, enum pending_kind kind, struct str id, const void *answer);

#endif
