/* The parts of a file search: walking, ignoring, matching. */
#include "temp.h"

#include "base/limits.h"
#include "workspace/file_list.h"
#include "workspace/file_lists.h"
#include "workspace/file_search.h"
#include "workspace/fuzzy.h"
#include "workspace/ignore_rules.h"
#include "workspace/workspace_limits.h"

/* ---- patterns ---- */

/* Writes rules that are expensive to match. */
static void write_hostile_rules(struct buf *out)
{
	buf_init(out, LIMIT_IGNORE_FILE);
	for (int i = 0; i < 9000; i++)
		buf_printf(out, "*a*a*a*a*a*a*a*a*a*%db\n", i);
}

static void all_patterns_of_a_walk_share_their_steps(void **state)
{
	(void)state;
	auto_buf struct buf text;
	char name[201];
	size_t steps = 100 * 1000;
	write_hostile_rules(&text);
	memset(name, 'a', 200);
	name[200] = '\0';
	struct ignore_rules *rules = ignore_rules_create(buf_str(&text));
	assert_int_equal(ignore_rules_match(rules, str_of(name), false, &steps), IGNORE_SILENT);
	assert_int_equal(steps, 0);
	assert_int_equal(ignore_rules_match(rules, str_of("0b"), false, &steps), IGNORE_SILENT);
	ignore_rules_destroy(rules);
}

static void the_last_rule_that_fits_decides(void **state)
{
	(void)state;
	size_t steps = 100 * 1000;
	struct ignore_rules *rules =
		ignore_rules_create(STR("\xef\xbb\xbf# no rule\n\n*.o\r\n!keep.o\nout/\n/top\na/b \n\\!x\nq\\ \n"));
	assert_int_equal(ignore_rules_match(rules, STR("x/y.o"), false, &steps), IGNORE_SKIP);
	assert_int_equal(ignore_rules_match(rules, STR("x/keep.o"), false, &steps), IGNORE_KEEP);
	assert_int_equal(ignore_rules_match(rules, STR("x/out"), true, &steps), IGNORE_SKIP);
	assert_int_equal(ignore_rules_match(rules, STR("x/out"), false, &steps), IGNORE_SILENT);
	assert_int_equal(ignore_rules_match(rules, STR("top"), false, &steps), IGNORE_SKIP);
	assert_int_equal(ignore_rules_match(rules, STR("x/top"), false, &steps), IGNORE_SILENT);
	assert_int_equal(ignore_rules_match(rules, STR("a/b"), false, &steps), IGNORE_SKIP);
	assert_int_equal(ignore_rules_match(rules, STR("c/a/b"), false, &steps), IGNORE_SILENT);
	assert_int_equal(ignore_rules_match(rules, STR("!x"), false, &steps), IGNORE_SKIP);
	assert_int_equal(ignore_rules_match(rules, STR("q "), false, &steps), IGNORE_SKIP);
	ignore_rules_destroy(rules);
	ignore_rules_destroy(NULL);
}

/* ---- the walk ---- */

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Walks until the list is whole. */
static void walk_all(struct file_list *list)
{
	atomic_bool stop = false;
	while (!file_list_walk(list, &stop))
		;
}

/* Returns the entries of a list: sorted, one per line, folders with a slash. */
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
			lines[count++] = xasprintf("%.*s%.*s%s\n", STR_ARG(above), STR_ARG(name),
			                           entries[i] & FILE_ENTRY_folder ? "/" : "");
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

static const char *walked(const char *root)
{
	struct file_list *list = file_list_create(root, false);
	walk_all(list);
	const char *text = listed(list);
	file_list_destroy(list);
	return text;
}

static void put(const char *relative, const char *bytes)
{
	temp_put(relative, str_of(bytes));
}

static void all_is_found(void **state)
{
	(void)state;
	put("r/a/b/c", "");
	put("r/.hidden/x", "");
	put("r/.gitignore", "a/\n");
	put("r/.git-not/x", "");
	assert_int_equal(symlink("..", temp_path("r/a/up")), 0);
	assert_int_equal(symlink("nowhere", temp_path("r/dangling")), 0);
	assert_string_equal(walked(temp_path("r")), ".git-not/\n.git-not/x\n.gitignore\n.hidden/\n.hidden/x\n"
	                                            "a/\na/b/\na/b/c\na/up/\ndangling\n");
	assert_string_equal(walked(temp_path("absent")), "");
	assert_string_equal(walked(temp_path("r/a/b/c")), "");
}

static void a_repository_has_rules(void **state)
{
	(void)state;
	put("r/.git/HEAD", "ref: refs/heads/main\n");
	put("r/.git/info/exclude", "private\n");
	put("r/.gitignore", "*.o\n/src/gen/\n");
	put("r/.ignore", "!seen.o\n");
	put("r/src/.gitignore", "!local.o\n/deep/x\n");
	put("r/src/a.o", "");
	put("r/src/seen.o", "");
	put("r/src/local.o", "");
	put("r/src/private", "");
	put("r/src/gen/file", "");
	put("r/src/deep/x", "");
	put("r/src/deep/y", "");
	assert_string_equal(walked(temp_path("r/src")), ".gitignore\ndeep/\ndeep/y\nlocal.o\nseen.o\n");
	assert_string_equal(walked(temp_path("r/src/deep")), "y\n");
}

static void a_deep_tree_ends(void **state)
{
	(void)state;
	char path[2 * (LIMIT_WALK_DEPTH + 50) + 8] = "r";
	for (int i = 0; i < LIMIT_WALK_DEPTH + 50; i++)
		memcpy(path + 1 + 2 * i, "/d", 3);
	assert_int_equal(dir_make(temp_path(path), 0700, NULL), 0);
	struct file_list *list = file_list_create(temp_path("r"), true);
	walk_all(list);
	size_t count;
	assert_int_equal(file_list_folders(list), LIMIT_WALK_DEPTH);
	file_list_entries(list, LIMIT_WALK_DEPTH - 1, &count);
	assert_int_equal(count, 1);
	file_list_destroy(list);
}

static void a_walk_may_be_dropped(void **state)
{
	(void)state;
	atomic_bool stop = true;
	put("r/a/b/c", "");
	struct file_list *list = file_list_create(temp_path("r"), true);
	assert_false(file_list_walk(list, &stop));
	file_list_destroy(list);
	file_list_destroy(NULL);
}

/* ---- letters ---- */

static uint32_t score(const char *query, const char *path)
{
	struct fuzzy *fuzzy = fuzzy_create(str_of(query));
	const uint32_t *indices;
	size_t count;
	uint32_t result = fuzzy_score(fuzzy, str_of(path), false, 0);
	assert_int_equal(fuzzy_match(fuzzy, str_of(path), false, &indices, &count), result);
	for (size_t i = 1; i < count; i++)
		assert_true(indices[i - 1] < indices[i]);
	fuzzy_destroy(fuzzy);
	return result;
}

static void scores_are_those_that_were_seen(void **state)
{
	(void)state;
	assert_int_equal(score("alp", "alpha.txt"), 65620);
	assert_int_equal(score("alp", "src/alpine.c"), 65620);
	assert_int_equal(score("al", "alpha.txt"), 65595);
	assert_int_equal(score("ab", ".hid/ab"), 196667);
	assert_int_equal(score("ab", "aXb"), 65583);
	assert_int_equal(score("ab", "dir/xa_b.c"), 65573);
	assert_int_equal(score("dir", "dir/ab.c"), 84);
}

static void a_mismatch_has_no_score(void **state)
{
	(void)state;
	assert_int_equal(score("", "a"), 0);
	assert_int_equal(score("  ", "a"), 0);
	assert_int_equal(score("ab", "ba"), 0);
	assert_int_equal(score("ab", ""), 0);
	assert_int_equal(score("abc", "ab"), 0);
	char query[LIMIT_FUZZY_QUERY + 2];
	memset(query, 'a', sizeof(query) - 1);
	query[sizeof(query) - 1] = '\0';
	assert_int_equal(score(query, query), 0);
	query[LIMIT_FUZZY_QUERY] = '\0';
	assert_true(score(query, query) > 0);
}

static void better_fits_score_more(void **state)
{
	(void)state;
	assert_true(score("main", "src/main.c") > score("main", "src/domain.c"));
	assert_true(score("main", "src/main.c") > score("main", "main/other.c"));
	assert_true(score("fb", "foo_bar") > score("fb", "foobar"));
	assert_true(score("fb", "fooBar") > score("fb", "foobar"));
	assert_true(score("foo", "foo") > score("foo", "foo.c"));
	assert_int_equal(score("MAIN", "src/main.c"), score("main", "src/MAIN.c"));
	assert_true(score("src mai", "src/main.c") > 0);
	assert_true(score("mai src", "src/main.c") > 0);
}

static void indices_count_characters(void **state)
{
	(void)state;
	struct fuzzy *fuzzy = fuzzy_create(STR("öb"));
	const uint32_t *indices;
	size_t count;
	assert_true(fuzzy_match(fuzzy,
	                        STR("ä/ö\xff"
	                            "b"),
	                        false, &indices, &count) > 0);
	assert_int_equal(count, 2);
	assert_int_equal(indices[0], 2);
	assert_int_equal(indices[1], 4);
	fuzzy_destroy(fuzzy);
}

static void a_long_path_is_looked_at_in_part(void **state)
{
	(void)state;
	char path[2 * LIMIT_FUZZY_PATH + 1];
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	path[sizeof(path) - 2] = 'y';
	assert_int_equal(score("y", path), 0);
	assert_true(score("xx", path) > 0);
}

static size_t random_text(unsigned *seed, char *out, size_t most)
{
	static const char alphabet[] = "aabbcCdD/._-0 \xc3\xb6\xff";
	size_t len = (size_t)rand_r(seed) % most;
	for (size_t i = 0; i < len; i++)
		out[i] = alphabet[(size_t)rand_r(seed) % (sizeof(alphabet) - 1)];
	return len;
}

static void short_cuts_do_not_change_what_is_found(void **state)
{
	(void)state;
	const uint32_t name = 1 << 16; /* the least score of a file whose name matches */
	size_t low = 0, high = 0;
	unsigned seed = 7;
	for (int i = 0; i < 20000; i++) {
		char path_text[40], query_text[5];
		struct str path = str_n(path_text, random_text(&seed, path_text, sizeof(path_text)));
		struct str query = str_n(query_text, random_text(&seed, query_text, sizeof(query_text)));
		bool is_folder = rand_r(&seed) % 4 == 0;
		struct fuzzy *fuzzy = fuzzy_create(query);
		uint32_t full = fuzzy_score(fuzzy, path, is_folder, 0);
		uint32_t cut = fuzzy_score(fuzzy, path, is_folder, name);
		assert_int_equal(full > 0, cut > 0);
		assert_true(full < name ? cut <= full : cut == full);
		assert_true(!full || fuzzy_may_match(fuzzy, fuzzy_letters(path)));
		low += full > 0 && full < name;
		high += full >= name;
		fuzzy_destroy(fuzzy);
	}
	assert_true(low > 100 && high > 100);
}

/* A path that only matches by its folders does not displace one that matches by its name, and is found again by the
 * longer query. */
static void a_path_that_was_not_among_the_best_is_found_later(void **state)
{
	(void)state;
	atomic_bool stop = false;
	const struct file_search_result *results;
	size_t count;
	char name[32];
	for (int i = 0; i < LIMIT_SEARCH_RESULTS; i++) {
		snprintf(name, sizeof(name), "q/abc-%03d", i);
		put(name, "");
	}
	put("q/abcz/other", "");
	struct file_search_root roots[] = {{STR("q"), temp_path("q")}};
	struct file_lists *lists = file_lists_create();
	struct file_search *search = file_search_create(lists, roots, countof(roots));
	static const char *const typed[] = {"abc", "abcz"};
	for (size_t i = 0; i < countof(typed); i++) {
		file_search_set_query(search, str_of(typed[i]));
		assert_true(file_search_step(search, &stop));
		file_search_results(search, &results, &count);
		assert_int_equal(count, i ? 2 : LIMIT_SEARCH_RESULTS);
	}
	assert_str(results[1].path, "abcz/other");
	file_search_destroy(search);
	file_lists_destroy(lists);
}

/* ---- the search ---- */

static void a_search_continues_with_another_query(void **state)
{
	(void)state;
	atomic_bool stop = false;
	const struct file_search_result *results;
	size_t count;
	char name[32];
	for (int i = 0; i < LIMIT_SEARCH_RESULTS + 20; i++) {
		snprintf(name, sizeof(name), "r/file-%03d", i);
		put(name, "");
	}
	struct file_search_root roots[] = {{STR("named"), temp_path("r")}, {STR("gone"), temp_path("absent")}};
	struct file_lists *lists = file_lists_create();
	struct file_search *search = file_search_create(lists, roots, countof(roots));
	file_search_set_query(search, STR("file"));
	assert_true(file_search_step(search, &stop));
	assert_true(file_search_results(search, &results, &count));
	assert_int_equal(count, LIMIT_SEARCH_RESULTS);
	assert_str(results[0].path, "file-000");
	assert_str(results[0].root, "named");
	assert_str(results[count - 1].path, "file-049");
	assert_false(file_search_results(search, &results, &count));
	file_search_set_query(search, STR("069"));
	assert_true(file_search_step(search, &stop));
	assert_true(file_search_results(search, &results, &count));
	assert_int_equal(count, 1);
	assert_str(results[0].path, "file-069");
	assert_int_equal(results[0].index_count, 3);
	static const char *const typed[] = {"f", "f0", "f06", "f069", "f0", "f069"};
	for (size_t i = 0; i < countof(typed); i++) {
		file_search_set_query(search, str_of(typed[i]));
		assert_true(file_search_step(search, &stop));
		file_search_results(search, &results, &count);
		assert_int_equal(count, i == 3 || i == 5 ? 1 : i == 2 ? 16 : LIMIT_SEARCH_RESULTS);
	}
	file_search_set_query(search, STR("fi"));
	atomic_store(&stop, true);
	assert_false(file_search_step(search, &stop));
	file_search_set_query(search, STR("fi6"));
	assert_false(file_search_step(search, &stop));
	atomic_store(&stop, false);
	file_search_set_query(search, STR("fi69"));
	assert_true(file_search_step(search, &stop));
	file_search_results(search, &results, &count);
	assert_int_equal(count, 1);
	file_search_set_query(search, STR("le"));
	atomic_store(&stop, true);
	assert_false(file_search_step(search, &stop));
	file_search_destroy(search);
	file_lists_destroy(lists);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_patterns_of_a_walk_share_their_steps),
		cmocka_unit_test(the_last_rule_that_fits_decides),
		TEST(all_is_found),
		TEST(a_repository_has_rules),
		TEST(a_deep_tree_ends),
		TEST(a_walk_may_be_dropped),
		cmocka_unit_test(scores_are_those_that_were_seen),
		cmocka_unit_test(a_mismatch_has_no_score),
		cmocka_unit_test(better_fits_score_more),
		cmocka_unit_test(indices_count_characters),
		cmocka_unit_test(a_long_path_is_looked_at_in_part),
		cmocka_unit_test(short_cuts_do_not_change_what_is_found),
		TEST(a_path_that_was_not_among_the_best_is_found_later),
		TEST(a_search_continues_with_another_query),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
