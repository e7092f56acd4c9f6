/* Data of a repository, read without running git. */
#include "temp.h"

#include <sys/stat.h>

#include "base/limits.h"
#include "workspace/git_config.h"
#include "workspace/git_info.h"
#include "workspace/workspace_limits.h"

#define C1 "17db2981aeeb1d7fcafef78e7b6b0176795e393f"
#define C2 "27db2981aeeb1d7fcafef78e7b6b0176795e393f"

static struct git_info info;

static int teardown(void **state)
{
	git_info_finish(&info);
	return temp_remove(state);
}

static void put(const char *relative, const char *bytes)
{
	temp_put(relative, str_of(bytes));
}

static void read_at(const char *cwd)
{
	git_info_finish(&info);
	assert_true(git_info_read(temp_path(cwd), &info));
}

static void assert_text(const char *got, const char *want)
{
	assert_string_equal(got ? got : "(none)", want ? want : "(none)");
}

static void a_plain_repository(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/feature/x\n");
	put("p/.git/refs/heads/feature/x", C1 "\n");
	put("p/.git/config", "[core]\n\tbare = false\n[remote \"origin\"]\n\turl = https://example.com/a.git\n");
	put("p/a/b/file", "");
	read_at("p/a/b");
	assert_text(info.root, temp_path("p"));
	assert_text(info.branch, "feature/x");
	assert_text(info.commit, C1);
	assert_text(info.origin_url, "https://example.com/a.git");
	assert_true(git_info_is_repo(temp_path("p/a")));
}

/* A killed sandbox may leave an empty .git, which would make its folder a repository. */
static void a_git_folder_without_a_head_is_no_repository(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/main\n");
	put("p/a/.git/config", "");
	read_at("p/a");
	assert_text(info.root, temp_path("p"));
	assert_int_equal(remove(temp_path("p/.git/HEAD")), 0);
	assert_false(git_info_is_repo(temp_path("p/a")));
}

static void no_repository(void **state)
{
	(void)state;
	put("p/file", "");
	assert_false(git_info_read(temp_path("p"), &info));
	assert_null(info.root);
	assert_false(git_info_is_repo(temp_path("p")));
	assert_false(git_info_is_repo(temp_path("absent")));
}

static void a_branch_without_a_commit(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/main\n");
	read_at("p");
	assert_text(info.branch, "main");
	assert_text(info.commit, NULL);
	assert_text(info.origin_url, NULL);
}

static void a_detached_head(void **state)
{
	(void)state;
	put("p/.git/HEAD", C2 "\n");
	read_at("p");
	assert_text(info.branch, NULL);
	assert_text(info.commit, C2);
}

static void packed_refs(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/main");
	put("p/.git/packed-refs",
	    "# pack-refs with: peeled fully-peeled sorted\n" C1 " refs/heads/main2\n" C2 " refs/heads/main\n^" C1 "\n");
	read_at("p");
	assert_text(info.commit, C2);
	put("p/.git/refs/heads/main", C1);
	read_at("p");
	assert_text(info.commit, C1);
}

static void a_linked_work_tree(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/main\n");
	put("p/.git/refs/heads/other", C2 "\n");
	put("p/.git/config", "[remote \"origin\"]\nurl = git@example.com:a.git\n");
	put("p/.git/worktrees/w/HEAD", "ref: refs/heads/other\n");
	put("p/.git/worktrees/w/commondir", "../..\n");
	put("w/.git", "gitdir: ../p/.git/worktrees/w\n");
	read_at("w");
	assert_text(info.root, temp_path("w"));
	assert_text(info.branch, "other");
	assert_text(info.commit, C2);
	assert_text(info.origin_url, "git@example.com:a.git");
}

static void assert_branch(const char *cwd, const char *want)
{
	auto_free char *branch = git_info_branch(temp_path(cwd));
	assert_text(branch, want);
}

static void the_branch_needs_no_other_file(void **state)
{
	(void)state;
	char long_name[16 + LIMIT_GIT_BRANCH + 2] = "ref: refs/heads/";
	put("p/.git/HEAD", "ref: refs/heads/main\n");
	assert_int_equal(mkfifo(temp_path("p/.git/packed-refs"), 0600), 0);
	assert_branch("p", "main");
	put("w/.git", "gitdir: ../p/.git/worktrees/w\n");
	put("p/.git/worktrees/w/commondir", "../..\n");
	put("p/.git/worktrees/w/HEAD", "ref: refs/heads/other\n");
	assert_branch("w", "other");
	memset(long_name + 16, 'a', LIMIT_GIT_BRANCH);
	put("p/.git/HEAD", long_name);
	assert_branch("p", long_name + 16);
	long_name[16 + LIMIT_GIT_BRANCH] = 'a';
	put("p/.git/HEAD", long_name);
	assert_branch("p", NULL);
	assert_branch("absent", NULL);
}

static void a_head_that_is_too_long_has_no_branch(void **state)
{
	(void)state;
	auto_buf struct buf head;
	buf_init(&head, MIB);
	buf_append_c(&head, "ref: refs/heads/main");
	while (head.len <= LIMIT_GIT_POINTER)
		buf_append_char(&head, '\n');
	temp_put("p/.git/HEAD", buf_str(&head));
	assert_branch("p", NULL);
}

static void nothing_in_there_is_believed(void **state)
{
	(void)state;
	put("secret", C1);
	put("p/.git/HEAD", "ref: refs/../../../secret\n");
	read_at("p");
	assert_text(info.commit, NULL);
	put("p/.git/HEAD", "ref: refs/heads/loop\n");
	put("p/.git/refs/heads/loop", "ref: refs/heads/loop\n");
	read_at("p");
	assert_text(info.commit, NULL);
	put("p/.git/refs/heads/loop", "no hex at all\n");
	read_at("p");
	assert_text(info.commit, NULL);
	unlink(temp_path("p/.git/HEAD"));
	assert_int_equal(mkfifo(temp_path("p/.git/HEAD"), 0600), 0);
	read_at("p");
	assert_text(info.branch, NULL);
	put("q/.git", "not a gitdir line");
	read_at("q");
	assert_text(info.root, temp_path("q"));
	assert_text(info.branch, NULL);
}

static void reftables_are_unknown_rather_than_wrong(void **state)
{
	(void)state;
	put("p/.git/HEAD", "ref: refs/heads/.invalid\n");
	read_at("p");
	assert_text(info.branch, NULL);
	assert_text(info.commit, NULL);
}

static void passwords_are_not_kept(void **state)
{
	(void)state;
	put("p/.git/HEAD", C1);
	put("p/.git/config", "[remote \"origin\"]\nurl = https://me:s3cret@example.com/a@b.git\n");
	read_at("p");
	assert_text(info.origin_url, "https://example.com/a@b.git");
	put("p/.git/config", "[remote \"origin\"]\nurl = ssh://git@example.com/a.git\n");
	read_at("p");
	assert_text(info.origin_url, "ssh://git@example.com/a.git");
}

static void check_config(const char *config, const char *want)
{
	auto_buf struct buf value;
	buf_init(&value, 4096);
	bool is_found = git_config_find(str_of(config), "remote", "origin", "url", &value);
	assert_text(is_found ? value.data : NULL, want);
}

static void configuration_is_read_as_git_reads_it(void **state)
{
	(void)state;
	check_config("[remote \"origin\"]\n\turl = a b  \t# note\n", "a b");
	check_config("[remote \"origin\"] url = x\n", "x");
	check_config("[REMOTE \"origin\"]\nURL=x", "x");
	check_config("[remote \"Origin\"]\nurl=x", NULL);
	check_config("[remote.origin]\nurl=x", "x");
	check_config("[remote \"origin\"]\nurl = \"a # b ; c\" ; note\n", "a # b ; c");
	check_config("[remote \"origin\"]\nurl = \" padded \"\n", " padded ");
	check_config("[remote \"origin\"]\nurl = a\\\n b\n", "a b");
	check_config("[remote \"origin\"]\nurl = a\\\\b\\\"c\n", "a\\b\"c");
	check_config("[remote \"origin\"]\nurl = first\nurl = second\n[x]\nurl = other\n", "second");
	check_config("[remote \"origin\"]\n; url = commented\n# url = too\nfetch\nurlx = y\n", NULL);
	check_config("[remote \"ori\\\"gin\"]\nurl = x\n", NULL);
	check_config("[remote \"origin\"\nurl = x", NULL);
	check_config("[\n]]]\n=\n\\\n\"\n[remote \"origin\"]\nurl = x", "x");
	check_config("[remote \"origin\"]\nurl", NULL);
	check_config("[remote \"origin\"]\nurl = \"open", "open");
	check_config("[remote \"", NULL);
	check_config("", NULL);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(a_plain_repository),
		FILE_TEST(a_git_folder_without_a_head_is_no_repository),
		FILE_TEST(no_repository),
		FILE_TEST(a_branch_without_a_commit),
		FILE_TEST(a_detached_head),
		FILE_TEST(packed_refs),
		FILE_TEST(a_linked_work_tree),
		FILE_TEST(the_branch_needs_no_other_file),
		FILE_TEST(a_head_that_is_too_long_has_no_branch),
		FILE_TEST(nothing_in_there_is_believed),
		FILE_TEST(reftables_are_unknown_rather_than_wrong),
		FILE_TEST(passwords_are_not_kept),
		cmocka_unit_test(configuration_is_read_as_git_reads_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
