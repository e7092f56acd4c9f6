/* Delays of retries: the backoff, and delays that a server requests. */
#include "test.h"

#include "base/limits.h"
#include "model/model_backoff.h"

static void backoff_doubles_with_jitter(void **state)
{
	(void)state;
	assert_int_equal(model_backoff_ms(1, 0.5), 200);
	assert_int_equal(model_backoff_ms(2, 0.5), 400);
	assert_int_equal(model_backoff_ms(5, 0.5), 3200);
	assert_int_equal(model_backoff_ms(1, 0), 180);
	assert_in_range(model_backoff_ms(1, 0.999), 219, 220);
}

static void backoff_is_bounded(void **state)
{
	(void)state;
	assert_int_equal(model_backoff_ms(0, 0.5), 200);
	assert_int_equal(model_backoff_ms(100, 0), LIMIT_RETRY_BACKOFF_MS);
	assert_int_equal(model_backoff_ms(0xffffffffu, 1), LIMIT_RETRY_BACKOFF_MS);
}

static void random_gives_a_fraction(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		double random = model_backoff_random();
		assert_true(random >= 0 && random < 1);
	}
}

static void retry_after_header(void **state)
{
	(void)state;
	static const struct {
		const char *value;
		int64_t ms;
	} cases[] = {
		{"1", 1000},
		{" 2 ", 2000},
		{"0.25", 250},
		{"0", 0},
		{"-3", -1},
		{"", -1},
		{"soon", -1},
		{"nan", -1},
		{"119.5", 119500},
		{"121", LIMIT_RETRY_AFTER_MS},
		{"86400", LIMIT_RETRY_AFTER_MS},
		{"99999999999999999999", LIMIT_RETRY_AFTER_MS},
		{"Sun, 06 Nov 1994 08:49:47 GMT", 10000},
		{"Sun, 06 Nov 1994 08:49:07 GMT", 0},
		{"Fri, 06 Nov 2099 08:49:37 GMT", LIMIT_RETRY_AFTER_MS},
		{"Sun, 06 Nov 1994 08:49:37 CET", -1},
		{"Sun, 06 Nov 1994 08:99:37 GMT", -1},
		{"Sun, 06 Foo 1994 08:49:37 GMT", -1},
		{"Sunday, 06-Nov-94 08:49:37 GMT", -1},
	};
	int64_t now = 784111777000; /* Sun, 06 Nov 1994 08:49:37 GMT */
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (model_backoff_after_ms(str_of(cases[i].value), now) != cases[i].ms)
			fail_msg("\"%s\" gives %lld", cases[i].value,
			         (long long)model_backoff_after_ms(str_of(cases[i].value), now));
	}
}

static void delay_in_a_message(void **state)
{
	(void)state;
	static const struct {
		const char *message;
		int64_t ms;
	} cases[] = {
		{"Rate limit reached. Please try again in 300ms.", 300},
		{"Please try again in 11.054s. Visit us.", 11054},
		{"Try Again In 1.5 seconds", 1500},
		{"try again in 35 seconds.", 35000},
		{"try again in 1 second", 1000},
		{"try again in 1m2s", 62000},
		{"try again in 0h1m2.5s.", 62500},
		{"try again in 1 minute 5 seconds, 3 times", 65000},
		{"try again in 6m0s", LIMIT_RETRY_AFTER_MS},
		{"try again in 2s. 1m later", 2000},
		{"try again in 3 moons", -1},
		{"try again in a while, or try again in 2s", 2000},
		{"try again in", -1},
		{"try again in .5s", -1},
		{"try again in 5", -1},
		{"try again in 1.2.3s", -1},
		{"", -1},
		{"try again in 999999999999s", LIMIT_RETRY_AFTER_MS},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (model_backoff_message_ms(str_of(cases[i].message)) != cases[i].ms)
			fail_msg("\"%s\" gives %lld", cases[i].message,
			         (long long)model_backoff_message_ms(str_of(cases[i].message)));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(backoff_doubles_with_jitter), cmocka_unit_test(backoff_is_bounded),
		cmocka_unit_test(random_gives_a_fraction),     cmocka_unit_test(retry_after_header),
		cmocka_unit_test(delay_in_a_message),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
