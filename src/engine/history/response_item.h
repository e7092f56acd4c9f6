/* response_item.h — items of a model's answer on their way into the history (core 1.4). */
#ifndef ENGINE_RESPONSE_ITEM_H
#define ENGINE_RESPONSE_ITEM_H

#include "base/buf.h"

struct json;

/* Appends the item as it is sent back to a model: without its id and without null members, which some
 * providers refuse on input. */
void response_item_write(struct buf *out, const struct json *item);

/* All text of a message's content, its parts put together: borrowed from the message, or from `spare` if
 * there was something to put together. */
struct str response_item_text(struct buf *spare, const struct json *message);

#endif
