/* op.h — carries out submissions: one handler for each row of op.def. Private to engine/codex/.
 *
 * A handler acts at once and never waits; op.c and op_history.c have them. Loop thread only. */
#ifndef ENGINE_OP_H
#define ENGINE_OP_H

#include <stdbool.h>

#include "protocol/message/message.h"

struct codex;

/* Borrows the submission. An Op that cannot be carried out is answered by an error event. */
void op_dispatch(struct codex *codex, const struct submission *submission);
enum op_answer {
	OP_ANSWER_taken,
	OP_ANSWER_unknown,   /* no such request is pending */
	OP_ANSWER_ambiguous, /* several are; the client was warned */
};

/* Answers a question of the Session or of a subagent whose questions are events of this Codex; see codex_answer. There
 * must be a Session. */
enum op_answer op_answer(struct codex *codex, enum event_tag asks, struct str id, const void *answer);

#endif
