/* Patches on real files: hunk by hunk like the apply_patch program, and atomically like a turn. The cases of the shared
 * folder run both ways; without the folder these tests are skipped. */
#include "temp.h"

#include <dirent.h>
#include <errno.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/xattr.h>

#include "base/limits.h"
#include "base/vec.h"
#include "patch/patch_apply.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_plan.h"

#define BEGIN "*** Begin Patch\n"
#define END "*** End Patch\n"
#define UPDATE(file) "*** Update File: " file "\n"

/* Text of the last failure, as sent to the model. */
static char said[4096];

static int note_failure(const struct patch_error *err, int status)
{
	auto_buf struct buf text;
	buf_init(&text, sizeof(said) - 1);
	said[0] = '\0';
	if (status != 0)
		patch_error_for_model(err, &text);
	if (text.data)
		memcpy(said, text.data, text.len + 1);
	return status;
}

static int apply_in(const char *folder, struct str text)
{
	auto_patch struct patch patch = {0};
	auto_patch_error struct patch_error err = {0};
	int status = patch_parse(&patch, text, &err);
	if (status == 0)
		status = patch_apply(&patch, folder, &err);
	return note_failure(&err, status);
}

static int commit_in(const char *folder, struct str text)
{
	auto_patch struct patch patch = {0};
	auto_patch_error struct patch_error err = {0};
	int status = patch_parse(&patch, text, &err);
	if (status != 0)
		return note_failure(&err, status);
	struct patch_plan *plan = patch_plan_create(&patch, folder, NULL, &err);
	status = plan ? patch_plan_commit(plan, &err) : -(int)err.code;
	patch_plan_destroy(plan);
	return note_failure(&err, status);
}

/* Writes "path=content\n" for every file below a folder, sorted. */
static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_names(const char *folder, const char *below, char *names[64], size_t *count)
{
	auto_free char *path = path_join(folder, below);
	DIR *dir = opendir(path);
	if (!dir)
		return;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		char *name = xasprintf("%s%s%s", below, below[0] ? "/" : "", entry->d_name);
		auto_free char *full = path_join(folder, name);
		struct stat st;
		assert_int_equal(lstat(full, &st), 0);
		if (S_ISDIR(st.st_mode)) {
			list_names(folder, name, names, count);
			free(name);
		} else {
			assert_true(*count < 64);
			names[(*count)++] = name;
		}
	}
	closedir(dir);
}

static char *tree_of(const char *folder)
{
	char *names[64];
	size_t count = 0;
	struct buf text;
	buf_init(&text, MIB);
	list_names(folder, "", names, &count);
	qsort(names, count, sizeof(*names), compare_names);
	for (size_t i = 0; i < count; i++) {
		auto_free char *full = path_join(folder, names[i]);
		auto_free char *content = temp_get(full);
		buf_printf(&text, "%s=%s\n", names[i], content);
		free(names[i]);
	}
	return buf_take(&text);
}

static void assert_tree(const char *want)
{
	auto_free char *got = tree_of(temp_root);
	assert_string_equal(got, want);
}

static void put(const char *name, const char *content)
{
	temp_put(name, str_of(content));
}

/* --- the shared cases --- */

static void copy_input(const char *from)
{
	char *names[64];
	size_t count = 0;
	list_names(from, "", names, &count);
	for (size_t i = 0; i < count; i++) {
		auto_free char *full = path_join(from, names[i]);
		auto_free char *content = temp_get(full);
		put(names[i], content);
		free(names[i]);
	}
}

static bool is_refused(const char *name)
{
	static const char *const refused[] = {
		"005_rejects_empty_patch",
		"006_rejects_missing_context",
		"007_rejects_missing_file_delete",
		"008_rejects_empty_update_hunk",
		"009_requires_existing_file_for_update",
		"012_delete_directory_fails",
		"013_rejects_invalid_hunk_header",
		"015_failure_after_partial_success_leaves_changes",
	};
	for (size_t i = 0; i < countof(refused); i++) {
		if (strcmp(name, refused[i]) == 0)
			return true;
	}
	return false;
}

/* Runs a case in an empty folder; with all_or_nothing atomically, as in a turn. */
static void run_case(const char *root, const char *name, bool all_or_nothing)
{
	auto_free char *folder = path_join(root, name), *input = path_join(folder, "input");
	auto_free char *expected = path_join(folder, "expected"), *file = path_join(folder, "patch.txt");
	auto_free char *text = temp_get(file);
	assert_int_equal(temp_make(NULL), 0);
	copy_input(input);
	auto_free char *before = tree_of(temp_root), *after = tree_of(expected);
	int status = all_or_nothing ? commit_in(temp_root, str_of(text)) : apply_in(temp_root, str_of(text));
	bool is_empty = strcmp(name, "005_rejects_empty_patch") == 0;
	if ((status != 0) != (is_refused(name) && !(is_empty && all_or_nothing)))
		fail_msg("%s: %s", name, status ? said : "was not refused");
	auto_free char *got = tree_of(temp_root);
	const char *want = all_or_nothing && status != 0 ? before : after;
	if (strcmp(got, want) != 0)
		fail_msg("%s:\n%sinstead of\n%s", name, got, want);
	temp_remove(NULL);
}

static void run_cases(bool all_or_nothing)
{
	const char *shared = shared_path("reference/apply_patch_scenarios");
	if (!shared)
		skip();
	auto_free char *root = xstrdup(shared);
	DIR *dir = opendir(root);
	assert_non_null(dir);
	int count = 0;
	for (struct dirent *entry; (entry = readdir(dir));) {
		if (entry->d_name[0] != '0')
			continue;
		run_case(root, entry->d_name, all_or_nothing);
		count++;
	}
	closedir(dir);
	assert_int_equal(count, 23);
}

static void the_shared_cases_hold_hunk_by_hunk(void **state)
{
	(void)state;
	run_cases(false);
}

static void the_shared_cases_hold_all_or_nothing(void **state)
{
	(void)state;
	run_cases(true);
}

/* --- updates --- */

static void check_update(const char *before, const char *chunks, const char *after)
{
	put("f", before);
	auto_free char *text = xasprintf(BEGIN UPDATE("f") "%s" END, chunks);
	if (apply_in(temp_root, str_of(text)) != 0)
		fail_msg("%s", said);
	auto_free char *got = temp_get(temp_path("f"));
	assert_string_equal(got, after);
	put("f", before);
	assert_int_equal(commit_in(temp_root, str_of(text)), 0);
	auto_free char *again = temp_get(temp_path("f"));
	assert_string_equal(again, after);
}

static void lines_are_found_in_four_ways(void **state)
{
	(void)state;
	check_update("a\nb\n", "@@\n-b\n+x\n", "a\nx\n");
	check_update("a\nb \t\n", "@@\n-b\n+x\n", "a\nx\n");
	check_update("a\n  b \n", "@@\n-b\n+x\n", "a\nx\n");
	check_update("a\n\u201cq\u201d \u2013\u00a0\u2018r\u2019\n", "@@\n-\"q\" - 'r'\n+x\n", "a\nx\n");
	/* An exact match further down takes precedence. */
	check_update(" b\nb \nb\n", "@@\n-b\n+x\n", " b\nb \nx\n");
	check_update(" b\nb \n", "@@\n-b\n+x\n", " b\nx\n");
}

static void unchanged_lines_keep_their_bytes(void **state)
{
	(void)state;
	check_update("\ta  \nb\n", "@@\n a\n-b\n+x\n", "\ta  \nx\n");
	check_update("a\n\u2018b\u2019\nc\n", "@@\n a\n 'b'\n-c\n", "a\n\u2018b\u2019\n");
}

static void line_ends_follow_the_file(void **state)
{
	(void)state;
	check_update("a\r\nb\r\nc\r\n", "@@\n a\n-b\n+x\n+y\n", "a\r\nx\r\ny\r\nc\r\n");
	check_update("a\nb\n", "@@\r\n a\r\n-b\r\n+x\r\n", "a\nx\n");
	check_update("a\r\nb\nc\r\n", "@@\n a\n b\n-c\n+x\n", "a\r\nb\nx\r\n");
	check_update("a\r\nb", "@@\n-b\n+x\n", "a\r\nx\r\n");
	check_update("a\r\nb", "@@\n+x\n", "a\r\nb\r\nx\r\n");
}

static void the_last_line_always_gets_a_newline(void **state)
{
	(void)state;
	check_update("a\nb", "@@\n-a\n+x\n", "x\nb\n");
	check_update("a\nb", "@@\n b\n+x\n", "a\nb\nx\n");
	check_update("a\nb", "@@\n-b\n", "a\n");
	check_update("a", "@@\n-a\n", "");
	check_update("", "@@\n+x\n", "x\n");
	check_update("a\n\n", "@@\n-a\n+x\n", "x\n\n");
	check_update("a\nb", "@@\n-b\n+y\n@@\n+z\n", "a\ny\nz\n");
}

static void additions_alone_go_to_the_end(void **state)
{
	(void)state;
	check_update("a\nb\n", "@@\n+x\n+y\n", "a\nb\nx\ny\n");
	check_update("a\nb\n", "@@ a\n+x\n", "a\nb\nx\n");
	check_update("a\n\n", "@@\n+x\n", "a\n\nx\n");
	check_update("a\nb\n", "@@\n+1\n@@\n b\n+2\n@@\n+3\n", "a\nb\n1\n2\n3\n");
}

static void context_says_where_to_start(void **state)
{
	(void)state;
	check_update("f\n x\ng\n x\n", "@@ g\n- x\n+ y\n", "f\n x\ng\n y\n");
	check_update("a\nb\na\nb\na\nb\n", "@@ a\n-b\n+1\n@@ a\n-b\n+2\n@@\n-b\n+3\n", "a\n1\na\n2\na\n3\n");
	check_update("  def f():\n  1\n", "@@ def f():\n-  1\n+  2\n", "  def f():\n  2\n");
	check_update("a\nb\n", "@@   \n-b\n+x\n", "a\nx\n");
}

static void the_end_of_the_file_can_be_meant(void **state)
{
	(void)state;
	check_update("a\nb\na\n", "@@\n-a\n+x\n*** End of File\n", "a\nb\nx\n");
	check_update("a\n a \n", "@@\n-a\n+x\n*** End of File\n", "a\nx\n");
	check_update("a\nb", "@@\n-b\n+x\n*** End of File\n", "a\nx\n");
}

static void a_blank_line_at_a_chunks_end_may_be_missing(void **state)
{
	(void)state;
	check_update("a\nb\n", "@@\n-a\n+x\n\n@@\n-b\n+y\n", "x\ny\n");
	check_update("a\nb\n", "@@\n b\n+x\n \n", "a\nb\nx\n");
	check_update("a\n\nb\n", "@@\n-a\n+x\n\n", "x\n\nb\n");
}

static void missing_lines_are_quoted(void **state)
{
	(void)state;
	put("f", "a\nb\nc\n");
	static const struct {
		const char *chunks, *want;
	} rows[] = {
		{"@@\n b\n-zz\n+x\n", "Failed to find expected lines in %s/f:\nb\nzz"},
		{"@@ zork\n-a\n", "Failed to find context 'zork' in %s/f"},
		{"@@\n-a\n+x\n*** End of File\n", "Failed to find expected lines in %s/f:\na"},
		{"@@\n-c\n+x\n@@\n-a\n+x\n", "Failed to find expected lines in %s/f:\na"},
		{"@@\n b\n-c\n+x\n@@\n-c\n+y\n*** End of File\n", "Failed to find expected lines in %s/f:\nc"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_free char *text = xasprintf(BEGIN UPDATE("f") "%s" END, rows[i].chunks);
		char want[200];
		snprintf(want, sizeof(want), rows[i].want, temp_root);
		assert_int_equal(apply_in(temp_root, str_of(text)), -ERR_not_found);
		assert_string_equal(said, want);
		assert_int_equal(commit_in(temp_root, str_of(text)), -ERR_not_found);
		assert_string_equal(said, want);
	}
	assert_tree("f=a\nb\nc\n\n");
}

/* Every line starts like the right one, and many match in their first line. */
static void near_misses_do_not_hide_a_place(void **state)
{
	(void)state;
	auto_buf struct buf before, after;
	buf_init(&before, 64 * KIB);
	buf_init(&after, 64 * KIB);
	for (int i = 0; i < 300; i++) {
		const char *second = i == 250 ? "right" : "wrong";
		buf_printf(&before, "same\n%s\n", second);
		buf_printf(&after, "same\n%s\n", i == 250 ? "changed" : second);
	}
	check_update(before.data, "@@\n same\n-right\n+changed\n", after.data);
}

/* Many chunks without an exact match are found by the index instead of a search per chunk. */
static void a_thousand_inexact_chunks_are_found(void **state)
{
	(void)state;
	auto_buf struct buf file, patch, want;
	buf_init(&file, MIB);
	buf_init(&patch, MIB);
	buf_init(&want, MIB);
	buf_append_c(&patch, BEGIN UPDATE("f"));
	for (int i = 0; i < 1000; i++) {
		buf_printf(&file, "  item %d  \n}\n", i);
		buf_printf(&want, "  item %d  \nnew %d\n", i, i);
		buf_printf(&patch, "@@\n item %d\n-}\n+new %d\n", i, i);
	}
	buf_append_c(&patch, END);
	temp_put("f", buf_str(&file));
	assert_int_equal(apply_in(temp_root, buf_str(&patch)), 0);
	auto_free char *got = temp_get(temp_path("f"));
	assert_string_equal(got, want.data);
}

/* --- files --- */

static void check_refused(const char *body, const char *want_apply, const char *want_plan)
{
	char want[4096];
	auto_free char *text = xasprintf(BEGIN "%s" END, body), *before = tree_of(temp_root);
	assert_int_not_equal(apply_in(temp_root, str_of(text)), 0);
	snprintf(want, sizeof(want), want_apply, temp_root, temp_root);
	assert_string_equal(said, want);
	assert_tree(before);
	assert_int_not_equal(commit_in(temp_root, str_of(text)), 0);
	snprintf(want, sizeof(want), want_plan, temp_root, temp_root);
	assert_string_equal(said, want);
	assert_tree(before);
}

static void files_that_cannot_be_used_are_named(void **state)
{
	(void)state;
	put("f", "a\n");
	put("d/inner", "a\n");
	temp_put("bad", str_n("a\n\xff\n", 4));
	temp_put("cut", str_n("a\n\xe2\x82", 4));
	check_refused(UPDATE("x/../nope.txt") "@@\n-a\n",
	              "Failed to read file to update %s/nope.txt: No such file or directory (os error 2)",
	              "Failed to read file to update %s/nope.txt: No such file or directory (os error 2)");
	check_refused(UPDATE("f/x") "@@\n-a\n", "Failed to read file to update %s/f/x: Not a directory (os error 20)",
	              "Failed to read file to update %s/f/x: Not a directory (os error 20)");
	check_refused(UPDATE("d") "@@\n-a\n", "Failed to read file to update %s/d: path `%s/d` is not a file",
	              "Failed to read file to update %s/d: path `%s/d` is not a file");
	check_refused(UPDATE("bad") "@@\n-a\n",
	              "Failed to read file to update %s/bad: invalid utf-8 sequence of 1 bytes from index 2",
	              "Failed to read file to update %s/bad: invalid utf-8 sequence of 1 bytes from index 2");
	check_refused(UPDATE("cut") "@@\n-a\n",
	              "Failed to read file to update %s/cut: incomplete utf-8 byte sequence from index 2",
	              "Failed to read file to update %s/cut: incomplete utf-8 byte sequence from index 2");
	check_refused("*** Delete File: nope\n",
	              "Failed to delete file %s/nope: No such file or directory (os error 2)",
	              "Failed to read %s/nope: No such file or directory (os error 2)");
	check_refused("*** Delete File: d\n", "Failed to delete file %s/d: Is a directory (os error 21)",
	              "Failed to read %s/d: path `%s/d` is not a file");
	check_refused("*** Add File: d\n+x\n", "Failed to write file %s/d: Is a directory (os error 21)",
	              "Failed to write file %s/d: path `%s/d` is not a file");
	check_refused("*** Add File: f/x\n+x\n", "Failed to write file %s/f/x: Not a directory (os error 20)",
	              "Failed to write file %s/f/x: Not a directory (os error 20)");
}

static void a_pipe_does_not_block(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(temp_path("pipe"), 0600), 0);
	assert_int_not_equal(apply_in(temp_root, STR(BEGIN UPDATE("pipe") "@@\n-a\n" END)), 0);
	assert_int_not_equal(apply_in(temp_root, STR(BEGIN "*** Add File: pipe\n+a\n" END)), 0);
	assert_int_not_equal(commit_in(temp_root, STR(BEGIN "*** Delete File: pipe\n" END)), 0);
}

static mode_t mode_of(const char *name)
{
	struct stat st;
	assert_int_equal(lstat(temp_path(name), &st), 0);
	return st.st_mode;
}

static void modes_and_links_survive(void **state)
{
	(void)state;
	put("script", "a\n");
	put("real", "a\n");
	put("one", "a\n");
	assert_int_equal(chmod(temp_path("script"), 0751), 0);
	assert_int_equal(symlink("real", temp_path("link")), 0);
	assert_int_equal(symlink("made", temp_path("dangling")), 0);
	assert_int_equal(link(temp_path("one"), temp_path("two")), 0);
	/* checks that the mode is kept */
	struct str text = STR(BEGIN UPDATE("script") "*** Move to: sub/tool\n@@\n-a\n+b\n" UPDATE(
		"link") "@@\n-a\n+b\n"                          /* changes the target of the link */
	                      UPDATE("one") "@@\n-a\n+longer\n" /* changes the other hard link, too */
	                                    "*** Add File: dangling\n+new\n" END);
	assert_int_equal(commit_in(temp_root, text), 0);
	assert_int_equal(mode_of("sub/tool") & 07777, 0751);
	assert_true(S_ISLNK(mode_of("link")));
	assert_true(S_ISLNK(mode_of("dangling")));
	assert_tree("dangling=new\n\nlink=b\n\nmade=new\n\none=longer\n\nreal=b\n\nsub/tool=b\n\ntwo=longer\n\n");
}

static void attributes_survive(void **state)
{
	(void)state;
	put("f", "a\n");
	if (setxattr(temp_path("f"), "user.codex", "x", 1, 0) != 0)
		skip();
	char value;
	assert_int_equal(apply_in(temp_root, STR(BEGIN UPDATE("f") "@@\n-a\n+b\n" END)), 0);
	assert_int_equal(getxattr(temp_path("f"), "user.codex", &value, 1), 1);
	assert_tree("f=b\n\n");
}

static void a_file_moved_onto_itself_is_kept(void **state)
{
	(void)state;
	put("f", "a\n");
	assert_int_equal(apply_in(temp_root, STR(BEGIN UPDATE("f") "*** Move to: ./f\n@@\n-a\n+b\n" END)), 0);
	assert_tree("f=b\n\n");
	assert_int_equal(commit_in(temp_root, STR(BEGIN UPDATE("f") "*** Move to: ./f\n@@\n-b\n+c\n" END)), 0);
	assert_tree("f=c\n\n");
}

static void a_summary_sorts_by_kind(void **state)
{
	(void)state;
	auto_patch struct patch patch = {0};
	assert_int_equal(
		patch_parse(&patch,
	                    STR(BEGIN "*** Delete File: d\n" UPDATE("m") "*** Move to: n\n@@\n+x\n"
	                                                                 "*** Add File: ./a\n*** Add File: ./a\n" END),
	                    NULL),
		0);
	auto_buf struct buf text;
	buf_init(&text, 1000);
	patch_summary(&patch, &text);
	assert_string_equal(text.data, "Success. Updated the following files:\nA ./a\nA ./a\nM n\nD d\n");
}

/* --- plans --- */

struct planned {
	struct patch patch;
	struct patch_plan *plan;
	const struct patch_change *changes;
	size_t count;
};

static struct planned plan(struct str text)
{
	struct planned planned = {0};
	auto_patch_error struct patch_error err = {0};
	if (patch_parse(&planned.patch, text, &err) == 0)
		planned.plan = patch_plan_create(&planned.patch, temp_root, NULL, &err);
	if (!planned.plan)
		fail_msg("%s", err.text.data);
	planned.changes = patch_plan_changes(planned.plan, &planned.count);
	return planned;
}

static void planned_finish(struct planned *planned)
{
	patch_plan_destroy(planned->plan);
	patch_finish(&planned->patch);
}

/* Returns "kind path[ -> path]" for each change, with paths relative to temp_root. */
static const char *changes_of(const struct planned *planned)
{
	static char text[1024];
	size_t len = 0, root = strlen(temp_root) + 1;
	text[0] = '\0';
	for (size_t i = 0; i < planned->count; i++) {
		const struct patch_change *change = &planned->changes[i];
		const char *arrow = change->move_path ? " -> " : "";
		const char *to = change->move_path ? change->move_path + root : "";
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c %s%s%s|", "ADM"[change->kind],
		                        change -> path + root, arrow, to);
	}
	return text;
}

static void check_plan(const char *body, const char *want_changes, const char *want_tree)
{
	auto_free char *text = xasprintf(BEGIN "%s" END, body);
	struct planned planned = plan(str_of(text));
	assert_string_equal(changes_of(&planned), want_changes);
	auto_patch_error struct patch_error err = {0};
	if (patch_plan_commit(planned.plan, &err) != 0)
		fail_msg("%s", err.text.data);
	planned_finish(&planned);
	if (want_tree)
		assert_tree(want_tree);
}

static void a_plan_shows_the_net_effect(void **state)
{
	(void)state;
	put("f", "a\nb\n");
	check_plan(UPDATE("f") "@@\n-a\n+x\n" UPDATE("f") "@@\n x\n-b\n+y\n", "M f|", "f=x\ny\n\n");
	check_plan("*** Add File: g\n+1\n" UPDATE("g") "@@\n-1\n+2\n", "A g|", "f=x\ny\n\ng=2\n\n");
	check_plan("*** Add File: h\n+1\n*** Delete File: h\n", "", "f=x\ny\n\ng=2\n\n");
	check_plan("*** Add File: g\n+3\n", "A g|", "f=x\ny\n\ng=3\n\n");
	check_plan("*** Delete File: g\n*** Add File: g\n+4\n", "A g|", "f=x\ny\n\ng=4\n\n");
	check_plan(UPDATE("f") "*** Move to: s/m\n@@\n-x\n+z\n" UPDATE("s/m") "@@\n-y\n+w\n", "M f -> s/m|",
	           "g=4\n\ns/m=z\nw\n\n");
	check_plan(UPDATE("s/m") "*** Move to: n\n@@\n-z\n+1\n" UPDATE("n") "*** Move to: o\n@@\n-w\n+2\n",
	           "M s/m -> o|", "g=4\n\no=1\n2\n\n");
	check_plan(UPDATE("o") "*** Move to: g\n@@\n-1\n+x\n", "M o -> g|", "g=x\n2\n\n");
	check_plan(UPDATE("g") "*** Move to: k\n@@\n-x\n+y\n*** Add File: g\n+g\n", "A g|A k|", "g=g\n\nk=y\n2\n\n");
	check_plan(UPDATE("k") "*** Move to: l\n@@\n-y\n+z\n*** Delete File: l\n*** Delete File: g\n", "D k|D g|", "");
}

static void a_folder_may_take_a_removed_files_place(void **state)
{
	(void)state;
	put("f", "a\n");
	check_plan("*** Delete File: f\n*** Add File: f/x/y\n+1\n", "D f|A f/x/y|", "f/x/y=1\n\n");
}

static void a_plan_has_contents_and_diffs(void **state)
{
	(void)state;
	put("f", "1\n2\n3\n4\n5\n6\n7\n8\n9");
	put("gone", "x\n");
	struct planned planned = plan(STR(BEGIN UPDATE("f") "@@\n 2\n-3\n+drei\n@@\n 7\n+7b\n*** Add File: new\n+n\n"
	                                                    "*** Delete File: gone\n" END));
	static const struct {
		const char *old, *new, *diff;
	} rows[] = {
		{"1\n2\n3\n4\n5\n6\n7\n8\n9", "1\n2\ndrei\n4\n5\n6\n7\n7b\n8\n9\n",
	         "@@ -2,3 +2,3 @@\n 2\n-3\n+drei\n 4\n@@ -7,3 +7,4 @@\n 7\n+7b\n 8\n-9\n"
	         "\\ No newline at end of file\n+9\n"},
		{NULL, "n\n", "@@ -0,0 +1 @@\n+n\n"},
		{"x\n", NULL, "@@ -1 +0,0 @@\n-x\n"},
	};
	assert_int_equal(planned.count, countof(rows));
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf diff;
		buf_init(&diff, 1000);
		assert_true(str_eq(patch_change_old(&planned.changes[i]), str_of(rows[i].old)));
		assert_int_equal(!patch_change_old(&planned.changes[i]).ptr, !rows[i].old);
		for (int again = 0; again < 2; again++)
			assert_true(str_eq(patch_change_new(&planned.changes[i]), str_of(rows[i].new)));
		patch_change_diff(&planned.changes[i], 1, &diff);
		assert_string_equal(diff.data, rows[i].diff);
	}
	planned_finish(&planned);
}

static void a_stale_plan_writes_nothing(void **state)
{
	(void)state;
	put("f", "a\n");
	struct planned planned = plan(STR(BEGIN UPDATE("f") "@@\n-a\n+b\n" END));
	put("f", "other\n");
	assert_int_equal(patch_plan_commit(planned.plan, NULL), -ERR_busy);
	planned_finish(&planned);
	planned = plan(STR(BEGIN "*** Add File: g\n+b\n" END));
	put("g", "mine\n");
	assert_int_equal(patch_plan_commit(planned.plan, NULL), -ERR_busy);
	planned_finish(&planned);
	assert_tree("f=other\n\ng=mine\n\n");
}

static void real_paths_are_determined_before_the_commit(void **state)
{
	(void)state;
	put("in/f", "a\n");
	put("out/f", "a\n");
	assert_int_equal(symlink("../out", temp_path("in/folder")), 0);
	assert_int_equal(symlink("../out/f", temp_path("in/file")), 0);
	assert_int_equal(symlink("folder/made", temp_path("in/nothing")), 0);
	struct planned planned = plan(STR(BEGIN "*** Add File: in/folder/new/n\n+1\n" UPDATE(
		"in/file") "@@\n-a\n+b\n"
	                   "*** Add File: in/nothing\n+1\n" UPDATE("in/f") "*** Move to: in/folder/g\n"
	                                                                   "@@\n-a\n+b\n" END));
	static const char *const want[][2] = {
		{"out/new/n", NULL}, {"out/f", NULL}, {"out/made", NULL}, {"in/f", "out/g"}};
	assert_int_equal(planned.count, countof(want));
	size_t root = strlen(temp_root) + 1;
	for (size_t i = 0; i < countof(want); i++) {
		assert_string_equal(planned.changes[i].real_path + root, want[i][0]);
		if (want[i][1])
			assert_string_equal(planned.changes[i].real_move_path + root, want[i][1]);
		else
			assert_null(planned.changes[i].real_move_path);
	}
	planned_finish(&planned);
	assert_int_equal(symlink("loop", temp_path("loop")), 0);
	assert_int_not_equal(commit_in(temp_root, STR(BEGIN "*** Add File: loop/x\n+1\n" END)), 0);
	/* The link itself is deleted. */
	check_plan("*** Delete File: in/file\n*** Delete File: in/f\n", "D in/file|D in/f|", NULL);
	assert_true(file_exists(temp_path("out/f")));
}

/* A folder is replaced by a link between plan and commit: nothing outside is written or removed. */
static void a_swapped_folder_leads_nowhere(void **state)
{
	(void)state;
	static const char *const bodies[] = {"*** Add File: in/d/n\n+1\n", UPDATE("in/d/f") "@@\n-a\n+b\n",
	                                     "*** Delete File: in/d/f\n"};
	for (size_t i = 0; i < countof(bodies); i++) {
		put("in/d/f", "a\n");
		put("out/f", "a\n");
		auto_free char *text = xasprintf(BEGIN "%s" END, bodies[i]);
		struct planned planned = plan(str_of(text));
		/* Links the same inode there, so that only the path differs. */
		assert_int_equal(unlink(temp_path("out/f")), 0);
		assert_int_equal(link(temp_path("in/d/f"), temp_path("out/f")), 0);
		assert_int_equal(rename(temp_path("in/d"), temp_path("in/was")), 0);
		assert_int_equal(symlink("../out", temp_path("in/d")), 0);
		assert_int_not_equal(patch_plan_commit(planned.plan, NULL), 0);
		planned_finish(&planned);
		assert_int_equal(unlink(temp_path("in/d")), 0);
		assert_tree("in/was/f=a\n\nout/f=a\n\n");
		assert_int_equal(unlink(temp_path("in/was/f")), 0);
		assert_int_equal(rmdir(temp_path("in/was")), 0);
	}
}

struct flipper {
	char ours[1024], theirs[1024];
	atomic_bool is_over;
};

/* Acts like a command that runs concurrently. */
static void *flip(void *self)
{
	struct flipper *flipper = self;
	while (!flipper->is_over)
		renameat2(AT_FDCWD, flipper->ours, AT_FDCWD, flipper->theirs, RENAME_EXCHANGE);
	return NULL;
}

/* Applies a patch that may write below "in" only, like tool_patch.c. */
static bool commit_below(const char *root, struct str text)
{
	auto_patch struct patch patch = {0};
	size_t count = 0;
	assert_int_equal(patch_parse(&patch, text, NULL), 0);
	struct patch_plan *plan = patch_plan_create(&patch, root, NULL, NULL);
	const struct patch_change *changes = plan ? patch_plan_changes(plan, &count) : NULL;
	bool is_inside = count > 0;
	for (size_t i = 0; i < count; i++)
		is_inside &= path_is_inside(changes[i].real_path, root);
	bool is_done = is_inside && patch_plan_commit(plan, NULL) == 0;
	patch_plan_destroy(plan);
	return is_done;
}

/* A folder is replaced by a link and restored all the time: nothing outside is ever written, created or removed. */
static void a_race_with_links_leads_nowhere(void **state)
{
	(void)state;
	struct flipper flipper = {0};
	pthread_t thread;
	size_t done = 0, rounds = 0;
	put("out/f", "outside\n");
	put("in/d/f", "a\n");
	assert_int_equal(symlink("../out", temp_path("in/link")), 0);
	snprintf(flipper.ours, sizeof(flipper.ours), "%s", temp_path("in/d"));
	snprintf(flipper.theirs, sizeof(flipper.theirs), "%s", temp_path("in/link"));
	auto_free char *root = realpath(temp_path("in"), NULL);
	assert_int_equal(pthread_create(&thread, NULL, flip, &flipper), 0);
	for (; rounds < 2000 && (rounds < 200 || done < 20); rounds++) {
		done += commit_below(root, STR(BEGIN "*** Add File: d/new/deep/g\n+x\n" END));
		done += commit_below(root, STR(BEGIN UPDATE("d/f") "@@\n-a\n+a\n+b\n" END));
		done += commit_below(root, STR(BEGIN "*** Delete File: d/new/deep/g\n" END));
		done += commit_below(root, STR(BEGIN UPDATE("d/f") "@@\n a\n-b\n" END));
	}
	flipper.is_over = true;
	pthread_join(thread, NULL);
	assert_true(done > 0);
	DIR *dir = opendir(temp_path("out"));
	size_t entries = 0;
	while (readdir(dir))
		entries++;
	closedir(dir);
	assert_int_equal(entries, 3); /* "." and ".." are counted, too */
	auto_buf struct buf text;
	buf_init(&text, 64);
	assert_int_equal(file_read(temp_path("out/f"), &text, NULL), 0);
	assert_string_equal(text.data, "outside\n");
}

static void one_file_under_two_names_is_refused(void **state)
{
	(void)state;
	put("f", "a\n");
	assert_int_equal(symlink("f", temp_path("g")), 0);
	assert_int_equal(commit_in(temp_root, STR(BEGIN UPDATE("f") "@@\n-a\n+b\n" UPDATE("g") "@@\n-a\n+c\n" END)),
	                 -ERR_invalid);
	assert_tree("f=a\n\ng=a\n\n");
}

/* Makes the entries of a folder immutable, or mutable again; false if not permitted. */
static bool freeze(const char *folder, bool is_frozen)
{
	if (geteuid() != 0)
		return chmod(folder, is_frozen ? 0500 : 0700) == 0;
	int flags = 0;
	auto_close int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0 || ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0)
		return false;
	flags = is_frozen ? flags | FS_IMMUTABLE_FL : flags & ~FS_IMMUTABLE_FL;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
}

/* The last removal fails: all earlier changes are undone. */
static void a_commit_that_fails_midway_leaves_nothing(void **state)
{
	(void)state;
	put("f", "a\n");
	put("twin", "a\n");
	put("z", "a\n");
	put("kept/inner", "a\n");
	assert_int_equal(link(temp_path("twin"), temp_path("twin2")), 0);
	assert_int_equal(chmod(temp_path("f"), 0640), 0);
	auto_free char *before = tree_of(temp_root);
	struct planned planned = plan(STR(BEGIN UPDATE("f") "@@\n-a\n+b\n" UPDATE(
		"twin") "@@\n-a\n+longer\n"
	                "*** Add File: new/deep/n\n+1\n*** Delete File: z\n" UPDATE(
				"kept/inner") "*** Move to: moved\n@@\n-a\n+b\n" END));
	auto_patch_error struct patch_error err = {0};
	bool is_frozen = freeze(temp_path("kept"), true);
	int status = is_frozen ? patch_plan_commit(planned.plan, &err) : 0;
	freeze(temp_path("kept"), false);
	planned_finish(&planned);
	if (!is_frozen)
		skip();
	assert_int_equal(status, -ERR_denied);
	assert_non_null(strstr(err.text.data, "Failed to remove original"));
	assert_null(strstr(err.text.data, "Could not put back"));
	assert_tree(before);
	assert_int_equal(mode_of("f") & 07777, 0640);
	assert_false(dir_exists(temp_path("new")));
}

/* A limit on file sizes simulates a full disk. */
static void a_full_disk_changes_nothing(void **state)
{
	(void)state;
	put("f", "a\n");
	put("twin", "a\n");
	assert_int_equal(link(temp_path("twin"), temp_path("twin2")), 0);
	struct buf texts[2];
	for (int i = 0; i < 2; i++) {
		buf_init(&texts[i], MIB);
		buf_append_c(&texts[i], BEGIN UPDATE("f") "@@\n-a\n+b\n");
		buf_append_c(&texts[i], i ? UPDATE("twin") "@@\n" : "*** Add File: x/large\n");
		for (int line = 0; line < 10000; line++)
			buf_append_c(&texts[i], "+0123456789\n");
		buf_append_c(&texts[i], END);
	}
	auto_free char *before = tree_of(temp_root);
	struct rlimit room, small;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
	small = (struct rlimit){.rlim_cur = 10000, .rlim_max = room.rlim_max};
	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &small);
	int statuses[2];
	for (int i = 0; i < 2; i++)
		statuses[i] = commit_in(temp_root, buf_str(&texts[i]));
	setrlimit(RLIMIT_FSIZE, &room);
	buf_finish(&texts[0]);
	buf_finish(&texts[1]);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(statuses[0], -ERR_no_space);
	assert_int_equal(statuses[1], -ERR_no_space);
	assert_non_null(strstr(said, "File too large (os error 27)"));
	assert_tree(before);
	assert_false(dir_exists(temp_path("x")));
}

/* Same inode and size: only the time differs. */
static void a_file_changed_in_place_after_the_plan_is_left_alone(void **state)
{
	(void)state;
	const struct timespec before[] = {{1000, 1}, {1000, 1}}, after[] = {{1000, 1}, {1000, 2}};
	put("f", "old\n");
	assert_int_equal(utimensat(AT_FDCWD, temp_path("f"), before, 0), 0);
	struct planned planned = plan(STR(BEGIN UPDATE("f") "@@\n-old\n+new\n" END));
	int fd = open(temp_path("f"), O_WRONLY | O_CLOEXEC);
	assert_int_equal(write(fd, "own\n", 4), 4);
	close(fd);
	assert_int_equal(utimensat(AT_FDCWD, temp_path("f"), after, 0), 0);
	assert_int_equal(patch_plan_commit(planned.plan, NULL), -ERR_busy);
	planned_finish(&planned);
	assert_tree("f=own\n\n");
}

static int plan_files(size_t count)
{
	auto_buf struct buf text;
	auto_patch struct patch patch = {0};
	auto_patch_error struct patch_error err = {0};
	buf_init(&text, MIB);
	buf_append_c(&text, BEGIN);
	for (size_t i = 0; i < count; i++)
		buf_printf(&text, "*** Add File: f%zu\n+x\n", i);
	buf_append_c(&text, END);
	assert_int_equal(patch_parse(&patch, buf_str(&text), NULL), 0);
	struct patch_plan *made = patch_plan_create(&patch, temp_root, NULL, &err);
	patch_plan_destroy(made);
	return made ? 0 : note_failure(&err, -1);
}

static void a_patch_touches_so_many_files_and_no_more(void **state)
{
	(void)state;
	assert_int_equal(plan_files(LIMIT_PATCH_FILES), 0);
	assert_int_not_equal(plan_files(LIMIT_PATCH_FILES + 1), 0);
	assert_non_null(strstr(said, "more than 4096 files"));
}

static int watched_dir;
static volatile sig_atomic_t modes_seen;

/* Called during a write, when the file is incomplete. readdir() is not safe in a signal handler; getdents64() is. */
static void look_at_modes(int sig)
{
	int saved = errno;
	char entries[4096] __attribute__((aligned(8)));
	struct stat st;
	(void)sig;
	lseek(watched_dir, 0, SEEK_SET);
	for (ssize_t len; (len = getdents64(watched_dir, entries, sizeof(entries))) > 0;) {
		for (ssize_t at = 0; at < len; at += ((struct dirent64 *)(void *)(entries + at))->d_reclen) {
			const struct dirent64 *entry = (struct dirent64 *)(void *)(entries + at);
			if (fstatat(watched_dir, entry->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
				modes_seen |= (int)(st.st_mode & 0777);
		}
	}
	errno = saved;
}

/* A private file has its mode during the write, too. */
static void a_private_file_is_never_open_to_others(void **state)
{
	(void)state;
	auto_buf struct buf text;
	buf_init(&text, 64 * KIB);
	buf_append_c(&text, BEGIN UPDATE("secret") "@@\n-a\n");
	for (int i = 0; i < 4000; i++)
		buf_append_c(&text, "+secret\n");
	buf_append_c(&text, END);
	put("secret", "a\n");
	assert_int_equal(chmod(temp_path("secret"), 0600), 0);
	watched_dir = open(temp_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(watched_dir >= 0);
	modes_seen = 0;
	struct rlimit room, small;
	mode_t mask = umask(0);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &room), 0);
	small = (struct rlimit){.rlim_cur = 10000, .rlim_max = room.rlim_max};
	signal(SIGXFSZ, look_at_modes);
	setrlimit(RLIMIT_FSIZE, &small);
	int status = commit_in(temp_root, buf_str(&text));
	setrlimit(RLIMIT_FSIZE, &room);
	signal(SIGXFSZ, SIG_DFL);
	umask(mask);
	close(watched_dir);
	assert_int_equal(status, -ERR_no_space);
	assert_int_equal(modes_seen, 0600);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_shared_cases_hold_hunk_by_hunk),
		cmocka_unit_test(the_shared_cases_hold_all_or_nothing),
		cmocka_unit_test_setup_teardown(lines_are_found_in_four_ways, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(unchanged_lines_keep_their_bytes, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(line_ends_follow_the_file, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_last_line_always_gets_a_newline, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(additions_alone_go_to_the_end, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(context_says_where_to_start, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(the_end_of_the_file_can_be_meant, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_blank_line_at_a_chunks_end_may_be_missing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(missing_lines_are_quoted, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(near_misses_do_not_hide_a_place, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_thousand_inexact_chunks_are_found, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(files_that_cannot_be_used_are_named, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_pipe_does_not_block, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(modes_and_links_survive, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(attributes_survive, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_file_moved_onto_itself_is_kept, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_summary_sorts_by_kind, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_plan_shows_the_net_effect, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_folder_may_take_a_removed_files_place, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_plan_has_contents_and_diffs, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_stale_plan_writes_nothing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(real_paths_are_determined_before_the_commit, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_swapped_folder_leads_nowhere, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_race_with_links_leads_nowhere, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(one_file_under_two_names_is_refused, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_commit_that_fails_midway_leaves_nothing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_full_disk_changes_nothing, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_private_file_is_never_open_to_others, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_patch_touches_so_many_files_and_no_more, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_file_changed_in_place_after_the_plan_is_left_alone, temp_make,
	                                        temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
