/* Lists of files that are kept: changes are noticed when the list is used, and without a walk where that is possible.
 */
#include "temp.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/limits.h"
#include "workspace/file_list.h"
#include "workspace/file_lists.h"
#include "workspace/file_search.h"

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Returns the entries of a list, sorted, with a blank after each. */
static const char *listed(const struct file_list *list)
{
	static char text[4096];
	char *lines[256];
	size_t count = 0, found;
	for (size_t folder = 0; folder < file_list_folders(list); folder++) {
		const uint32_t *entries = file_list_entries(list, folder, &found);
		for (size_t i = 0; i < found && count < countof(lines); i++) {
			struct str above = file_list_folder(list, folder);
			struct str name = file_list_name(list, entries[i] >> FILE_ENTRY_BITS);
			lines[count++] = xasprintf("%.*s%.*s ", STR_ARG(above), STR_ARG(name));
		}
	}
	qsort(lines, count, sizeof(*lines), compare_lines);
	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%s", lines[i]);
		free(lines[i]);
	}
	return text;
}

static const char *used(struct file_list *list)
{
	atomic_bool stop = false;
	file_list_refresh(list);
	while (!file_list_walk(list, &stop))
		;
	return listed(list);
}

/* Uses the list and checks what it holds and whether it was walked again. */
static void check(struct file_list *list, const char *expected, bool is_walked_again)
{
	uint64_t epoch = file_list_epoch(list);
	assert_string_equal(used(list), expected);
	assert_int_equal(file_list_epoch(list) != epoch, is_walked_again);
}

static struct file_list *list_of(const char *folder, const char *expected)
{
	struct file_list *list = file_list_create(temp_path(folder), true);
	assert_string_equal(used(list), expected);
	check(list, expected, false);
	return list;
}

static void put(const char *path)
{
	temp_put(path, STR(""));
}

static void new_and_removed_names_are_noticed_without_a_walk(void **state)
{
	(void)state;
	put("r/a/x");
	struct file_list *list = list_of("r", "a a/x ");
	put("r/a/y");
	put("r/z");
	check(list, "a a/x a/y z ", false);
	assert_int_equal(unlink(temp_path("r/a/x")), 0);
	assert_int_equal(rename(temp_path("r/z"), temp_path("r/w")), 0);
	check(list, "a a/y w ", false);
	put("r/b/c/d");
	check(list, "a a/y b b/c b/c/d w ", false);
	put("r/b/c/e");
	check(list, "a a/y b b/c b/c/d b/c/e w ", false);
	file_list_destroy(list);
}

static void a_removed_folder_and_one_of_its_name_are_two(void **state)
{
	(void)state;
	put("r/a/x");
	put("r/a/b/y");
	struct file_list *list = list_of("r", "a a/b a/b/y a/x ");
	assert_int_equal(unlink(temp_path("r/a/b/y")), 0);
	assert_int_equal(rmdir(temp_path("r/a/b")), 0);
	check(list, "a a/x ", false);
	assert_int_equal(unlink(temp_path("r/a/x")), 0);
	assert_int_equal(rmdir(temp_path("r/a")), 0);
	put("r/a/new");
	check(list, "a a/new ", false);
	put("r/a/newer");
	check(list, "a a/new a/newer ", false);
	file_list_destroy(list);
}

static void a_moved_folder_is_walked_again(void **state)
{
	(void)state;
	put("r/a/b/y");
	put("r/c/x");
	struct file_list *list = list_of("r", "a a/b a/b/y c c/x ");
	assert_int_equal(rename(temp_path("r/a/b"), temp_path("r/c/b")), 0);
	check(list, "a c c/b c/b/y c/x ", true);
	put("r/c/b/z");
	check(list, "a c c/b c/b/y c/b/z c/x ", false);
	assert_int_equal(rename(temp_path("r/c/b"), temp_path("b")), 0);
	check(list, "a c c/x ", true);
	assert_int_equal(rename(temp_path("b"), temp_path("r/b")), 0);
	check(list, "a b b/y b/z c c/x ", true);
	file_list_destroy(list);
}

static void ignore_files_are_watched(void **state)
{
	(void)state;
	put("r/.git/HEAD");
	put("r/a/x.o");
	struct file_list *list = list_of("r", "a a/x.o ");
	temp_put("r/a/.gitignore", STR("*.o\n"));
	check(list, "a a/.gitignore ", true);
	temp_put("r/a/.gitignore", STR("*.p\n"));
	check(list, "a a/.gitignore a/x.o ", true);
	assert_int_equal(unlink(temp_path("r/a/.gitignore")), 0);
	check(list, "a a/x.o ", true);
	file_list_destroy(list);
}

static void rules_outside_of_the_root_are_compared(void **state)
{
	(void)state;
	put("r/sub/x.o");
	put("r/sub/y");
	struct file_list *list = list_of("r/sub", "x.o y ");
	put("r/.git/HEAD");
	check(list, "x.o y ", true);
	temp_put("r/.gitignore", STR("*.o\n"));
	check(list, "y ", true);
	temp_put("r/.git/info/exclude", STR("y\n"));
	check(list, "", true);
	temp_put("r/.git/info/exclude", STR("other\n"));
	check(list, "y ", true);
	file_list_destroy(list);
}

static void a_root_that_goes_away_is_empty_until_another_one_comes(void **state)
{
	(void)state;
	put("r/x");
	struct file_list *list = list_of("r", "x ");
	assert_int_equal(rename(temp_path("r"), temp_path("moved")), 0);
	check(list, "", true);
	put("r/y");
	check(list, "y ", true);
	put("up/r/z");
	assert_int_equal(symlink("up", temp_path("link")), 0);
	struct file_list *other = list_of("link/r", "z ");
	assert_int_equal(unlink(temp_path("link")), 0);
	assert_int_equal(symlink(".", temp_path("link")), 0);
	check(other, "y ", true); /* the path leads to another folder */
	file_list_destroy(list);
	file_list_destroy(other);
}

static void permissions_that_appear_are_noticed(void **state)
{
	(void)state;
	if (geteuid() == 0)
		skip();
	put("r/a/x");
	assert_int_equal(chmod(temp_path("r/a"), 0), 0);
	struct file_list *list = list_of("r", "a ");
	assert_int_equal(chmod(temp_path("r/a"), 0700), 0);
	check(list, "a a/x ", true);
	file_list_destroy(list);
}

/* No descriptor is left for the folder: it is not taken for one that cannot be read. */
static void a_lack_of_descriptors_passes(void **state)
{
	(void)state;
	struct rlimit before, few;
	put("r/a/x");
	struct file_list *list = file_list_create(temp_path("r"), true);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	int next = dup(0);
	close(next);
	few.rlim_cur = (rlim_t)next + 3; /* for the watch, the mount table and the root */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_string_equal(used(list), "");
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_string_equal(used(list), "a a/x ");
	file_list_destroy(list);
}

static int kernel_number(const char *name)
{
	char text[16] = "";
	auto_free char *path = xasprintf("/proc/sys/fs/inotify/%s", name);
	FILE *file = fopen(path, "re");
	if (file && !fgets(text, sizeof(text), file))
		text[0] = '\0';
	if (file)
		fclose(file);
	return atoi(text);
}

static void an_overflow_of_the_kernels_queue_is_noticed(void **state)
{
	(void)state;
	int most = kernel_number("max_queued_events");
	if (most <= 0 || most > 100 * 1000)
		skip();
	put("r/x");
	struct file_list *list = list_of("r", "x ");
	for (int i = 0; i < most / 2 + 2; i++) {
		put("r/y");
		assert_int_equal(unlink(temp_path("r/y")), 0);
	}
	put("r/z");
	check(list, "x z ", true);
	file_list_destroy(list);
}

/* Returns false if the process may not mount. */
static bool mount_over(const char *path)
{
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", path, "tmpfs", 0, NULL) == 0;
}

/* In a child: what is mounted over a folder hides it, and a kept list does not keep it mounted. */
static int mounts_are_noticed(void)
{
	if (!mount_over(temp_path("r/a")))
		return 77;
	struct file_list *list = file_list_create(temp_path("r"), true);
	bool is_right = strcmp(used(list), "a ") == 0 && umount(temp_path("r/a")) == 0;
	is_right = is_right && strcmp(used(list), "a a/x ") == 0;
	is_right = is_right && mount("none", temp_path("r/a"), "tmpfs", 0, NULL) == 0 && strcmp(used(list), "a ") == 0;
	file_list_destroy(list);
	return is_right ? 0 : 1;
}

static void a_mount_is_noticed(void **state)
{
	(void)state;
	int status;
	put("r/a/x");
	pid_t child = fork();
	if (child == 0)
		_exit(mounts_are_noticed());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

static void too_many_vanished_folders_are_walked_away(void **state)
{
	(void)state;
	put("r/x");
	struct file_list *list = list_of("r", "x ");
	uint64_t epoch = file_list_epoch(list);
	for (int i = 0; i < 1010; i++) {
		put("r/d/y");
		assert_string_equal(used(list), "d d/y x ");
		assert_int_equal(unlink(temp_path("r/d/y")), 0);
		assert_int_equal(rmdir(temp_path("r/d")), 0);
		assert_string_equal(used(list), "x ");
	}
	assert_int_equal(file_list_epoch(list), epoch + 1);
	file_list_destroy(list);
}

static void many_new_names_do_not_grow_the_list_for_ever(void **state)
{
	(void)state;
	char name[32];
	put("r/x");
	struct file_list *list = list_of("r", "x ");
	for (int i = 0; i < 1100; i++) {
		snprintf(name, sizeof(name), "r/n%d", i);
		put(name);
		used(list);
		assert_int_equal(unlink(temp_path(name)), 0);
	}
	assert_string_equal(used(list), "x ");
	assert_true(file_list_names(list) < 200);
	file_list_destroy(list);
}

static void a_list_that_is_not_watched_is_walked_after_a_pause(void **state)
{
	(void)state;
	put("r/x");
	struct file_list *list = file_list_create(temp_path("r"), false);
	assert_string_equal(used(list), "x ");
	put("r/y");
	check(list, "x ", false);
	struct timespec pause = {LIMIT_SEARCH_PAUSE_MS / 1000, 100 * 1000 * 1000};
	nanosleep(&pause, NULL);
	check(list, "x y ", true);
	file_list_destroy(list);
}

static void a_large_folder_may_be_cut_anywhere(void **state)
{
	(void)state;
	char name[64];
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "r/some-rather-long-name-of-a-file-%d", i);
		put(name);
	}
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r/d%d/e/f", i);
		put(name);
	}
	struct file_list *list = file_list_create(temp_path("r"), true);
	used(list);
	assert_int_equal(file_list_folders(list), 41);
	put("r/new");
	atomic_bool stop = true;
	file_list_refresh(list);
	assert_false(file_list_walk(list, &stop));
	used(list);
	size_t count, total = 0;
	for (size_t i = 0; i < file_list_folders(list); i++) {
		file_list_entries(list, i, &count);
		total += count;
	}
	assert_int_equal(file_list_folders(list), 41);
	assert_int_equal(total, 3000 + 60 + 1);
	file_list_destroy(list);
}

/* ---- the lists of a process ---- */

static void searches_share_lists_and_some_are_kept(void **state)
{
	(void)state;
	struct file_lists *lists = file_lists_create();
	struct file_list *a = file_lists_take(lists, "/a"), *b = file_lists_take(lists, "/b");
	assert_ptr_equal(file_lists_take(lists, "/a"), a);
	file_lists_drop(lists, a);
	assert_int_equal(file_lists_kept(lists), 0);
	file_lists_drop(lists, a);
	assert_int_equal(file_lists_kept(lists), 1);
	assert_ptr_equal(file_lists_take(lists, "/a"), a);
	file_lists_drop(lists, a);
	file_lists_drop(lists, b);
	char root[16];
	for (int i = 0; i < 3 * LIMIT_SEARCH_LISTS; i++) {
		snprintf(root, sizeof(root), "/%d", i);
		file_lists_drop(lists, file_lists_take(lists, root));
	}
	assert_int_equal(file_lists_kept(lists), LIMIT_SEARCH_LISTS);
	struct file_list *many[3 * LIMIT_SEARCH_LISTS];
	for (size_t i = 0; i < countof(many); i++) {
		snprintf(root, sizeof(root), "/m%zu", i);
		many[i] = file_lists_take(lists, root);
	}
	for (size_t i = 0; i < countof(many); i++)
		file_lists_drop(lists, many[i]);
	assert_int_equal(file_lists_kept(lists), LIMIT_SEARCH_LISTS);
	file_lists_clear(lists);
	assert_int_equal(file_lists_kept(lists), 0);
	file_lists_destroy(lists);
	file_lists_destroy(NULL);
}

static size_t found_by(struct file_search *search, const char *query)
{
	atomic_bool stop = false;
	const struct file_search_result *results;
	size_t count;
	file_search_set_query(search, str_of(query));
	while (!file_search_step(search, &stop))
		;
	file_search_results(search, &results, &count);
	return count;
}

/* Another search reads the changes first, or walks again; this one does not use what it knew of the list before. */
static void a_search_sees_what_another_one_has_noticed(void **state)
{
	(void)state;
	put("r/a/one");
	put("r/b/one");
	struct file_search_root root = {STR("r"), temp_path("r")};
	struct file_lists *lists = file_lists_create();
	struct file_search *first = file_search_create(lists, &root, 1), *second = file_search_create(lists, &root, 1);
	assert_int_equal(found_by(first, "one"), 2);
	assert_int_equal(found_by(first, "on"), 2);
	put("r/c/one");
	assert_int_equal(found_by(second, "one"), 3);
	assert_int_equal(found_by(first, "one"), 3); /* not the answer that it has kept */
	assert_int_equal(rename(temp_path("r/c"), temp_path("c")), 0);
	assert_int_equal(found_by(second, "on"), 2);
	assert_int_equal(found_by(first, "one"), 2);
	put("r/on/ly");
	assert_int_equal(found_by(first, "onl"), 1);
	file_search_destroy(first);
	assert_int_equal(found_by(second, "onl"), 1);
	file_search_destroy(second);
	assert_int_equal(file_lists_kept(lists), 1);
	file_lists_destroy(lists);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(new_and_removed_names_are_noticed_without_a_walk),
		TEST(a_removed_folder_and_one_of_its_name_are_two),
		TEST(a_moved_folder_is_walked_again),
		TEST(ignore_files_are_watched),
		TEST(rules_outside_of_the_root_are_compared),
		TEST(a_root_that_goes_away_is_empty_until_another_one_comes),
		TEST(permissions_that_appear_are_noticed),
		TEST(a_lack_of_descriptors_passes),
		TEST(an_overflow_of_the_kernels_queue_is_noticed),
		TEST(a_mount_is_noticed),
		TEST(too_many_vanished_folders_are_walked_away),
		TEST(many_new_names_do_not_grow_the_list_for_ever),
		TEST(a_list_that_is_not_watched_is_walked_after_a_pause),
		TEST(a_large_folder_may_be_cut_anywhere),
		cmocka_unit_test(searches_share_lists_and_some_are_kept),
		TEST(a_search_sees_what_another_one_has_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
