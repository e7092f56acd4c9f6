/* AGENTS.md files: selection, order and limits. */
#include "temp.h"

#include "workspace/agents_md.h"

static struct buf text;
static bool is_cut;

static int setup(void **state)
{
	buf_init(&text, 4 * 1024 * 1024);
	return temp_make(state);
}

static int teardown(void **state)
{
	buf_finish(&text);
	return temp_remove(state);
}

static void put(const char *relative, const char *bytes)
{
	temp_put(relative, str_of(bytes));
}

/* Reads below <temp>/<cwd> and compares the text; want NULL: no text. */
static void check_with(struct agents_md_options options, const char *cwd, const char *want)
{
	auto_free char *home = xstrdup(temp_path("home")), *path = xstrdup(temp_path(cwd));
	options.home = options.home ? options.home : home;
	options.cwd = path;
	buf_clear(&text);
	assert_int_equal(agents_md_read(&options, &text, &is_cut), want != NULL);
	assert_string_equal(text.data ? text.data : "", want ? want : "");
}

static void check(const char *cwd, const char *want)
{
	check_with((struct agents_md_options){.max_bytes = 32768}, cwd, want);
}

static void from_the_root_down_after_the_global_file(void **state)
{
	(void)state;
	put("home/AGENTS.override.md", " \n");
	put("home/AGENTS.md", "\n  GLOBAL\n\n");
	put("p/.git/HEAD", "");
	put("p/AGENTS.md", "ROOT DOC\n\n");
	put("p/a/AGENTS.md", "   \n");
	put("p/a/b/AGENTS.md", "B PLAIN\n");
	put("p/a/b/AGENTS.override.md", "B OVERRIDE\n");
	put("p/a/b/c/AGENTS.md", "C");
	put("AGENTS.md", "above the root");
	check("p/a/b/c", "GLOBAL\n\n--- project-doc ---\n\nROOT DOC\n\n\n\nB OVERRIDE\n\n\nC");
	check("p", "GLOBAL\n\n--- project-doc ---\n\nROOT DOC\n\n");
	assert_false(is_cut);
}

static void without_a_root_the_cwd_speaks_alone(void **state)
{
	(void)state;
	put("p/AGENTS.md", "PARENT");
	put("p/a/AGENTS.md", "HERE");
	check("p/a", "HERE");
	put("p/a/b/x", "");
	check("p/a/b", NULL);
	check("nowhere", NULL);
}

static void nothing_to_say_is_nothing(void **state)
{
	(void)state;
	put("p/.git", "gitdir: elsewhere");
	check("p", NULL);
	put("home/AGENTS.md", "GLOBAL");
	check("p", "GLOBAL");
}

static void fallback_names_come_last_and_markers_can_be_chosen(void **state)
{
	(void)state;
	struct str names[] = {STR("NOTES.md"), STR("README.ai")}, markers[] = {STR("top.txt")};
	struct agents_md_options options = {.max_bytes = 32768,
	                                    .fallbacks = names,
	                                    .fallback_count = 2,
	                                    .root_markers = markers,
	                                    .root_marker_count = 1};
	put("p/top.txt", "");
	put("p/README.ai", "ROOT FALLBACK");
	put("p/a/.git/HEAD", "");
	put("p/a/README.ai", "second choice");
	put("p/a/NOTES.md", "A FALLBACK");
	check_with(options, "p/a", "ROOT FALLBACK\n\nA FALLBACK");
	options.root_marker_count = 0;
	check_with(options, "p/a", "A FALLBACK");
	options.root_markers = NULL;
	check_with(options, "p/a", "A FALLBACK");
}

static void a_known_root_is_not_searched_for(void **state)
{
	(void)state;
	put("p/AGENTS.md", "ROOT");
	put("p/a/.git/HEAD", "");
	put("p/a/AGENTS.md", "A");
	put("q/AGENTS.md", "OTHER");
	auto_free char *real = xstrdup(temp_path("p")), *other = xstrdup(temp_path("q"));
	struct agents_md_options options = {.max_bytes = 32768, .root = real};
	check_with(options, "p/a", "ROOT\n\nA");
	options.root = other; /* of another project */
	check_with(options, "p/a", "A");
}

static void the_budget_is_one_for_all_and_cuts_between_characters(void **state)
{
	(void)state;
	put("p/.git/HEAD", "");
	put("p/AGENTS.md", "AG2\n");
	put("p/d/AGENTS.md", "éééé");
	put("p/d/e/AGENTS.md", "never reached");
	check_with((struct agents_md_options){.max_bytes = 9}, "p/d/e", "AG2\n\n\néé");
	assert_true(is_cut);
	check_with((struct agents_md_options){.max_bytes = 12}, "p/d", "AG2\n\n\néééé");
	assert_false(is_cut);
	check_with((struct agents_md_options){.max_bytes = 0}, "p/d", NULL);
}

static void bytes_that_are_no_text_become_text(void **state)
{
	(void)state;
	put("p/AGENTS.md", "a\xff"
	                   "b\xc3");
	check("p", "a\xef\xbf\xbd"
	           "b\xef\xbf\xbd");
}

static void other_than_regular_files_are_skipped(void **state)
{
	(void)state;
	put("p/AGENTS.override.md/x", "");
	put("p/real.md", "LINKED");
	assert_int_equal(symlink("real.md", temp_path("p/AGENTS.md")), 0);
	check("p", "LINKED");
	unlink(temp_path("p/AGENTS.md"));
	assert_int_equal(symlink("absent", temp_path("p/AGENTS.md")), 0);
	check("p", NULL);
	unlink(temp_path("p/AGENTS.md"));
	assert_int_equal(mkfifo(temp_path("p/AGENTS.md"), 0600), 0);
	check("p", NULL);
}

static void a_huge_file_costs_only_its_share(void **state)
{
	(void)state;
	char *big = xmalloc(3 * 1024 * 1024);
	memset(big, 'x', 3 * 1024 * 1024);
	temp_put("home/AGENTS.md", str_n(big, 3 * 1024 * 1024));
	temp_put("p/AGENTS.md", str_n(big, 3 * 1024 * 1024));
	free(big);
	auto_free char *home = xstrdup(temp_path("home")), *path = xstrdup(temp_path("p"));
	struct agents_md_options options = {.home = home, .cwd = path, .max_bytes = SIZE_MAX};
	assert_true(agents_md_read(&options, &text, &is_cut));
	assert_true(is_cut);
	assert_in_range(text.len, 2 * 1024 * 1024, 2 * 1024 * 1024 + 100);
}

/* ---- links ---- */

static char refused[8192];

static void on_refused(const char *path, const char *why, void *self)
{
	(void)path;
	(void)self;
	snprintf(refused, sizeof(refused), "%s", why);
}

/* Reads a project whose AGENTS.md is this link; compares text and warning. */
static void check_link(const char *target, bool is_trusted, const char *want, const char *why)
{
	struct arena arena = {0};
	struct str *paths;
	struct agents_md_options options = {.max_bytes = 32768, .is_trusted = is_trusted, .on_refused = on_refused};
	put("p/.git/HEAD", "");
	unlink(temp_path("p/AGENTS.md"));
	assert_int_equal(symlink(target, temp_path("p/AGENTS.md")), 0);
	refused[0] = '\0';
	check_with(options, "p", want);
	assert_string_equal(refused, why);
	auto_free char *home = xstrdup(temp_path("home")), *cwd = xstrdup(temp_path("p"));
	options.home = home;
	options.cwd = cwd;
	assert_int_equal(agents_md_list(&options, &arena, &paths), want != NULL);
	arena_finish(&arena);
}

static void a_link_leads_out_of_trusted_projects_alone_and_never_home(void **state)
{
	(void)state;
	put("home/auth.json", "KEY");
	put("p/docs/own.md", "OWN");
	put("elsewhere", "OTHER");
	assert_int_equal(symlink("home", temp_path("way")), 0);
	check_link("docs/own.md", false, "OWN", "");
	check_link("../elsewhere", false, NULL, "it leads out of the project, which is not trusted");
	check_link("../elsewhere", true, "OTHER", "");
	for (int is_trusted = 0; is_trusted < 2; is_trusted++) {
		check_link("../home/auth.json", is_trusted, NULL, "it leads into CODEX_HOME");
		check_link("../way/auth.json", is_trusted, NULL, "it leads into CODEX_HOME");
	}
}

/* A project's configuration may set a path as fallback name. */
static void a_name_that_is_a_path_leads_no_further_than_a_link(void **state)
{
	(void)state;
	put("home/auth.json", "KEY");
	put("elsewhere", "OTHER");
	put("p/.git/HEAD", "");
	auto_free char *home = xstrdup(temp_path("home/auth.json")), *other = xstrdup(temp_path("elsewhere"));
	const struct {
		const char *name;
		bool is_trusted;
		const char *want, *why;
	} rows[] = {
		{home, true, NULL, "it leads into CODEX_HOME"},
		{home, false, NULL, "it leads into CODEX_HOME"},
		{"../home/auth.json", true, NULL, "it leads into CODEX_HOME"},
		{"/proc/self/environ", true, NULL, "it leads into /proc"},
		{other, false, NULL, "it leads out of the project, which is not trusted"},
		{other, true, "OTHER", ""},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct str name = str_of(rows[i].name);
		const struct agents_md_options options = {.max_bytes = 32768,
		                                          .fallbacks = &name,
		                                          .fallback_count = 1,
		                                          .is_trusted = rows[i].is_trusted,
		                                          .on_refused = on_refused};
		refused[0] = '\0';
		check_with(options, "p", rows[i].want);
		assert_string_equal(refused, rows[i].why);
	}
	check_link("/proc/self/environ", true, NULL, "it leads into /proc");
}

static void a_project_above_or_below_home_reads_its_own_files_alone(void **state)
{
	(void)state;
	put("p/home/auth.json", "KEY");
	struct agents_md_options options = {.max_bytes = 32768, .on_refused = on_refused};
	auto_free char *home = xstrdup(temp_path("p/home"));
	options.home = home;
	put("p/.git/HEAD", "");
	assert_int_equal(symlink("home/auth.json", temp_path("p/AGENTS.md")), 0);
	check_with(options, "p", NULL);
	put("p/home/user/.git/HEAD", "");
	put("p/home/user/doc.md", "WORK");
	assert_int_equal(symlink("doc.md", temp_path("p/home/user/AGENTS.md")), 0);
	check_with(options, "p/home/user", "WORK");
	unlink(temp_path("p/home/user/AGENTS.md"));
	assert_int_equal(symlink("../auth.json", temp_path("p/home/user/AGENTS.md")), 0);
	check_with(options, "p/home/user", NULL);
	put("p/home/user/AGENTS.override.md", "PLAIN");
	check_with(options, "p/home/user", "PLAIN");
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(from_the_root_down_after_the_global_file),
		FILE_TEST(without_a_root_the_cwd_speaks_alone),
		FILE_TEST(nothing_to_say_is_nothing),
		FILE_TEST(fallback_names_come_last_and_markers_can_be_chosen),
		FILE_TEST(a_known_root_is_not_searched_for),
		FILE_TEST(the_budget_is_one_for_all_and_cuts_between_characters),
		FILE_TEST(bytes_that_are_no_text_become_text),
		FILE_TEST(other_than_regular_files_are_skipped),
		FILE_TEST(a_link_leads_out_of_trusted_projects_alone_and_never_home),
		FILE_TEST(a_name_that_is_a_path_leads_no_further_than_a_link),
		FILE_TEST(a_project_above_or_below_home_reads_its_own_files_alone),
		FILE_TEST(a_huge_file_costs_only_its_share),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
