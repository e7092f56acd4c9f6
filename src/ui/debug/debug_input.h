/* debug_input.h — reads lines that a user types, or that a script supplies through a pipe or file.
 *
 * Owns: its state; the descriptor stays open and its flags are restored. Loop thread only. No callback runs inside a
 * call to this module. Empty lines are skipped. */
#ifndef UI_DEBUG_INPUT_H
#define UI_DEBUG_INPUT_H

#include "base/str.h"

struct debug_input;
struct loop;

struct debug_input_events {
	/* line is borrowed; the callback may pause the input but not destroy it */
	void (*on_line)(struct str line, void *self);
	void (*on_end)(void *self); /* called once, at the end of the input */
};

struct debug_input *debug_input_create(struct loop *loop, int fd, const struct debug_input_events *events, void *self);
void debug_input_pause(struct debug_input *input);
void debug_input_resume(struct debug_input *input);
void debug_input_destroy(struct debug_input *input); /* NULL is fine */

#endif
