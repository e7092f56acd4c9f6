/* Several patches of one file yield one diff from its first to its last content. */
#include "test.h"

#include "base/limits.h"
#include "base/mem.h"
#include "patch/git_diff.h"

static const char *written(struct git_diff *diff)
{
	static struct buf out;
	buf_finish(&out);
	buf_init(&out, 64 * MIB);
	git_diff_write(diff, "/w", &out);
	return out.data ? out.data : "";
}

static void note(struct git_diff *diff, const char *path, const char *move_path, struct str old, struct str now)
{
	git_diff_note(diff, &(struct git_diff_change){.path = path, .move_path = move_path, .old = old, .now = now});
}

#define NO_BLOB "0000000000000000000000000000000000000000"
#define HELLO_BLOB "ce013625030ba8dba906f756967f9e9ca394464a" /* result of git hash-object for "hello\n" */
#define OTHER_BLOB "e45c9c2666d44e0327c1f9c239a74c508336053e" /* result for "other\n" */

static void added_deleted_and_changed_files(void **state)
{
	(void)state;
	struct git_diff diff = {0};
	assert_string_equal(written(&diff), "");
	note(&diff, "/w/new.txt", NULL, STR_NONE, STR("hello\n"));
	assert_string_equal(written(&diff), "diff --git a/new.txt b/new.txt\nnew file mode 100644\nindex " NO_BLOB
	                                    ".." HELLO_BLOB "\n--- /dev/null\n+++ b/new.txt\n@@ -0,0 +1 @@\n+hello\n");
	git_diff_finish(&diff);
	note(&diff, "/else/gone.txt", NULL, STR("hello\n"), STR_NONE);
	assert_string_equal(written(&diff),
	                    "diff --git a//else/gone.txt b//else/gone.txt\ndeleted file mode 100644\nindex " HELLO_BLOB
	                    ".." NO_BLOB "\n--- a//else/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-hello\n");
	git_diff_finish(&diff);
}

static void a_moved_file_is_a_rename(void **state)
{
	(void)state;
	struct git_diff diff = {0};
	note(&diff, "/w/a", "/w/b", STR("hello\n"), STR("between\n"));
	note(&diff, "/w/b", NULL, STR("between\n"), STR("other\n"));
	assert_string_equal(written(&diff), "diff --git a/a b/b\nindex " HELLO_BLOB ".." OTHER_BLOB
	                                    "\n--- a/a\n+++ b/b\n@@ -1 +1 @@\n-hello\n+other\n");
	git_diff_finish(&diff);
}

static void unchanged_files_are_omitted(void **state)
{
	(void)state;
	struct git_diff diff = {0};
	note(&diff, "/w/a", NULL, STR("hello\n"), STR("other\n"));
	note(&diff, "/w/new", NULL, STR_NONE, STR("x\n"));
	assert_non_null(strstr(written(&diff), "a/a"));
	note(&diff, "/w/a", NULL, STR("other\n"), STR("hello\n"));
	note(&diff, "/w/new", NULL, STR("x\n"), STR_NONE);
	assert_string_equal(written(&diff), "");
	note(&diff, "/w/new", NULL, STR_NONE, STR("")); /* an empty file is listed, too */
	assert_string_equal(written(&diff), "diff --git a/new b/new\nnew file mode 100644\nindex " NO_BLOB
	                                    "..e69de29bb2d1d6434b8b29ae775ad8c2e48c5391\n");
	git_diff_finish(&diff);
}

static void files_are_sorted_by_path(void **state)
{
	(void)state;
	struct git_diff diff = {0};
	note(&diff, "/w/z", NULL, STR_NONE, STR("1\n"));
	note(&diff, "/w/a", NULL, STR_NONE, STR("2\n"));
	const char *text = written(&diff);
	assert_true(strstr(text, "a/a") < strstr(text, "a/z"));
	git_diff_finish(&diff);
}

static void large_files_are_omitted(void **state)
{
	(void)state;
	struct git_diff diff = {0};
	size_t len = LIMIT_GIT_DIFF_FILE + 1;
	auto_free char *large = xmalloc(len);
	memset(large, 'x', len);
	note(&diff, "/w/large", NULL, STR("small\n"), str_n(large, len));
	assert_string_equal(written(&diff), "");
	note(&diff, "/w/large", NULL, str_n(large, len), STR("small again\n"));
	assert_non_null(strstr(written(&diff), "+small again"));
	note(&diff, "/w/was", NULL, str_n(large, len), STR("small\n"));
	assert_null(strstr(written(&diff), "was"));
	for (int i = 0; i < 40; i++) {
		char path[32];
		snprintf(path, sizeof(path), "/w/%d", i);
		note(&diff, path, NULL, STR_NONE, str_n(large, LIMIT_GIT_DIFF_FILE));
	}
	assert_non_null(strstr(written(&diff), "b/1\n"));
	assert_null(strstr(written(&diff), "b/39\n")); /* the limit of all files together */
	git_diff_finish(&diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added_deleted_and_changed_files), cmocka_unit_test(a_moved_file_is_a_rename),
		cmocka_unit_test(unchanged_files_are_omitted),     cmocka_unit_test(files_are_sorted_by_path),
		cmocka_unit_test(large_files_are_omitted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
