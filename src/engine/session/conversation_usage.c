/* The provider counts tokens exactly, but only for items that were sent. Later items are estimated, so that a large
 * output leads to a compaction before the request that would be too long. */
#include "engine/session/conversation_usage.h"

#include "base/text.h"
#include "engine/session/conversation.h"
#include "engine/session/session.h"
#include "engine/session/session_goal.h"
#include "engine/session/session_model.h"
#include "model/model_usage.h"

enum { IMAGE_TOKENS = 2000 }; /* an estimate, because the size of the file does not matter */

void conversation_emit_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings)
{
	struct token_usage_info info = {
		.total_token_usage = &conversation->session->usage_total,
		.last_token_usage = &conversation->usage_last,
		.has_model_context_window = true,
		.model_context_window = model_info_window(&settings->info),
	};
	struct ev_token_count event = {.info = conversation->session->has_usage ? &info : NULL,
	                               .rate_limits = conversation->session->limits};
	if (conversation->voice) /* not recorded, because a resume takes the last token_count for the history's */
		session_push(conversation->session, sub_id, EV_token_count, &event, NULL);
	else
		session_emit(conversation->session, sub_id, EV_token_count, &event);
}

static void count(struct conversation *conversation, int64_t tokens)
{
	conversation->session->has_usage = true;
	conversation->counted_tokens = tokens;
	conversation->counted_items = conversation->context.items.count;
}

void conversation_add_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                            const struct token_usage *usage)
{
	if (usage) {
		count(conversation, usage->total_tokens);
		conversation->usage_last = *usage;
		session_goal_count(conversation->session, usage);
		model_usage_add(&conversation->session->usage_total, usage);
	}
	conversation_emit_usage(conversation, sub_id, settings);
}

void conversation_add_aside(struct conversation *conversation, const struct token_usage *usage)
{
	conversation->session->has_usage = true;
	session_goal_count(conversation->session, usage);
	model_usage_add(&conversation->session->usage_total, usage);
}

void conversation_set_limits(struct conversation *conversation, struct str sub_id, const struct settings *settings,
                             const struct rate_limits *limits)
{
	bool says_something = limits->primary || limits->secondary || limits->credits;
	if (says_something || !conversation->session->limits) {
		arena_reset(&conversation->session->limits_arena);
		conversation->session->limits = arena_new(&conversation->session->limits_arena, struct rate_limits);
		record_copy(&record_rate_limits, limits, &conversation->session->limits_arena,
		            conversation->session->limits);
	}
	conversation_emit_usage(conversation, sub_id, settings);
}

static int64_t item_tokens(const struct context *context, size_t index)
{
	struct str text = context_item_text(context, index);
	return str_find(text, STR("\"data:image/")) < 0 ? (int64_t)text_tokens(text.len) : IMAGE_TOKENS;
}

static int64_t estimate(const struct conversation *conversation, size_t first_item)
{
	int64_t tokens = 0;
	for (size_t i = first_item; i < conversation->context.items.count; i++)
		tokens += item_tokens(&conversation->context, i);
	return tokens;
}

static int64_t estimate_all(const struct conversation *conversation)
{
	return estimate(conversation, 0) + (int64_t)text_tokens(conversation_instructions(conversation).len);
}

int64_t conversation_count_tokens(const struct conversation *conversation)
{
	return conversation->counted_tokens + estimate(conversation, conversation->counted_items);
}

void conversation_estimate_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings)
{
	count(conversation, estimate_all(conversation));
	conversation->usage_last = (struct token_usage){.total_tokens = conversation->counted_tokens};
	conversation_emit_usage(conversation, sub_id, settings);
}

void conversation_limit_usage(struct conversation *conversation)
{
	int64_t tokens = estimate_all(conversation);
	conversation->counted_items = conversation->context.items.count;
	if (conversation->counted_tokens > tokens)
		conversation->counted_tokens = tokens;
}

void conversation_fill_usage(struct conversation *conversation, struct str sub_id, const struct settings *settings)
{
	int64_t window = model_info_window(&settings->info);
	int64_t known = conversation->session->usage_total.total_tokens;
	count(conversation, window);
	conversation->usage_last = (struct token_usage){.total_tokens = window > known ? window - known : 0};
	conversation->session->usage_total = (struct token_usage){.total_tokens = window};
	conversation_emit_usage(conversation, sub_id, settings);
}
