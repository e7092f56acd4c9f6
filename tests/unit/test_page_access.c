/* Codes and devices of codex serve, with a clock that the test moves. */
#include "test.h"

#include "base/buf.h"
#include "base/json.h"
#include "server/page_access.h"
#include "server/server_limits.h"

static uint64_t now_ms;

uint64_t __wrap_clock_now_ms(void); /* takes the place of clock_now_ms, see meson.build */
uint64_t __wrap_clock_now_ms(void)
{
	return now_ms;
}

static int setup(void **state)
{
	now_ms = 1000000;
	*state = page_access_create(NULL);
	return 0;
}

static int teardown(void **state)
{
	page_access_destroy(*state);
	return 0;
}

static struct page_device *sign_in(struct page_access *access, const char *code, char token[PAGE_TOKEN_SIZE])
{
	struct page_device *evicted = NULL, *device;
	device = page_access_sign_in(access, str_of(code), STR("phone"), token, &evicted);
	if (evicted)
		page_access_sign_out(access, evicted);
	return device;
}

static void a_code_is_good_for_ten_minutes(void **state)
{
	char first[PAGE_CODE_SIZE], second[PAGE_CODE_SIZE], token[PAGE_TOKEN_SIZE];
	page_access_make_code(*state, first);
	page_access_make_code(*state, second);
	assert_int_equal(strspn(first, "0123456789abcdef"), 32);
	now_ms += LIMIT_PAGE_CODE_MS - 1;
	assert_non_null(sign_in(*state, first, token));
	assert_null(sign_in(*state, first, token));
	now_ms += 1;
	assert_null(sign_in(*state, second, token));
}

static void an_empty_code_opens_nothing(void **state)
{
	char token[PAGE_TOKEN_SIZE];
	assert_null(sign_in(*state, "", token));
	now_ms = 0;
	assert_null(sign_in(*state, "", token));
}

static void the_oldest_of_nine_codes_is_gone(void **state)
{
	char codes[LIMIT_PAGE_CODES + 1][PAGE_CODE_SIZE], token[PAGE_TOKEN_SIZE];
	for (size_t i = 0; i <= LIMIT_PAGE_CODES; i++, now_ms++)
		page_access_make_code(*state, codes[i]);
	assert_null(sign_in(*state, codes[0], token));
	for (size_t i = 1; i <= LIMIT_PAGE_CODES; i++)
		assert_non_null(sign_in(*state, codes[i], token));
}

static void attempts_are_forgotten_after_a_minute(void **state)
{
	for (int i = 0; i < LIMIT_PAGE_ATTEMPTS; i++)
		assert_int_equal(page_access_fail(*state), 0);
	now_ms += LIMIT_PAGE_ATTEMPTS_MS - 1000;
	assert_in_range(page_access_fail(*state), 1, 2);
	now_ms += LIMIT_PAGE_ATTEMPTS_MS;
	assert_int_equal(page_access_fail(*state), 0);
}

static void a_device_too_many_takes_the_place_of_the_idlest(void **state)
{
	char code[PAGE_CODE_SIZE], tokens[LIMIT_PAGE_DEVICES + 1][PAGE_TOKEN_SIZE];
	for (size_t i = 0; i <= LIMIT_PAGE_DEVICES; i++) {
		page_access_make_code(*state, code);
		assert_non_null(sign_in(*state, code, tokens[i]));
	}
	size_t alive = 0;
	for (size_t i = 0; i <= LIMIT_PAGE_DEVICES; i++)
		alive += page_access_find(*state, str_of(tokens[i])) != NULL;
	assert_int_equal(alive, LIMIT_PAGE_DEVICES);
	assert_non_null(page_access_find(*state, str_of(tokens[LIMIT_PAGE_DEVICES])));
}

static void a_token_is_dead_once_its_device_is_signed_out(void **state)
{
	char code[PAGE_CODE_SIZE], token[PAGE_TOKEN_SIZE];
	page_access_make_code(*state, code);
	struct page_device *device = sign_in(*state, code, token);
	assert_ptr_equal(page_access_find(*state, str_of(token)), device);
	assert_null(page_access_find(*state, str_n(token, 63)));
	page_access_sign_out(*state, device);
	assert_null(page_access_find(*state, str_of(token)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_code_is_good_for_ten_minutes, setup, teardown),
		cmocka_unit_test_setup_teardown(an_empty_code_opens_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(the_oldest_of_nine_codes_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(attempts_are_forgotten_after_a_minute, setup, teardown),
		cmocka_unit_test_setup_teardown(a_device_too_many_takes_the_place_of_the_idlest, setup, teardown),
		cmocka_unit_test_setup_teardown(a_token_is_dead_once_its_device_is_signed_out, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
