/* session_usage.h — what a Session has used: tokens, and the account's limits (core 12.2). Private to engine/. */
#ifndef ENGINE_SESSION_USAGE_H
#define ENGINE_SESSION_USAGE_H

#include "protocol/record/types.h"

struct session;
struct settings;

/* Tells token_count as it stands. */
void session_emit_usage(struct session *session, struct str sub_id, const struct settings *settings);
/* Counts a response in and tells token_count; usage NULL: the provider did not say. */
void session_add_usage(struct session *session, struct str sub_id, const struct settings *settings, const struct token_usage *usage);
/* A response has begun: keeps the account's limits, if it told any, and tells token_count. */
void session_set_limits(struct session *session, struct str sub_id, const struct settings *settings, const struct rate_limits *limits);

/* About how many tokens the next request will have: what the last response counted, and what came behind it. */
int64_t session_used_tokens(const struct session *session);
/* The history is another: estimates its tokens and tells token_count. */
void session_estimate_usage(struct session *session, struct str sub_id, const struct settings *settings);
/* The history became shorter: what was counted for it is no more than an estimate of what is left. */
void session_limit_usage(struct session *session);
/* The window is full, whatever was counted: the model said so, and the next Task compacts first. Tells token_count. */
void session_fill_usage(struct session *session, struct str sub_id, const struct settings *settings);

#endif
