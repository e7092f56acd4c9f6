/* exec_deltas.h — the events with a command's output while it runs. Private to tool/.
 *
 * They are for display: the end event has the head and the tail of the whole output. So they are paced (several reads
 * become one event) and limited to LIMIT_EXEC_DELTAS events and LIMIT_EXEC_DELTA_BYTES of JSON for each command. At the
 * limit one note replaces the rest; another at the end says how many bytes were left out.
 *
 * Owns: a timer, at most LIMIT_EXEC_CHUNK bytes. Borrows: the host, ids. Loop thread only. */
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
	struct buf waiting; /* bytes of stream that were not emitted yet */
	enum exec_stream stream;
	struct loop_timer *pace; /* runs while bytes are collected; NULL before the first output */
	size_t count, bytes;     /* events and bytes emitted so far */
	bool is_over;            /* the limit was reached, so no more events are emitted */
	uint64_t elided;         /* bytes omitted since then */
};

void exec_deltas_init(struct exec_deltas *deltas, struct tool_host *host, struct str call_id, struct str turn_id);
void exec_deltas_finish(struct exec_deltas *deltas);
void exec_deltas_add(struct exec_deltas *deltas, enum exec_stream stream, struct str bytes);
/* Counts bytes of output that were discarded unread. */
void exec_deltas_skip(struct exec_deltas *deltas, uint64_t count);
/* Emits the collected bytes now, so that they precede the next event of another kind. */
void exec_deltas_flush(struct exec_deltas *deltas);
/* To be called at the end of the output. */
void exec_deltas_end(struct exec_deltas *deltas);

#endif
