/* debug_input.h — lines that a person types, or that a script feeds through a pipe or file.
 *
 * Owns: nothing but its state; the descriptor stays open and is left as it was found. Loop thread only.
 * No callback runs inside a call. Empty lines are no lines. */
#ifndef UI_DEBUG_INPUT_H
#define UI_DEBUG_INPUT_H

#include "base/str.h"

struct debug_input;
struct loop;

struct debug_input_events {
	void (*on_line)(struct str line, void *self); /* borrowed; may pause, not destroy */
	void (*on_end)(void *self);                   /* once; no line will come */
};

struct debug_input *debug_input_create(struct loop *loop, int fd, const struct debug_input_events *events, void *self);
void debug_input_pause(struct debug_input *input);
void debug_input_resume(struct debug_input *input);
void debug_input_destroy(struct debug_input *input); /* NULL is fine */

#endif
