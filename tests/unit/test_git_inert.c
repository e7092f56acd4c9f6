/* Detects repositories whose settings make git run a program. */
#include "temp.h"
#include "test.h"

#include <unistd.h>

#include "workspace/git_inert.h"
#include "workspace/workspace_limits.h"

static const char usual[] = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n"
			    "# a comment\n; another\n[remote \"origin\"]\n\turl = https://host/x\n"
			    "\tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"a \\\"b\\\"\"]\n\tvscode-x = 1\n"
			    "[user]\n\tname = A [B] = C\n\temail = a@b\n";

static void make_repository(const char *folder, const char *config)
{
	char path[256];
	static const char *const names[] = {"HEAD", "objects/x", "refs/x"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		temp_put(path, STR("ref: refs/heads/main\n"));
	}
	snprintf(path, sizeof(path), "%s/config", folder);
	if (config)
		temp_put(path, str_of(config));
}

static bool is_inert(const char *folder)
{
	char git[PATH_MAX];
	return git_is_inert(temp_path(folder), git);
}

static void a_usual_repository_is_inert(void **state)
{
	(void)state;
	char git[PATH_MAX];
	make_repository("w/.git", usual);
	temp_put("w/sub/x", STR(""));
	assert_true(git_is_inert(temp_path("w/sub"), git));
	assert_true(str_has_suffix(str_of(git), "/w/.git"));
	make_repository("v/.git", NULL);
	assert_true(is_inert("v"));
}

static void a_folder_without_a_repository_is_inert(void **state)
{
	(void)state;
	char git[PATH_MAX];
	temp_put("plain/x", STR(""));
	/* an empty folder, which is not a repository */
	assert_int_equal(dir_make(temp_path("plain/.git"), 0700, NULL), 0);
	assert_true(git_is_inert(temp_path("plain"), git));
	assert_string_equal(git, "");
	assert_false(git_is_inert(temp_path("missing"), git));
}

static void a_setting_that_is_not_known_to_be_harmless_counts(void **state)
{
	(void)state;
	static const char *const settings[] = {
		"[core]\n\tfsmonitor = x\n",
		"[core]\n\tFSMonitor = x\n",
		"[CORE]\nfsmonitor=x\n",
		"[core]fsmonitor=x\n",
		"[core] fsmonitor = x\n",
		"[diff]\n\texternal = x\n",
		"[diff \"d\"]\n\ttextconv = x\n",
		"[diff \"d\"]\n\tcommand = x\n",
		"[filter \"f\"]\n\tclean = x\n",
		"[filter \"f\"]\n\tprocess = x\n",
		"[gpg]\n\tprogram = x\n",
		"[include]\n\tpath = x\n",
		"[includeIf \"gitdir:/\"]\n\tpath = x\n",
		"[core]\n\thooksPath = x\n",
		"[core]\n\tpager = x\n",
		"[core]\n\tsshCommand = x\n",
		"[remote \"o\"]\n\tuploadpack = x\n",
		"[remote \"o\"]\n\tpromisor = true\n",
		"[extensions]\n\tworktreeConfig = true\n",
		"[submodule \"s\"]\n\tactive = true\n",
		"[user]\n\tname = a\\\n[core]\n\tfsmonitor = x\n",
		"[user]\n\tname = \"a\\\n",
		"[core.x]\n\tbare = 1\n",
		"fsmonitor = x\n",
		"[core\n",
		"[]\n",
		"[core]\n\t= x\n",
		"\xef\xbb\xbf[core]\n\tfsmonitor = x\n",
		"[branch \"x\"] [core]\nfsmonitor = x\n",
		"[branch \"x\"]\"] fsmonitor = x\n",
		"[core]\rfsmonitor = x\n",
		"[alias]\n\tx = !y\n",
	};
	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		make_repository("w/.git", settings[i]);
		if (is_inert("w"))
			fail_msg("harmless: %s", settings[i]);
	}
	unlink(temp_path("w/.git/config"));
	assert_int_equal(symlink("/dev/zero", temp_path("w/.git/config")), 0);
	assert_false(is_inert("w"));
}

static void the_hook_that_reading_calls_counts(void **state)
{
	(void)state;
	make_repository("w/.git", usual);
	temp_put("w/.git/hooks/pre-commit", STR(""));
	assert_true(is_inert("w"));
	temp_put("w/.git/hooks/post-index-change", STR(""));
	assert_false(is_inert("w"));
}

static void a_repository_that_lies_elsewhere_or_is_bare_counts(void **state)
{
	(void)state;
	temp_put("pointer/.git", STR("gitdir: /x\n"));
	assert_false(is_inert("pointer"));
	make_repository("bare", usual);
	assert_false(is_inert("bare"));
	temp_put("bare/sub/x", STR(""));
	assert_false(is_inert("bare/sub"));
	make_repository("tree/.git", usual);
	temp_put("tree/.git/commondir", STR("../x\n"));
	assert_false(is_inert("tree"));
	temp_put("half/.git/HEAD", STR("x"));
	assert_false(is_inert("half"));
	make_repository("far/.git", usual);
	assert_int_equal(symlink(temp_path("far/.git"), temp_path("plain.git")), 0);
	assert_int_equal(dir_make(temp_path("linked"), 0700, NULL), 0);
	assert_int_equal(symlink(temp_path("far/.git"), temp_path("linked/.git")), 0);
	assert_false(is_inert("linked"));
}

/* Appends an entry of index version 2 with this mode and name; its length is a multiple of eight. */
static void add_entry(struct buf *out, unsigned mode, const char *name)
{
	size_t start = out->len, len = strlen(name);
	char head[62] = {0};
	head[24] = (char)(mode >> 24), head[25] = (char)(mode >> 16);
	head[26] = (char)(mode >> 8), head[27] = (char)mode;
	head[61] = (char)len;
	buf_append(out, head, sizeof(head));
	buf_append(out, name, len);
	do {
		buf_append_char(out, '\0');
	} while ((out->len - start) % 8);
}

static bool is_inert_with(const struct buf *index)
{
	temp_put("w/.git/index", buf_str(index));
	return is_inert("w");
}

static void a_nested_repository_in_the_index_counts(void **state)
{
	(void)state;
	auto_buf struct buf index;
	buf_init(&index, LIMIT_GIT_INDEX);
	make_repository("w/.git", usual);
	buf_append(&index, "DIRC\0\0\0\2\0\0\0\2", 12);
	add_entry(&index, 0100644, "a");
	assert_false(is_inert_with(&index)); /* the header announces two entries */
	add_entry(&index, 0100755, "a-longer-name");
	assert_true(is_inert_with(&index));
	index.data[11] = 3;
	add_entry(&index, 0160000, "sub");
	assert_false(is_inert_with(&index));
	index.data[11] = 2;
	buf_clear(&index);
	buf_append(&index, "DIRC\0\0\0\4\0\0\0\0", 12);
	assert_false(is_inert_with(&index));
	index.data[7] = 2;
	assert_true(is_inert_with(&index));
	buf_append(&index, "link\0\0\0\24", 8);
	assert_false(is_inert_with(&index));
}

/* git takes the length of a name from the flags: it may see one file and a submodule in what looks like two files. */
static void a_name_that_ends_before_its_length_hides_nothing(void **state)
{
	(void)state;
	auto_buf struct buf index;
	buf_init(&index, LIMIT_GIT_INDEX);
	make_repository("w/.git", usual);
	buf_append(&index, "DIRC\0\0\0\2\0\0\0\2", 12);
	add_entry(&index, 0100644, "a");
	add_entry(&index, 0100644, "b");
	assert_true(is_inert_with(&index));
	index.data[12 + 61] = 9; /* "a" and eight bytes of the next entry */
	assert_false(is_inert_with(&index));
	index.data[12 + 61] = 0;
	assert_false(is_inert_with(&index));
	buf_clear(&index);
	buf_append(&index, "DIRC\0\0\0\2\0\0\0\1", 12);
	char name[5000] = {0};
	memset(name, 'n', sizeof(name) - 1);
	add_entry(&index, 0100644, name);
	index.data[12 + 60] = 0x0f, index.data[12 + 61] = (char)0xff; /* the value for long names */
	assert_true(is_inert_with(&index));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_usual_repository_is_inert, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_folder_without_a_repository_is_inert, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_setting_that_is_not_known_to_be_harmless_counts, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(the_hook_that_reading_calls_counts, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_repository_that_lies_elsewhere_or_is_bare_counts, temp_make,
	                                        temp_remove),
		cmocka_unit_test_setup_teardown(a_nested_repository_in_the_index_counts, temp_make, temp_remove),
		cmocka_unit_test_setup_teardown(a_name_that_ends_before_its_length_hides_nothing, temp_make,
	                                        temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
