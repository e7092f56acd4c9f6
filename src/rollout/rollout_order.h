/* rollout_order.h — the lines of a numbered file by their numbers, where they do not stand in that order (a file that
 * was copied together, or restored in pieces). Lines without a number stay behind the one they stood behind.
 *
 * Owns: the list; the texts are the caller's. Any thread. */
#ifndef ROLLOUT_ROLLOUT_ORDER_H
#define ROLLOUT_ROLLOUT_ORDER_H

#include "base/str.h"
#include "base/vec.h"
#include "rollout/rollout_line.h"

struct rollout_place {
	uint64_t ordinal;
	size_t seq; /* where it stood */
	struct str text;
	bool has_ordinal;
	enum rollout_line_type type;
	int64_t at_ms;
};

struct rollout_order {
	VEC(struct rollout_place) lines;
	size_t repeated; /* lines that stood there more than once, and are listed once */
};

void rollout_order_init(struct rollout_order *order, struct str bytes);
void rollout_order_finish(struct rollout_order *order);

#endif
