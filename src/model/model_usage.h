/* model_usage.h — tokens spent and limits left.
 *
 * Owns: nothing; struct token_usage and struct rate_limits are the protocol's records. Thread: any.
 * Numbers come from a server: negative ones count as zero, sums stop at the largest number.
 * Source: core 1.7 (headers), 12.2. */
#ifndef MODEL_MODEL_USAGE_H
#define MODEL_MODEL_USAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "protocol/record/types.h"

struct arena;
struct http_head;
struct json;

/* Reads `response.usage`; false if it is absent or null. A missing total is the sum of input and output. */
bool model_usage_read(const struct json *usage, struct token_usage *ret_usage);
void model_usage_add(struct token_usage *total, const struct token_usage *more);

/* What is shown as "tokens used": output, and input that did not come from the cache. */
int64_t model_usage_blended(const struct token_usage *usage);
/* How much of the window is left after the last response, 0 to 100; the first 12,000 tokens (instructions and
 * tools, there from the start) count neither as window nor as used. */
int model_usage_left_percent(const struct token_usage *last, int64_t window);

/* Reads the x-codex-… headers; what they point to lives in the arena. False, and nothing in it, if there are none. */
bool model_usage_limits(const struct http_head *head, struct arena *arena, struct rate_limits *ret_limits);

#endif
