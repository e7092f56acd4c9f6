/* fleet_rows.h — what a session has to store, in order: events, lines of the rollout, and the submissions that these
 * answer. Stored rows are kept up to LIMIT_FLEET_EVENTS and LIMIT_FLEET_KEPT, because a store that fails over may come
 * back older and then needs them again.
 *
 * Rows are stored in whole groups, which fleet_rows_cut ends: the effects of a submission and the mark that it was
 * applied are one group. Owns: copies of the texts. Any thread, one at a time. */
#ifndef FLEET_FLEET_ROWS_H
#define FLEET_FLEET_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "base/vec.h"

enum fleet_row_kind { FLEET_EVENT, FLEET_LINE, FLEET_APPLIED };

struct fleet_row {
	struct str text;
	enum fleet_row_kind kind;
	bool ends_group;
};

struct fleet_rows {
	/* read-only */
	uint64_t seq, lines; /* numbers of the last event and line added */
	size_t waiting;      /* bytes that are not stored */
	/* private */
	VEC(struct fleet_row) rows;
	size_t stored, sent;               /* count of rows */
	uint64_t stored_seq, stored_lines; /* numbers of the last ones stored */
	uint64_t dropped;                  /* rows that are no longer kept */
	uint64_t from_seq, from_lines;     /* numbers before the first row */
	size_t kept, events;               /* bytes and events in rows */
};

struct fleet_rows_batch {
	VEC(struct str) events, lines;
	struct str applied;
	uint64_t seq, lines_before;
};

/* seq, lines: the numbers that the store has. */
void fleet_rows_init(struct fleet_rows *rows, uint64_t seq, uint64_t lines);
void fleet_rows_finish(struct fleet_rows *rows);
void fleet_rows_add(struct fleet_rows *rows, enum fleet_row_kind kind, struct str text);
/* Adds a line that the store has already, before any other row. */
void fleet_rows_add_stored(struct fleet_rows *rows, struct str line);
/* Ends the group of the rows added since the last cut. */
void fleet_rows_cut(struct fleet_rows *rows);
/* Drops the rows after the last cut. */
void fleet_rows_drop_tail(struct fleet_rows *rows);
bool fleet_rows_has_tail(const struct fleet_rows *rows);
/* Returns a position for fleet_rows_is_stored: all rows added so far. */
uint64_t fleet_rows_position(const struct fleet_rows *rows);
bool fleet_rows_is_stored(const struct fleet_rows *rows, uint64_t position);

/* Fills a batch with the next groups; false if all are stored. The texts are borrowed until the next change. Finish the
 * batch with fleet_rows_batch_finish. */
bool fleet_rows_next(struct fleet_rows *rows, struct fleet_rows_batch *ret);
void fleet_rows_batch_finish(struct fleet_rows_batch *batch);
/* The batch was stored. Returns the bytes of its lines. */
size_t fleet_rows_on_stored(struct fleet_rows *rows);
/* The store has these numbers: the rows after them are to be stored. False if the rows do not contain that place. */
bool fleet_rows_rewind(struct fleet_rows *rows, uint64_t seq, uint64_t lines);
/* The store has nothing: all rows that are kept are to be stored. */
void fleet_rows_restart(struct fleet_rows *rows);

#endif
