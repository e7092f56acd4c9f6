/* review_text.h — a code review in words, for people and for the history: of what it is, and what it found.
 *
 * Both forms are read by programs: clients cut findings out of them (core 19), so every front end and the engine say
 * them alike. Appends to the caller's buffer. Thread: any. */
#ifndef PROTOCOL_REVIEW_TEXT_H
#define PROTOCOL_REVIEW_TEXT_H

#include "base/buf.h"
#include "protocol/record/types.h"

/* "current changes", "changes against 'main'", "commit 1234567: its title", or the user's own words. */
void review_write_hint(const struct review_target *target, struct buf *out);
/* The verdict's explanation, then the findings; a sentence of its own if there is neither. NULL: there is no output. */
void review_write_output(const struct review_output *output, struct buf *out);

#endif
