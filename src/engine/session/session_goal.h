/* session_goal.h — the goal of a Session: what it works towards, what it has used, and whether the next turn starts by
 * itself. Private to engine/.
 *
 * The goal is data; the Codex starts the turns. Each change is an event, which the rollout records, so
 * that a resumed session has its goal. Loop thread only. */
#ifndef ENGINE_SESSION_GOAL_H
#define ENGINE_SESSION_GOAL_H

#include <stdbool.h>

#include "base/error.h"
#include "protocol/record/types.h"

struct buf;
struct session;

/* Fills a record that is borrowed until the goal changes. False: there is no goal. */
bool session_goal_view(const struct session *session, struct thread_goal *ret);
/* Creates or changes the goal. A new objective after a complete or removed goal starts from zero; if the model sets it
 * and the user has not written meanwhile, it has what the complete one left. ERR_invalid: a value is unusable;
 * ERR_not_found: there is no goal to change; ERR_limit: nothing is left. */
must_check int session_goal_change(struct session *session, const struct goal_change *change, bool is_user,
                                   struct error *err);
/* The user has written. */
void session_goal_hear(struct session *session);
/* Removes the goal. False: the session had no goal. */
bool session_goal_clear(struct session *session);
/* Takes the goal that the rollout recorded; STR_NONE: none. No event is emitted. */
void session_goal_restore(struct session *session, struct str json);
void session_goal_destroy(struct session *session);
/* Lends the goal to the tools; to be called after session_host_init. */
void session_goal_lend(struct session *session);

/* ---- use ---- */

/* Counts the tokens of a response. */
void session_goal_count(struct session *session, const struct token_usage *usage);
/* Adds the duration of a Task that has ended. */
void session_goal_add_time(struct session *session, uint64_t started_ns);
/* Takes an active goal to another state; without an active one it is a no-op. */
void session_goal_stop(struct session *session, enum goal_status status);
/* True if a turn should start for the goal. A goal that has started LIMIT_GOAL_TURNS turns is paused. */
bool session_goal_takes_turn(struct session *session);
/* Appends the message with which such a turn begins. */
void session_goal_write_prompt(const struct session *session, struct buf *out);

#endif
