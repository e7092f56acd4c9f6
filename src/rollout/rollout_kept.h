/* rollout_kept.h — what of a history outlives its compaction: the user's own words, newest first (core 11).
 *
 * Owns: nothing. Any thread. Walk the history backwards and ask for each item until the budget is used up. */
#ifndef ROLLOUT_ROLLOUT_KEPT_H
#define ROLLOUT_ROLLOUT_KEPT_H

#include <stddef.h>

#include "base/json.h"

enum { ROLLOUT_KEPT_TOKENS = 20000 };

/* The item as it stays: as it is, or its words alone, written to `spare`, where it shows images or is too long
 * for what is left of the budget. STR_NONE: it goes. Uses up the budget. */
struct str rollout_kept_item(const struct json *item, size_t *tokens_left, struct buf *spare);

/* {"type":"message","role":"user","content":[{"type":"input_text","text":…}]} */
void rollout_write_user(struct buf *out, struct str text);

#endif
