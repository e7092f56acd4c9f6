/* review_prompt.h — what a reviewer is asked, and how the user's model hears of it (core 19). Private to engine/. */
#ifndef ENGINE_REVIEW_PROMPT_H
#define ENGINE_REVIEW_PROMPT_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* Appends the request in words. */
void review_prompt_write(const struct review_target *target, struct buf *out);
/* Appends the message that tells the user's model of a review. results: NULL if there are none. */
void review_prompt_write_report(struct str what_happened, const struct buf *results, struct buf *out);

#endif
