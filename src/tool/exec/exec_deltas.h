/* exec_deltas.h — what clients are told of a command's output while it runs. Private to tool/.
 *
 * Told for watching, not for keeping: the end tells head and tail of everything. So it is paced, one event a moment and
 * not one a read, and bounded: LIMIT_EXEC_DELTAS events and LIMIT_EXEC_DELTA_BYTES of JSON a command, whatever it
 * prints. Past that a note stands for the rest, and at the end one that says how much that was.
 *
 * Owns: a timer, at most LIMIT_EXEC_CHUNK bytes. Borrows: the host, ids. Thread: the loop's. Source: core 2.5. */
#ifndef TOOL_EXEC_DELTAS_H
#define TOOL_EXEC_DELTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "protocol/record/enum.h"

struct loop_timer;
struct tool_host;

struct exec_deltas {
	/* private */
	struct tool_host *host;
	struct str call_id, turn_id;
	struct buf waiting; /* of stream */
	enum exec_stream stream;
	struct loop_timer *pace; /* NULL before the first output; runs while more waits for company */
	size_t count, bytes;     /* told */
	bool is_over;            /* no more is told */
	uint64_t elided;         /* bytes since then */
};

void exec_deltas_init(struct exec_deltas *deltas, struct tool_host *host, struct str call_id, struct str turn_id);
void exec_deltas_finish(struct exec_deltas *deltas);
void exec_deltas_add(struct exec_deltas *deltas, enum exec_stream stream, struct str bytes);
/* Bytes went by that nobody has read. */
void exec_deltas_skip(struct exec_deltas *deltas, uint64_t count);
/* Tells now what waits: something else is told next. */
void exec_deltas_flush(struct exec_deltas *deltas);
/* No more comes. */
void exec_deltas_end(struct exec_deltas *deltas);

#endif
