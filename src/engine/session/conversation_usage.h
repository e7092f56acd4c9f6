/* conversation_usage.h — token counts of a conversation, and the account's rate limits. Every function that takes a
 * sub_id emits token_count. Private to engine/. Loop thread only. */
#ifndef ENGINE_CONVERSATION_USAGE_H
#define ENGINE_CONVERSATION_USAGE_H

#include "protocol/record/types.h"

struct conversation;
struct settings;

void conversation_emit_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);
/* Adds the usage of a response; NULL if the provider sent none. */
void conversation_add_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                            const struct token_usage *usage);
/* Adds the usage of a request beside the conversation, whose context it does not fill; the next token_count has it. */
void conversation_add_aside(struct conversation *conversation, const struct token_usage *usage);
/* Stores the limits that came with a response; limits without any value do not replace stored ones. */
void conversation_set_limits(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                             const struct rate_limits *limits);

/* Estimates the tokens of the next request: the provider's last count, and an estimate of the items since. */
int64_t conversation_count_tokens(const struct conversation *conversation);
/* Estimates the tokens of a history that was replaced. */
void conversation_estimate_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);
/* To be called after the history became shorter: lowers the count to the estimate of the remaining items. */
void conversation_limit_usage(struct conversation *conversation);
/* Sets the count to the whole window after the provider has rejected the history as too long, so that the next task
 * compacts first. */
void conversation_fill_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings);

#endif
