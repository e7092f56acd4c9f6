/* review_text.h — the subject and the result of a code review as text, for users and for the history.
 *
 * Clients extract findings from both texts, so the engine and all front ends use these functions.
 * Appends to the caller's buffer. Thread: any. */
#ifndef PROTOCOL_REVIEW_TEXT_H
#define PROTOCOL_REVIEW_TEXT_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* Writes "current changes", "changes against 'main'", "commit 1234567: its title", or the user's own words. */
void review_write_hint(const struct review_target *target, struct buf *out);
/* Writes the explanation of the verdict, then the findings; a fixed sentence if both are empty or output is NULL. */
void review_write_output(const struct review_output *output, struct buf *out);

#endif
