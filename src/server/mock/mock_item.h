/* mock_item.h — the parts of a reply, in the form of every API. */
#ifndef SERVER_MOCK_ITEM_H
#define SERVER_MOCK_ITEM_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "server/mock/mock_match.h"
#include "server/mock/mock_step.h"

struct mock_counts {
	int64_t input, cached, output, reasoning; /* tokens */
};

/* An output item that is being sent. */
struct mock_item {
	enum mock_api api;
	const struct mock_step *step; /* a message, reasoning, delta, call or custom step */
	struct str call_id;           /* from the step; empty: derived from the two numbers */
	uint64_t request;             /* number of the request, from 1 */
	unsigned index;               /* index of the item in the response, from 0 */
	bool has_pieces;              /* its text is sent in deltas */
};

#endif
