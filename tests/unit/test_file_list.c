/* Lists of files that are kept: changes are noticed when the list is used, and without a walk where that is possible.
 */
#include "temp.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

#include "base/clock.h"
#include "workspace/file_list.h"
#include "workspace/file_lists.h"
#include "workspace/file_search.h"
#include "workspace/folder_watch.h"
#include "workspace/workspace_limits.h"

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

/* A process in the folder keeps the kernel from reporting its end. */
static void a_removed_folder_that_is_held_and_one_of_its_name_are_two(void **state)
{
	(void)state;
	put("r/a/x1");
	put("r/b/a/z");
	struct file_list *list = list_of("r", "a a/x1 b b/a b/a/z ");
	int held = open(temp_path("r/a"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(held >= 0);
	assert_int_equal(unlink(temp_path("r/a/x1")), 0);
	assert_int_equal(rmdir(temp_path("r/a")), 0);
	put("r/a/x2");
	check(list, "a a/x2 b b/a b/a/z ", false);
	put("r/a/x3");
	assert_int_equal(unlink(temp_path("r/a/x2")), 0);
	check(list, "a a/x3 b b/a b/a/z ", false);
	close(held);
	check(list, "a a/x3 b b/a b/a/z ", false);
	put("r/a/x4");
	check(list, "a a/x3 a/x4 b b/a b/a/z ", false);
	file_list_destroy(list);
}

/* The first slice ends after the root, which has many files. */
static struct file_list *first_slice(void)
{
	char name[32];
	put("r/a/x");
	put("r/b/y");
	int root = open(temp_path("r"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (int i = 0; i < LIMIT_SEARCH_SLICE; i++) {
		snprintf(name, sizeof(name), "%d", i);
		assert_int_equal(mknodat(root, name, S_IFREG | 0600, 0), 0);
	}
	close(root);
	struct file_list *list = file_list_create(temp_path("r"), true);
	atomic_bool stop = false;
	assert_false(file_list_walk(list, &stop));
	assert_int_equal(file_list_folders(list), 1);
	return list;
}

static size_t count_entries(const struct file_list *list)
{
	size_t count, total = 0;
	for (size_t i = 0; i < file_list_folders(list); i++) {
		file_list_entries(list, i, &count);
		total += count;
	}
	return total;
}

static void a_large_list_is_read_in_slices(void **state)
{
	(void)state;
	struct file_list *list = first_slice();
	atomic_bool stop = false;
	/* a folder is removed before it is read */
	assert_int_equal(unlink(temp_path("r/a/x")), 0);
	assert_int_equal(rmdir(temp_path("r/a")), 0);
	put("r/a/z");
	file_list_refresh(list);
	while (!file_list_walk(list, &stop))
		;
	assert_int_equal(file_list_folders(list), 4); /* one of them has no entries */
	assert_int_equal(count_entries(list), LIMIT_SEARCH_SLICE + 4);
	/* changed folders are not all read at once */
	put("r/b/new");
	put("r/new");
	file_list_refresh(list);
	assert_false(file_list_walk(list, &stop));
	assert_true(file_list_walk(list, &stop));
	assert_int_equal(count_entries(list), LIMIT_SEARCH_SLICE + 6);
	file_list_destroy(list);
}

static void an_old_end_is_not_that_of_a_new_folder(void **state)
{
	(void)state;
	struct file_list *list = first_slice();
	atomic_bool stop = false;
	assert_int_equal(unlink(temp_path("r/a/x")), 0);
	assert_int_equal(rmdir(temp_path("r/a")), 0);
	put("r/a/sub/f");
	while (!file_list_walk(list, &stop))
		;
	file_list_refresh(list); /* reports the end of the former folder */
	while (!file_list_walk(list, &stop))
		;
	assert_int_equal(count_entries(list), LIMIT_SEARCH_SLICE + 5);
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

static void ignore_files_that_are_links_are_watched(void **state)
{
	(void)state;
	put("r/a/x");
	temp_put("r/a/.ignore", STR("*.o\n"));
	put("r/b/y.o");
	assert_int_equal(link(temp_path("r/a/.ignore"), temp_path("r/b/.ignore")), 0);
	struct file_list *list = list_of("r", "a a/.ignore a/x b b/.ignore ");
	put("r/b/new");
	check(list, "a a/.ignore a/x b b/.ignore b/new ", false);
	FILE *file = fopen(temp_path("r/a/.ignore"), "we");
	assert_non_null(file);
	fclose(file);
	check(list, "a a/.ignore a/x b b/.ignore b/new b/y.o ", true);
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

/* In a child without rights: returns whether a root that could not be read is read once it can be, after a pause. */
static int permissions_of_the_root_are_noticed(void)
{
	if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0)
		return 77;
	auto_free char *path = xasprintf("%s/u/r", temp_root), *file = xasprintf("%s/x", path);
	if (mkdir(path, 0700) != 0 || mknod(file, S_IFREG | 0600, 0) != 0 || chmod(path, 0) != 0)
		return 1;
	struct file_list *list = file_list_create(path, true);
	bool is_right = strcmp(used(list), "") == 0 && chmod(path, 0700) == 0;
	struct timespec pause = {LIMIT_SEARCH_PAUSE_MS / 1000, 100 * 1000 * 1000};
	nanosleep(&pause, NULL);
	is_right = is_right && strcmp(used(list), "x ") == 0;
	file_list_destroy(list);
	return is_right ? 0 : 1;
}

static void a_root_that_becomes_readable_is_read(void **state)
{
	(void)state;
	int status;
	assert_int_equal(chmod(temp_root, 0711), 0);
	assert_int_equal(mkdir(temp_path("u"), 0700), 0);
	assert_int_equal(chmod(temp_path("u"), 0777), 0);
	pid_t child = fork();
	if (child == 0)
		_exit(permissions_of_the_root_are_noticed());
	assert_int_equal(waitpid(child, &status, 0), child);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip();
	assert_int_equal(status, 0);
}

/* Descriptors for the watch, the mount table, the root, folders: what could not be opened is not taken for empty. */
static void a_lack_of_descriptors_passes(void **state)
{
	(void)state;
	struct rlimit before, few;
	char name[32];
	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "r/%02d/x", i);
		put(name);
	}
	struct file_list *whole = file_list_create(temp_path("r"), true);
	auto_free char *expected = xstrdup(used(whole));
	file_list_destroy(whole);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	int next = dup(0);
	close(next);
	for (rlim_t more = 0; more < 8; more++) {
		struct file_list *list = file_list_create(temp_path("r"), true);
		few = before;
		few.rlim_cur = (rlim_t)next + more;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
		used(list);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
		assert_string_equal(used(list), expected);
		file_list_destroy(list);
	}
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
	uint64_t begin = clock_now_ms();
	assert_string_equal(used(list), "x ");
	put("r/y");
	struct timespec pause = {0, (LIMIT_SEARCH_PAUSE_MS / 2 + 50) * 1000L * 1000};
	if (pause.tv_nsec >= 1000L * 1000 * 1000)
		pause = (struct timespec){pause.tv_nsec / (1000L * 1000 * 1000), pause.tv_nsec % (1000L * 1000 * 1000)};
	nanosleep(&pause, NULL);
	const char *text = used(list); /* a use that does not put the next walk off */
	if (clock_now_ms() - begin < LIMIT_SEARCH_PAUSE_MS)
		assert_string_equal(text, "x ");
	nanosleep(&pause, NULL);
	assert_string_equal(used(list), "x y ");
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

struct cut {
	atomic_bool stop;
	int us;
};

static void *cut_after(void *self)
{
	struct cut *cut = self;
	struct timespec pause = {0, cut->us * 1000L};
	nanosleep(&pause, NULL);
	atomic_store(&cut->stop, true);
	return NULL;
}

/* Walks until a thread stops that, `us` later, or to the end. */
static void walk_and_cut(struct file_list *list, int us)
{
	struct cut cut = {false, us};
	pthread_t thread;
	assert_int_equal(pthread_create(&thread, NULL, cut_after, &cut), 0);
	while (!atomic_load(&cut.stop) && !file_list_walk(list, &cut.stop))
		;
	pthread_join(thread, NULL);
}

/* Wherever readings are cut off, the list has all at the end, and was not walked again. */
static void a_folder_of_folders_may_be_cut_at_each_reading(void **state)
{
	(void)state;
	char name[32];
	assert_int_equal(mkdir(temp_path("r"), 0700), 0);
	for (int i = 0; i < 3000; i++) {
		snprintf(name, sizeof(name), "r/%d", i);
		assert_int_equal(mkdir(temp_path(name), 0700), 0);
	}
	struct file_list *list = file_list_create(temp_path("r"), true);
	size_t count;
	used(list);
	uint64_t epoch = file_list_epoch(list);
	for (int i = 0; i < 40; i++) {
		snprintf(name, sizeof(name), "r/new%d", i);
		put(name);
		file_list_refresh(list);
		walk_and_cut(list, 50 * i);
		walk_and_cut(list, 20 * i);
		used(list);
		assert_int_equal(file_list_folders(list), 3001);
		file_list_entries(list, 0, &count);
		assert_int_equal(count, 3000 + i + 1);
	}
	assert_int_equal(file_list_epoch(list), epoch);
	file_list_destroy(list);
}

/* ---- changes ---- */

static int changes_seen;

static void change_more(int number, enum folder_change change, const char *name, void *self)
{
	(void)name;
	(void)self;
	char path[32];
	assert_int_equal(number, 1);
	assert_int_equal(change, FOLDER_names);
	assert_true(++changes_seen < 100);
	snprintf(path, sizeof(path), "r/more%d", changes_seen);
	assert_int_equal(mknod(temp_path(path), S_IFREG | 0600, 0), 0);
}

/* A process that changes names all the time does not delay the reader. */
static void only_changes_before_the_call_are_read(void **state)
{
	(void)state;
	assert_int_equal(mkdir(temp_path("r"), 0700), 0);
	int folder = open(temp_path("r"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct folder_watch *watch = folder_watch_create();
	assert_int_equal(folder_watch_add(watch, folder, false), 1);
	assert_int_equal(mknod(temp_path("r/x"), S_IFREG | 0600, 0), 0);
	assert_int_equal(mknod(temp_path("r/y"), S_IFREG | 0600, 0), 0);
	assert_true(folder_watch_read(watch, change_more, NULL));
	assert_int_equal(changes_seen, 2);
	assert_true(folder_watch_read(watch, change_more, NULL));
	assert_int_equal(changes_seen, 4);
	folder_watch_destroy(watch);
	close(folder);
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
	const struct file_list *last = many[countof(many) - 1];
	assert_ptr_equal(file_lists_take(lists, file_list_root(last)), last);
	file_lists_drop(lists, many[countof(many) - 1]);
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
		TEST(a_removed_folder_that_is_held_and_one_of_its_name_are_two),
		TEST(a_large_list_is_read_in_slices),
		TEST(an_old_end_is_not_that_of_a_new_folder),
		TEST(a_moved_folder_is_walked_again),
		TEST(ignore_files_are_watched),
		TEST(ignore_files_that_are_links_are_watched),
		TEST(rules_outside_of_the_root_are_compared),
		TEST(a_root_that_goes_away_is_empty_until_another_one_comes),
		TEST(permissions_that_appear_are_noticed),
		TEST(a_root_that_becomes_readable_is_read),
		TEST(a_lack_of_descriptors_passes),
		TEST(an_overflow_of_the_kernels_queue_is_noticed),
		TEST(a_mount_is_noticed),
		TEST(too_many_vanished_folders_are_walked_away),
		TEST(many_new_names_do_not_grow_the_list_for_ever),
		TEST(a_list_that_is_not_watched_is_walked_after_a_pause),
		TEST(a_large_folder_may_be_cut_anywhere),
		TEST(a_folder_of_folders_may_be_cut_at_each_reading),
		TEST(only_changes_before_the_call_are_read),
		cmocka_unit_test(searches_share_lists_and_some_are_kept),
		TEST(a_search_sees_what_another_one_has_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
