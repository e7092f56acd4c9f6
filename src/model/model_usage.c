/* Servers omit counts, or send null or numbers that no field can hold, so each count is read on its own and sums
 * saturate. */
#include "model/model_usage.h"

#include <stdio.h>

#include "base/arena.h"
#include "base/json.h"
#include "base/str.h"
#include "net/http_head.h"

static int64_t plus(int64_t a, int64_t b)
{
	int64_t sum;
	return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

static int64_t count_of(const struct json *parent, const char *path)
{
	int64_t count = 0;
	json_to_i64(json_path(parent, path), &count);
	return count > 0 ? count : 0;
}

bool model_usage_read(const struct json *usage, struct token_usage *ret_usage)
{
	if (!json_is(usage, JSON_object))
		return false;
	struct token_usage read = {
		.input_tokens = count_of(usage, "input_tokens"),
		.cached_input_tokens = count_of(usage, "input_tokens_details.cached_tokens"),
		.output_tokens = count_of(usage, "output_tokens"),
		.reasoning_output_tokens = count_of(usage, "output_tokens_details.reasoning_tokens"),
		.total_tokens = count_of(usage, "total_tokens"),
	};
	if (read.total_tokens == 0)
		read.total_tokens = plus(read.input_tokens, read.output_tokens);
	*ret_usage = read;
	return true;
}

bool model_usage_read_chat(const struct json *usage, struct token_usage *ret_usage)
{
	if (!json_is(usage, JSON_object))
		return false;
	struct token_usage read = {
		.input_tokens = count_of(usage, "prompt_tokens"),
		.cached_input_tokens = count_of(usage, "prompt_tokens_details.cached_tokens"),
		.output_tokens = count_of(usage, "completion_tokens"),
		.reasoning_output_tokens = count_of(usage, "completion_tokens_details.reasoning_tokens"),
		.total_tokens = count_of(usage, "total_tokens"),
	};
	if (read.cached_input_tokens == 0)
		read.cached_input_tokens = count_of(usage, "prompt_cache_hit_tokens"); /* DeepSeek */
	if (read.total_tokens == 0)
		read.total_tokens = plus(read.input_tokens, read.output_tokens);
	*ret_usage = read;
	return true;
}

void model_usage_read_messages(const struct json *usage, struct messages_usage *to)
{
	const struct {
		const char *key;
		int64_t *count;
	} fields[] = {
		{"input_tokens", &to->input},
		{"cache_read_input_tokens", &to->cache_read},
		{"cache_creation_input_tokens", &to->cache_creation},
		{"output_tokens", &to->output},
	};
	to->is_set |= json_is(usage, JSON_object);
	for (size_t i = 0; i < sizeof(fields) / sizeof(*fields); i++) {
		int64_t count = count_of(usage, fields[i].key);
		if (count)
			*fields[i].count = count;
	}
}

bool model_usage_of_messages(const struct messages_usage *usage, struct token_usage *ret_usage)
{
	*ret_usage = (struct token_usage){
		.input_tokens = plus(usage->input, plus(usage->cache_read, usage->cache_creation)),
		.cached_input_tokens = usage->cache_read,
		.output_tokens = usage->output,
	};
	ret_usage->total_tokens = plus(ret_usage->input_tokens, ret_usage->output_tokens);
	return usage->is_set;
}

void model_usage_add(struct token_usage *total, const struct token_usage *more)
{
	total->input_tokens = plus(total->input_tokens, more->input_tokens);
	total->cached_input_tokens = plus(total->cached_input_tokens, more->cached_input_tokens);
	total->output_tokens = plus(total->output_tokens, more->output_tokens);
	total->reasoning_output_tokens = plus(total->reasoning_output_tokens, more->reasoning_output_tokens);
	total->total_tokens = plus(total->total_tokens, more->total_tokens);
}

static struct str limit_header(const struct http_head *head, const char *window, const char *what)
{
	char name[64];
	snprintf(name, sizeof(name), "x-codex-%s-%s", window, what);
	return http_head_get(head, name);
}

static struct rate_limit_window *read_window(const struct http_head *head, const char *name, struct arena *arena)
{
	double percent;
	if (!str_to_double(limit_header(head, name, "used-percent"), &percent) || !(percent >= 0 && percent <= 1e6))
		return NULL;
	struct rate_limit_window *window = arena_new(arena, struct rate_limit_window);
	window->used_percent = percent;
	window->has_window_minutes = str_to_i64(limit_header(head, name, "window-minutes"), &window->window_minutes);
	window->has_resets_at = str_to_i64(limit_header(head, name, "reset-at"), &window->resets_at);
	return window;
}

static bool is_yes(struct str value)
{
	return str_equal_fold(value, STR("true")) || str_is(value, "1");
}

static struct credits *read_credits(const struct http_head *head, struct arena *arena)
{
	struct str has = http_head_get(head, "x-codex-credits-has-credits");
	if (!has.ptr)
		return NULL;
	struct credits *credits = arena_new(arena, struct credits);
	credits->has_credits = is_yes(has);
	credits->unlimited = is_yes(http_head_get(head, "x-codex-credits-unlimited"));
	struct str balance = http_head_get(head, "x-codex-credits-balance");
	if (balance.len)
		credits->balance = arena_str(arena, balance);
	return credits;
}

bool model_usage_limits(const struct http_head *head, struct arena *arena, struct rate_limits *ret_limits)
{
	*ret_limits = (struct rate_limits){
		.primary = read_window(head, "primary", arena),
		.secondary = read_window(head, "secondary", arena),
		.credits = read_credits(head, arena),
	};
	return ret_limits->primary || ret_limits->secondary || ret_limits->credits;
}

static struct rate_limit_window *window_of(const struct json *json, struct arena *arena)
{
	double percent;
	if (!json_to_double(json_get(json, "used_percent"), &percent) || !(percent >= 0 && percent <= 1e6))
		return NULL;
	struct rate_limit_window *window = arena_new(arena, struct rate_limit_window);
	window->used_percent = percent;
	window->has_window_minutes = json_to_i64(json_get(json, "window_minutes"), &window->window_minutes);
	window->has_resets_at = json_to_i64(json_get(json, "reset_at"), &window->resets_at);
	return window;
}

void model_usage_read_limits(const struct json *event, struct arena *arena, struct rate_limits *ret_limits)
{
	const struct json *limits = json_get(event, "rate_limits"), *credits = json_get(event, "credits");
	*ret_limits = (struct rate_limits){
		.primary = window_of(json_get(limits, "primary"), arena),
		.secondary = window_of(json_get(limits, "secondary"), arena),
	};
	if (!json_is(credits, JSON_object))
		return;
	ret_limits->credits = arena_new(arena, struct credits);
	ret_limits->credits->has_credits = json_get_bool(credits, "has_credits", false);
	ret_limits->credits->unlimited = json_get_bool(credits, "unlimited", false);
	ret_limits->credits->balance = json_get_str(credits, "balance");
}
