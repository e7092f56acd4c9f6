/* A turn has the id of its submission, unless an earlier turn had it. */
#include "test.h"

#include <stdio.h>

#include "base/limits.h"
#include "engine/session/turn_ids.h"

static void a_repeated_id_gets_another_one(void **state)
{
	struct turn_ids ids = {0};
	(void)state;
	assert_true(str_is(turn_ids_begin(&ids, STR("a")), "a"));
	assert_true(str_is(turn_ids_begin(&ids, STR("b")), "b"));
	auto_free char *second = str_dup(turn_ids_begin(&ids, STR("a")));
	auto_free char *third = str_dup(turn_ids_begin(&ids, STR("a")));
	assert_true(uuid_is_valid(str_of(second)) && uuid_is_valid(str_of(third)));
	assert_string_not_equal(second, third);
	assert_true(str_is(turn_ids_submission(&ids, str_of(second)), "a"));
	assert_true(str_is(turn_ids_submission(&ids, str_of(third)), "a"));
	assert_true(str_is(turn_ids_submission(&ids, STR("b")), "b"));
	assert_true(str_is(turn_ids_turn(&ids, STR("a")), third));
	assert_true(str_is(turn_ids_turn(&ids, STR("b")), "b"));
	auto_free char *fourth = str_dup(turn_ids_begin(&ids, str_of(second))); /* a client has seen it */
	assert_string_not_equal(fourth, second);
	assert_true(str_is(turn_ids_submission(&ids, str_of(fourth)), second));
	turn_ids_finish(&ids);
}

static void what_is_kept_has_a_limit(void **state)
{
	struct turn_ids ids = {0};
	(void)state;
	for (int i = 0; i < 2 * LIMIT_TURN_IDS; i++) {
		char id[16];
		snprintf(id, sizeof(id), "%d", i);
		assert_true(str_is(turn_ids_begin(&ids, str_of(id)), id));
	}
	assert_int_equal(ids.used.count, LIMIT_TURN_IDS);
	assert_true(str_is(turn_ids_begin(&ids, STR("0")), "0")); /* forgotten */
	for (int i = 0; i < 2 * LIMIT_TURNS_RENAMED; i++)
		assert_false(str_is(turn_ids_begin(&ids, STR("0")), "0"));
	assert_int_equal(ids.renamed.count, LIMIT_TURNS_RENAMED);
	turn_ids_finish(&ids);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_repeated_id_gets_another_one),
		cmocka_unit_test(what_is_kept_has_a_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
