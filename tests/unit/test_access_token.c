/* Token files: valid tokens, file permissions, error messages. */
#include "test.h"

#include "base/limits.h"
#include "net/access_token.h"
#include "temp.h"

static const char secret[] = "0123456789abcdef";

static char *read_from(const char *bytes, mode_t mode, struct error *err)
{
	const char *path = temp_put("token", str_of(bytes));
	assert_int_equal(chmod(path, mode), 0);
	return access_token_read(path, err);
}

static void a_token_is_one_line_of_visible_characters(void **state)
{
	(void)state;
	struct error err = {0};
	char *token = read_from("  0123456789abcdef\r\n", 0600, &err);
	assert_non_null(token);
	assert_string_equal(token, secret);
	access_token_free(token);
	static const char *const wrong[] = {"",
	                                    "\n",
	                                    "0123456789abcde\n",
	                                    "0123456789 abcdef",
	                                    "0123456789\nabcdef",
	                                    "0123456789\xc3\xa4\xc3\xb6\xc3\xbc"};
	for (size_t i = 0; i < countof(wrong); i++) {
		assert_null(read_from(wrong[i], 0600, &err));
		assert_int_equal(err.code, ERR_config);
		assert_non_null(strstr(err.text, "has no token"));
		assert_null(strstr(err.text, "0123456789"));
	}
}

static void a_token_that_others_could_read_is_refused(void **state)
{
	(void)state;
	static const mode_t open_modes[] = {0644, 0640, 0604, 0620, 0601};
	for (size_t i = 0; i < countof(open_modes); i++) {
		struct error err = {0};
		assert_null(read_from(secret, open_modes[i], &err));
		assert_non_null(strstr(err.text, "chmod 600"));
	}
	char *token = read_from(secret, 0400, NULL);
	assert_non_null(token);
	access_token_free(token);
}

static void other_than_regular_files_are_refused_without_blocking(void **state)
{
	(void)state;
	struct error err = {0};
	assert_null(access_token_read(temp_path("absent"), &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_null(access_token_read(temp_root, &err));
	assert_int_equal(err.code, ERR_config);
	assert_int_equal(mkfifo(temp_path("pipe"), 0600), 0);
	assert_null(access_token_read(temp_path("pipe"), &err));
	assert_int_equal(err.code, ERR_config);
}

static void a_file_without_end_is_not_read_whole(void **state)
{
	(void)state;
	static char bytes[LIMIT_ACCESS_TOKEN * 2];
	struct error err = {0};
	memset(bytes, 'x', sizeof(bytes) - 1);
	assert_null(read_from(bytes, 0600, &err));
	assert_int_equal(err.code, ERR_limit);
	bytes[LIMIT_ACCESS_TOKEN] = '\0';
	char *token = read_from(bytes, 0600, NULL);
	assert_int_equal(strlen(token), LIMIT_ACCESS_TOKEN);
	access_token_free(token);
}

static void only_the_whole_token_matches(void **state)
{
	(void)state;
	assert_true(access_token_matches(secret, STR("0123456789abcdef")));
	assert_false(access_token_matches(secret, STR("0123456789abcdeF")));
	assert_false(access_token_matches(secret, STR("0123456789abcde")));
	assert_false(access_token_matches(secret, STR("0123456789abcdef0")));
	assert_false(access_token_matches(secret, STR("x123456789abcdef")));
	assert_false(access_token_matches(secret, STR("")));
	assert_false(access_token_matches(secret, STR_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_token_is_one_line_of_visible_characters, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_token_that_others_could_read_is_refused, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(other_than_regular_files_are_refused_without_blocking, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(a_file_without_end_is_not_read_whole, temp_make, temp_remove),
		cmocka_unit_test(only_the_whole_token_matches),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
