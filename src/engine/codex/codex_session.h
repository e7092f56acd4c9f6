/* codex_session.h — how a Codex opens, configures, holds and closes its Session. Private to engine/codex/.
 * Loop thread only. */
#ifndef ENGINE_CODEX_SESSION_H
#define ENGINE_CODEX_SESSION_H

#include "protocol/message/submission.h"

struct codex;
struct error;
struct session;

/* Makes the Session and emits session_configured with sub_id. On error there is none. */
int codex_open_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                       struct error *err);
/* Aborts running work, then applies the new values; history and id stay. */
int codex_reconfigure_session(struct codex *codex, struct str sub_id, const struct op_configure_session *op,
                              struct error *err);
/* Stops and restarts what produces events in numbers: the model's stream and the commands. */
void codex_hold_session(struct codex *codex);
void codex_release_session(struct codex *codex);
/* Ends everything the Session runs, without events, and frees it. Nothing happens if there is none. */
void codex_close_session(struct codex *codex);

#endif
