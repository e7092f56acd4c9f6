/* chat_think.h — finds the thought at the beginning of an answer, between <think> and </think>: servers that do not
 * know the tags of their model leave it in the text.
 *
 * The division of the text into pieces changes only the division of what is emitted. Tags and the blanks around the
 * thought are not emitted, but kept: before + thought + after + answer are the bytes of the text. Tags elsewhere are
 * text. Owns: what is kept, and a tag that is not complete. Any thread. */
#ifndef MODEL_CHAT_THINK_H
#define MODEL_CHAT_THINK_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/str.h"

enum chat_think_state { THINK_BEFORE, THINK_BEGUN, THINK_INSIDE, THINK_GAP, THINK_AFTER };

struct chat_think {
	enum chat_think_state state; /* THINK_AFTER: all further text is the answer */
	struct buf held;
	struct buf before, after; /* the thought; empty: not found, or not closed */
};

/* The text is borrowed, and not empty. */
typedef void (*chat_think_fn)(bool is_thought, struct str text, void *self);

void chat_think_init(struct chat_think *think);
void chat_think_finish(struct chat_think *think);
void chat_think_feed(struct chat_think *think, struct str text, chat_think_fn emit, void *self);
/* Emits what is held back. */
void chat_think_end(struct chat_think *think, chat_think_fn emit, void *self);

#endif
