/* Token counts and rate limits of different servers. */
#include "test.h"

#include "base/arena.h"
#include "base/json.h"
#include "model/model_usage.h"
#include "net/http_head.h"

static bool read_usage(const char *text, struct token_usage *ret)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, str_of(text), NULL);
	assert_non_null(json);
	return model_usage_read(json, ret);
}

static void reads_usage(void **state)
{
	(void)state;
	struct token_usage usage;
	assert_true(
		read_usage("{\"input_tokens\":100,\"input_tokens_details\":{\"cached_tokens\":20},\"output_tokens\":10,"
	                   "\"output_tokens_details\":{\"reasoning_tokens\":4},\"total_tokens\":111}",
	                   &usage));
	assert_int_equal(usage.input_tokens, 100);
	assert_int_equal(usage.cached_input_tokens, 20);
	assert_int_equal(usage.output_tokens, 10);
	assert_int_equal(usage.reasoning_output_tokens, 4);
	assert_int_equal(usage.total_tokens, 111);
}

static void forgives_usage_of_other_servers(void **state)
{
	(void)state;
	struct token_usage usage;
	assert_true(read_usage("{\"input_tokens\":7,\"output_tokens\":3,\"input_tokens_details\":null}", &usage));
	assert_int_equal(usage.total_tokens, 10);
	assert_int_equal(usage.cached_input_tokens, 0);
	assert_true(read_usage("{\"input_tokens\":-5,\"output_tokens\":\"x\",\"total_tokens\":1e300}", &usage));
	assert_int_equal(usage.input_tokens + usage.output_tokens + usage.total_tokens, 0);
	assert_false(read_usage("null", &usage));
	assert_false(read_usage("[1]", &usage));
}

static void sums_stop_at_the_largest_number(void **state)
{
	(void)state;
	struct token_usage total = {1, 2, 3, 4, 5}, more = {10, 20, 30, 40, INT64_MAX};
	model_usage_add(&total, &more);
	assert_int_equal(total.input_tokens, 11);
	assert_int_equal(total.cached_input_tokens, 22);
	assert_int_equal(total.output_tokens, 33);
	assert_int_equal(total.reasoning_output_tokens, 44);
	assert_true(total.total_tokens == INT64_MAX);
}

static bool read_limits(const char *head_text, struct arena *arena, struct rate_limits *ret)
{
	struct http_head head;
	assert_true(http_head_parse_answer(&head, str_of(head_text)));
	bool found = model_usage_limits(&head, arena, ret);
	http_head_finish(&head);
	return found;
}

static void reads_limits_from_headers(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rate_limits limits;
	assert_true(read_limits("HTTP/1.1 200 OK\r\nX-Codex-Primary-Used-Percent: 42.5\r\n"
	                        "x-codex-primary-window-minutes: 300\r\nx-codex-primary-reset-at: 1735689720\r\n"
	                        "x-codex-secondary-used-percent: 5\r\nx-codex-credits-has-credits: true\r\n"
	                        "x-codex-credits-unlimited: false\r\nx-codex-credits-balance: 12.5\r\n\r\n",
	                        &arena, &limits));
	assert_true(limits.primary->used_percent == 42.5);
	assert_true(limits.primary->has_window_minutes && limits.primary->window_minutes == 300);
	assert_true(limits.primary->has_resets_at && limits.primary->resets_at == 1735689720);
	assert_true(limits.secondary->used_percent == 5);
	assert_false(limits.secondary->has_resets_at);
	assert_true(limits.credits->has_credits && !limits.credits->unlimited);
	assert_str(limits.credits->balance, "12.5");
}

static void passes_over_bad_limit_headers(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct rate_limits limits;
	assert_false(read_limits("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n", &arena, &limits));
	assert_false(read_limits("HTTP/1.1 200 OK\r\nx-codex-primary-used-percent: nan\r\n"
	                         "x-codex-secondary-used-percent: much\r\n\r\n",
	                         &arena, &limits));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_usage),
		cmocka_unit_test(forgives_usage_of_other_servers),
		cmocka_unit_test(sums_stop_at_the_largest_number),
		cmocka_unit_test(reads_limits_from_headers),
		cmocka_unit_test(passes_over_bad_limit_headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
