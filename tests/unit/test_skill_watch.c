/* The watch of skills: folders that come and go, and roots that appear. */
#include "temp.h"

#include "base/limits.h"
#include "loop/loop.h"
#include "skill/skill_watch.h"

enum { GUARD_MS = 60000 };

static struct loop *loop;
static struct loop_timer *timer;
static struct arena arena;
static struct skill_places places;
static struct skill_watch *watch;
static int changes;

static void stop(void *self)
{
	(void)self;
	loop_stop(loop);
}

static void on_change(void *self)
{
	(void)self;
	changes++;
	loop_stop(loop);
}

/* Makes home/skills and an empty work, and watches both. */
static int setup(void **state)
{
	if (temp_make(state) != 0)
		return -1;
	static const char *markers[] = {".git"};
	places = (struct skill_places){.markers = markers, .marker_count = 1};
	places.home = arena_printf(&arena, "%s/home", temp_root);
	assert_int_equal(dir_make(temp_path("home/skills"), 0700, NULL), 0);
	assert_int_equal(dir_make(temp_path("work"), 0700, NULL), 0);
	struct skills_list_entry entry = {.cwd = arena_str(&arena, str_of(temp_path("work")))};
	changes = 0;
	loop = loop_create(NULL);
	timer = loop_timer_create(loop, stop, NULL);
	watch = skill_watch_create(loop, &places, &entry, on_change, NULL);
	return 0;
}

static int teardown(void **state)
{
	skill_watch_destroy(watch);
	loop_timer_destroy(timer);
	loop_destroy(loop);
	arena_finish(&arena);
	return temp_remove(state);
}

/* Runs until a change is reported, or until `ms` are over. */
static void run(uint64_t ms)
{
	loop_timer_start(timer, ms);
	loop_run(loop);
	loop_timer_stop(timer);
}

static void make(const char *folder)
{
	assert_int_equal(dir_make(temp_path(folder), 0700, NULL), 0);
}

static void folders_that_come_and_go_are_no_change(void **state)
{
	(void)state;
	make("work/.agents");
	make("work/.codex");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(changes, 0);
	assert_int_equal(rmdir(temp_path("work/.agents")), 0);
	assert_int_equal(rmdir(temp_path("work/.codex")), 0);
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(changes, 0);
	make("home/skills/new");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
}

static void a_root_is_found_step_by_step(void **state)
{
	(void)state;
	make("work/.agents");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(changes, 0);
	make("work/.agents/skills");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
}

static void a_root_is_found_after_its_parent_was_removed_and_made_again(void **state)
{
	(void)state;
	make("work/.codex");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(rmdir(temp_path("work/.codex")), 0);
	run(LIMIT_SKILL_HOLD_MS * 2);
	make("work/.codex");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(changes, 0);
	make("work/.codex/skills");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
}

static void a_parent_that_is_replaced_at_once_is_watched(void **state)
{
	(void)state;
	make("work/.codex");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(rmdir(temp_path("work/.codex")), 0);
	make("work/.codex");
	run(LIMIT_SKILL_HOLD_MS * 2);
	make("work/.codex/skills");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
}

static void a_new_root_is_reported_once_and_watched(void **state)
{
	(void)state;
	make("work/.codex/skills");
	run(GUARD_MS);
	make("work/.agents");
	run(LIMIT_SKILL_HOLD_MS * 2);
	assert_int_equal(changes, 1);
	make("work/.codex/skills/one");
	run(GUARD_MS);
	assert_int_equal(changes, 2);
}

static void a_parent_is_watched_although_another_skill_changed(void **state)
{
	(void)state;
	make("home/skills/one");
	make("work/.agents");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
	make("work/.agents/skills");
	run(GUARD_MS);
	assert_int_equal(changes, 2);
}

static void a_root_that_appears_with_its_parent_is_one_change(void **state)
{
	(void)state;
	make("work/.codex/skills/one");
	run(GUARD_MS);
	assert_int_equal(changes, 1);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(folders_that_come_and_go_are_no_change, setup, teardown),
		cmocka_unit_test_setup_teardown(a_root_is_found_step_by_step, setup, teardown),
		cmocka_unit_test_setup_teardown(a_root_is_found_after_its_parent_was_removed_and_made_again, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_parent_that_is_replaced_at_once_is_watched, setup, teardown),
		cmocka_unit_test_setup_teardown(a_new_root_is_reported_once_and_watched, setup, teardown),
		cmocka_unit_test_setup_teardown(a_parent_is_watched_although_another_skill_changed, setup, teardown),
		cmocka_unit_test_setup_teardown(a_root_that_appears_with_its_parent_is_one_change, setup, teardown),
	};
	return cmocka_run_group_tests_name("skill_watch", tests, NULL, NULL);
}
