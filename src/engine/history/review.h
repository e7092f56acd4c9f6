/* review.h — the texts of a code review: the request to the reviewer, its answer as findings, and the report to
 * the user's model. Private to engine/. Any thread. */
#ifndef ENGINE_REVIEW_H
#define ENGINE_REVIEW_H

#include "base/arena.h"
#include "base/buf.h"
#include "protocol/record/types.h"

/* Appends the request to the reviewer. */
void review_prompt_write(const struct review_target *target, struct buf *out);
/* Appends the message that reports a review to the user's model. results: NULL if there are no findings. */
void review_prompt_write_report(struct str outcome, const struct buf *results, struct buf *out);

/* Reads the answer of a reviewer, which should be JSON. Models wrap it in prose or omit fields: usable parts are taken,
 * and a text without any becomes the explanation, unchanged. The result points into the arena and into text. */
void review_answer_read(struct str text, struct arena *arena, struct review_output *ret);

#endif
