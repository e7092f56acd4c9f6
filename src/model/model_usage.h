/* model_usage.h — token usage and rate limits.
 *
 * Owns: nothing; struct token_usage and struct rate_limits are the protocol's records. Thread: any.
 * Numbers come from a server: negative ones count as zero, sums saturate. */
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
/* As model_usage_read, for the usage of a chunk of Chat Completions. */
bool model_usage_read_chat(const struct json *usage, struct token_usage *ret_usage);
/* The usage of Anthropic Messages, which comes in parts. */
struct messages_usage {
	int64_t input, cache_read, cache_creation, output;
	bool is_set;
};
/* Takes the counts of one event; one that is missing or 0 keeps its value. */
void model_usage_read_messages(const struct json *usage, struct messages_usage *to);
/* Returns false if no event had usage. */
bool model_usage_of_messages(const struct messages_usage *usage, struct token_usage *ret_usage);
void model_usage_add(struct token_usage *total, const struct token_usage *more);

/* Reads a codex.rate_limits event into records in the arena; its text is borrowed. */
void model_usage_read_limits(const struct json *event, struct arena *arena, struct rate_limits *ret_limits);
/* Reads the x-codex-… headers into records in the arena. False if the response has none; nothing is allocated then. */
bool model_usage_limits(const struct http_head *head, struct arena *arena, struct rate_limits *ret_limits);

#endif
