/* mock_event.h — writes the events of a Responses stream as server-sent events.
 *
 * Owns nothing. Thread: any, one at a time. */
#ifndef SERVER_MOCK_EVENT_H
#define SERVER_MOCK_EVENT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "server/mock/mock_step.h"

struct json;

/* An output item that is being sent. */
struct mock_item {
	const struct mock_step *step; /* a message, reasoning, delta, call or custom step */
	struct str call_id;           /* from the step; empty: derived from the two numbers */
	uint64_t request;             /* number of the request, from 1 */
	unsigned index;               /* index of the item in the response, from 0 */
};

void mock_event_created(struct buf *out, uint64_t request);
/* Counts that usage lacks are 0. If usage is NULL, the two numbers are used. */
void mock_event_completed(struct buf *out, uint64_t request, const struct json *usage, uint64_t input_tokens,
                          uint64_t output_tokens);
void mock_event_item_added(struct buf *out, const struct mock_item *item);
void mock_event_item_delta(struct buf *out, const struct mock_item *item, struct str delta);
/* content is the raw reasoning text, or empty. */
void mock_event_item_done(struct buf *out, const struct mock_item *item, struct str text, struct str content);
/* Writes the raw text of a reasoning item as one delta. */
void mock_event_content_delta(struct buf *out, const struct mock_item *item, struct str delta);
/* Writes an item or event that the script contains; json is a single line. type may be absent. */
void mock_event_item_verbatim(struct buf *out, unsigned index, struct str json);
void mock_event_verbatim(struct buf *out, struct str type, struct str json);

#endif
