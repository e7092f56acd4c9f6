/* op.h — carries out submissions: one handler for each row of op.def. Private to engine/codex/.
 *
 * A handler acts at once and never waits; op.c and op_history.c have them. Loop thread only. */
#ifndef ENGINE_OP_H
#define ENGINE_OP_H

#include "protocol/message/message.h"

struct codex;

/* Borrows the submission. An Op that cannot be carried out is answered by an error event. */
void op_dispatch(struct codex *codex, const struct submission *submission);
/* Ends all work; submissions that follow are discarded. */
void op_shut_down(struct codex *codex);

#endif
