/* A provider counts exactly, but only what it was sent; what came behind that is estimated, so that a large
 * output leads to a compaction before the request that would not fit, not after it. */
#include "engine/session/session_usage.h"

#include "base/text.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "model/model_usage.h"

enum { IMAGE_TOKENS = 2000 }; /* about; its bytes say nothing */

void session_emit_usage(struct session *session, struct str sub_id, const struct settings *settings)
{
	struct token_usage_info info = {
		.total_token_usage = &session->usage_total,
		.last_token_usage = &session->usage_last,
		.has_model_context_window = true,
		.model_context_window = model_info_window(&settings->info),
	};
	struct ev_token_count event = {.info = session->has_usage ? &info : NULL, .rate_limits = session->limits};
	session_emit(session, sub_id, EV_token_count, &event);
}

static void count(struct session *session, int64_t tokens)
{
	session->has_usage = true;
	session->counted_tokens = tokens;
	session->counted_items = session->context.items.count;
}

void session_add_usage(struct session *session, struct str sub_id, const struct settings *settings, const struct token_usage *usage)
{
	if (usage) {
		count(session, usage->total_tokens);
		session->usage_last = *usage;
		model_usage_add(&session->usage_total, usage);
	}
	session_emit_usage(session, sub_id, settings);
}

void session_set_limits(struct session *session, struct str sub_id, const struct settings *settings, const struct rate_limits *limits)
{
	bool says_something = limits->primary || limits->secondary || limits->credits;
	if (says_something || !session->limits) {
		arena_reset(&session->limits_arena);
		session->limits = arena_new(&session->limits_arena, struct rate_limits);
		record_copy(&record_rate_limits, limits, &session->limits_arena, session->limits);
	}
	session_emit_usage(session, sub_id, settings);
}

static int64_t item_tokens(const struct context *context, size_t index)
{
	struct str text = context_item_text(context, index);
	return str_find(text, STR("\"data:image/")) < 0 ? (int64_t)text_tokens(text.len) : IMAGE_TOKENS;
}

static int64_t estimate(const struct session *session, size_t first_item)
{
	int64_t tokens = 0;
	for (size_t i = first_item; i < session->context.items.count; i++)
		tokens += item_tokens(&session->context, i);
	return tokens;
}

static int64_t estimate_all(const struct session *session)
{
	return estimate(session, 0) + (int64_t)text_tokens(session_instructions(session).len);
}

int64_t session_used_tokens(const struct session *session)
{
	return session->counted_tokens + estimate(session, session->counted_items);
}

void session_estimate_usage(struct session *session, struct str sub_id, const struct settings *settings)
{
	count(session, estimate_all(session));
	session->usage_last = (struct token_usage){.total_tokens = session->counted_tokens};
	session_emit_usage(session, sub_id, settings);
}

void session_limit_usage(struct session *session)
{
	int64_t tokens = estimate_all(session);
	session->counted_items = session->context.items.count;
	if (session->counted_tokens > tokens)
		session->counted_tokens = tokens;
}

void session_fill_usage(struct session *session, struct str sub_id, const struct settings *settings)
{
	int64_t window = model_info_window(&settings->info);
	int64_t known = session->usage_total.total_tokens;
	count(session, window);
	session->usage_last = (struct token_usage){.total_tokens = window > known ? window - known : 0};
	session->usage_total = (struct token_usage){.total_tokens = window};
	session_emit_usage(session, sub_id, settings);
}
