/* output.h — the kept part of a command's output: the first and the last bytes, half of a cap each.
 *
 * Owns: at most `cap` bytes, allocated as needed. Any thread, one at a time. No function fails. Text is UTF-8:
 * ill-formed bytes become U+FFFD. If bytes were dropped, a line between head and tail gives their number. */
#ifndef PROCESS_OUTPUT_H
#define PROCESS_OUTPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"

struct output {
	/* read-only */
	uint64_t total;   /* bytes appended in total, drained ones included */
	uint64_t dropped; /* bytes between head and tail that were dropped */
	/* private */
	struct buf kept; /* the head, and from head_max on the tail, which is a ring when it is full */
	size_t head_max;
	size_t oldest; /* the position of the ring's oldest byte, counted from head_max */
};

void output_init(struct output *output, size_t cap);
void output_finish(struct output *output);

void output_append(struct output *output, struct str bytes);
/* Copies another output of the same cap; output must be initialised and empty. */
void output_copy(struct output *output, const struct output *from);
/* Records that count bytes were not read; the tail restarts after them. */
void output_skip(struct output *output, uint64_t count);
/* True if further bytes will replace older ones. */
bool output_is_full(const struct output *output);

/* Appends head and tail to out and keeps them. Needs at most 3 * cap + OUTPUT_NOTE_MAX bytes of room. */
enum { OUTPUT_NOTE_MAX = 128 };
void output_text(const struct output *output, struct buf *out);
/* As output_text, at the end of the command: the kept memory becomes out, which must be empty, and output is
 * finished. */
void output_take(struct output *output, struct buf *out);
/* Appends head and tail to out and drops them: for polls of a running command. An incomplete character at the end
 * stays for the next drain, unless is_last. */
void output_drain(struct output *output, struct buf *out, bool is_last);

#endif
