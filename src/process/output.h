/* output.h — what is kept of a command's output: the first and the last half of a cap.
 *
 * Owns: at most `cap` bytes, taken as they are needed. Thread: any one. Nothing here can fail.
 * Text comes out as UTF-8 (ill-formed bytes become U+FFFD) with nothing between head and tail unless
 * bytes were dropped; then a line of its own says how many. Source: core 2.5, 3. */
#ifndef PROCESS_OUTPUT_H
#define PROCESS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct output {
	/* read-only */
	uint64_t total;   /* bytes ever appended, also across drains */
	uint64_t dropped; /* bytes between head and tail that are gone */
	/* private */
	struct buf kept; /* from head_max on the tail, a ring once it is full */
	size_t head_max;
	size_t oldest; /* where the ring's first byte is, from head_max */
};

void output_init(struct output *output, size_t cap);
void output_finish(struct output *output);

void output_append(struct output *output, struct str bytes);
/* Makes an initialised and still empty output hold what another of the same cap holds. */
void output_copy(struct output *output, const struct output *from);
/* count bytes went by unread. The tail is what comes after them. */
void output_skip(struct output *output, uint64_t count);
/* What comes next takes the place of older bytes. */
bool output_is_full(const struct output *output);

/* Appends what is kept. Leaves it in place. Text needs at most 3 * cap + OUTPUT_NOTE_MAX of room. */
enum { OUTPUT_NOTE_MAX = 128 };
void output_text(const struct output *output, struct buf *out);
/* The same at the end of the command: kept memory becomes out, which is empty, and output is finished. */
void output_take(struct output *output, struct buf *out);
/* The same, and forgets it: for polls of a command that goes on. A character whose last bytes have not come
 * yet waits for the next drain, unless this is the last one. */
void output_drain(struct output *output, struct buf *out, bool is_last);

#endif
