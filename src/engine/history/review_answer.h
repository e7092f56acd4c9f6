/* review_answer.h — what a reviewer answered, as findings (core 19). Private to engine/.
 *
 * It is asked for JSON, and models wrap that in words or leave fields out: whatever can be understood is, and what
 * cannot is the explanation, as it stands. Nothing a reviewer says is lost, and nothing it says is an error.
 * Thread: any. */
#ifndef ENGINE_REVIEW_ANSWER_H
#define ENGINE_REVIEW_ANSWER_H

#include "base/arena.h"
#include "protocol/record/types.h"

/* What is returned points into the arena and into text. */
void review_answer_read(struct str text, struct arena *arena, struct review_output *ret);

#endif
