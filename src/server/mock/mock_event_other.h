/* mock_event_other.h — writes the same reply as a stream of Chat Completions or Anthropic Messages.
 *
 * Owns nothing. Thread: any, one at a time. Used by mock_event.c alone. */
#ifndef SERVER_MOCK_EVENT_OTHER_H
#define SERVER_MOCK_EVENT_OTHER_H

#include "base/buf.h"
#include "base/json.h"
#include "server/mock/mock_item.h"

/* Begin and end an event with JSON, in all APIs. */
struct json_writer mock_event_begin(struct buf *out, const char *type);
void mock_event_end(struct json_writer *w);

/* With an API other than Responses. */
void mock_other_created(struct buf *out, enum mock_api api, uint64_t request);
void mock_other_completed(struct buf *out, enum mock_api api, uint64_t request, bool has_calls,
                          const struct mock_counts *counts);
void mock_other_item_added(struct buf *out, const struct mock_item *item);
void mock_other_item_delta(struct buf *out, const struct mock_item *item, struct str delta);
void mock_other_item_done(struct buf *out, const struct mock_item *item, struct str text);

#endif
