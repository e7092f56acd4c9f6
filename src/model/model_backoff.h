/* model_backoff.h — computes delays before retries. The Turn retries (engine/turn/turn.c).
 *
 * Owns: nothing. Thread: any. Times are milliseconds; -1 means that the server requested no delay. */
#ifndef MODEL_MODEL_BACKOFF_H
#define MODEL_MODEL_BACKOFF_H

#include <stdint.h>

#include "base/str.h"

/* Returns the delay before retry number `attempt` (from 1): 200 ms, doubled with each attempt, multiplied by 0.9 to
 * 1.1 depending on random (0 to 1), at most LIMIT_RETRY_BACKOFF_MS. */
int64_t model_backoff_ms(unsigned attempt, double random);
/* Returns a random number in [0, 1). */
double model_backoff_random(void);

/* Parses a Retry-After header: seconds, or a date relative to now_unix_ms. At most LIMIT_RETRY_AFTER_MS. */
int64_t model_backoff_after_ms(struct str value, int64_t now_unix_ms);
/* Parses the delay in an error message: "try again in 1.5s" (s, ms, second, seconds). At most LIMIT_RETRY_AFTER_MS. */
int64_t model_backoff_message_ms(struct str message);

#endif
