/* codex_session.h — opens, configures, holds and closes the Session of a Codex. Private to engine/codex/.
 * Loop thread only. */
#ifndef ENGINE_CODEX_SESSION_H
#define ENGINE_CODEX_SESSION_H

#include "base/error.h"
#include "protocol/message/message.h"

struct codex;
struct session;

/* Sets up codex->goal, which the owner finishes. */
void codex_init_goal(struct codex *codex);
/* Starts a turn for an active goal, after a Task that succeeded or a change of the goal. */
void codex_continue_goal(struct codex *codex);
/* Creates the session and emits session_configured with sub_id. After an error there is no session. */
must_check int codex_open_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                                  struct error *err);
/* Aborts running work, then applies the new values; history and id stay. */
must_check int codex_reconfigure_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                                         struct error *err);
/* Continues the task of the options' `unfinished`, once. There must be a Session. */
void codex_continue(struct codex *codex);
/* Terminates the background commands and the user shell commands and emits their ends. */
void codex_end_commands(struct codex *codex);
/* These pause and resume the sources of many events: the model's stream and the commands. */
void codex_hold_session(struct codex *codex);
void codex_release_session(struct codex *codex);
/* Aborts the running task at the user's request, and starts the Interrupt hooks. */
void codex_interrupt(struct codex *codex);
/* Runs the SessionEnd hooks, then emits shutdown_complete with this id. */
void codex_end_session(struct codex *codex, struct str id);
/* Ends all work of the session without events, and frees it. No-op without a session. */
void codex_close_session(struct codex *codex);

#endif
