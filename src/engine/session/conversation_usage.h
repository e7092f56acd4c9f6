/* conversation_usage.h — what a Session has used: tokens, and the account's limits (core 12.2). Private to engine/. */
#ifndef ENGINE_CONVERSATION_USAGE_H
#define ENGINE_CONVERSATION_USAGE_H

#include "protocol/record/types.h"

struct conversation;
struct settings;

/* Tells token_count as it stands. */
void conversation_emit_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);
/* Counts a response in and tells token_count; usage NULL: the provider did not say. */
void conversation_add_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                            const struct token_usage *usage);
/* A response has begun: keeps the account's limits, if it told any, and tells token_count. */
void conversation_set_limits(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                             const struct rate_limits *limits);

/* About how many tokens the next request will have: what the last response counted, and what came behind it. */
int64_t conversation_count_tokens(const struct conversation *conversation);
/* The history is another: estimates its tokens and tells token_count. */
void conversation_estimate_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);
/* The history became shorter: what was counted for it is no more than an estimate of what is left. */
void conversation_limit_usage(struct conversation *conversation);
/* The window is full, whatever was counted: the model said so, and the next Task compacts first. Tells token_count. */
void conversation_fill_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);

#endif
