/* mock_event.h — writes the events of a stream as server-sent events, in the form of the API that was asked.
 *
 * Owns nothing. Thread: any, one at a time. */
#ifndef SERVER_MOCK_EVENT_H
#define SERVER_MOCK_EVENT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/str.h"
#include "server/mock/mock_item.h"

void mock_event_created(struct buf *out, enum mock_api api, uint64_t request);
void mock_event_completed(struct buf *out, enum mock_api api, uint64_t request, bool has_calls,
                          const struct mock_counts *counts);
void mock_event_item_added(struct buf *out, const struct mock_item *item);
void mock_event_item_delta(struct buf *out, const struct mock_item *item, struct str delta);
/* content is the raw reasoning text, or empty. */
void mock_event_item_done(struct buf *out, const struct mock_item *item, struct str text, struct str content);
/* Writes the raw text of a reasoning item as one delta. */
void mock_event_content_delta(struct buf *out, const struct mock_item *item, struct str delta);
/* Writes an item or event of Responses that the script contains; json is a single line. type may be absent. */
void mock_event_item_verbatim(struct buf *out, unsigned index, struct str json);
void mock_event_verbatim(struct buf *out, struct str type, struct str json);

#endif
