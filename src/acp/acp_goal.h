/* acp_goal.h — `/goal`: the goal of a session, whose turns answer the prompt that set it. Loop thread only. */
#ifndef ACP_ACP_GOAL_H
#define ACP_ACP_GOAL_H

#include <stdbool.h>

#include "base/str.h"

struct buf;
struct codex;

/* True if the session has an active goal, whose next turn starts by itself. */
bool acp_goal_is_active(const struct codex *codex);
/* Carries out `/goal REST`. Appends the answer to out; false if turns answer the prompt later. */
bool acp_goal_run(struct codex *codex, struct str rest, struct buf *out);
/* Pauses an active goal. */
void acp_goal_pause(struct codex *codex);

#endif
