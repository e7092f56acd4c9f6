/* model_retry.h — when to try a request again.
 *
 * Owns: nothing. Thread: any. Times are milliseconds; -1 means "nothing was said".
 * Source: core 1.7 ("try again in"), 1.8. */
#ifndef MODEL_MODEL_RETRY_H
#define MODEL_MODEL_RETRY_H

#include <stdint.h>

#include "base/str.h"

/* How long to wait before the attempt-th retry (1, 2, …): 200 ms doubling, times 0.9 to 1.1 as random goes from
 * 0 to 1, at most LIMIT_RETRY_BACKOFF_MS. */
int64_t model_retry_backoff_ms(unsigned attempt, double random);
/* Somewhere in [0, 1). */
double model_retry_random(void);

/* The value of a Retry-After header: seconds, or a date seen at now_unix_ms. At most LIMIT_RETRY_AFTER_MS. */
int64_t model_retry_after_ms(struct str value, int64_t now_unix_ms);
/* The "try again in 1.5s" (s, ms, second, seconds) of an error message. At most LIMIT_RETRY_AFTER_MS. */
int64_t model_retry_message_ms(struct str message);

#endif
