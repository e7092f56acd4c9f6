/* Diffs in the format of patch(1) and git apply, verified by applying them. */
#include "temp.h"

#include <sys/wait.h>

#include "base/limits.h"
#include "patch/diff.h"
#include "patch/diff_lines.h"

static void check_diff(const char *old, const char *new, size_t context, const char *want)
{
	auto_buf struct buf out;
	buf_init(&out, 10000);
	diff_unified(str_of(old), str_of(new), context, &out);
	assert_string_equal(out.data ? out.data : "", want);
}

static void hunks_have_the_usual_form(void **state)
{
	(void)state;
	check_diff("a\nb\n", "a\nb\n", 3, "");
	check_diff("", "hello\n", 3, "@@ -0,0 +1 @@\n+hello\n");
	check_diff("hello\nyou\n", "", 3, "@@ -1,2 +0,0 @@\n-hello\n-you\n");
	check_diff("1\n2\n3\n4\n5\n", "1\n2\nx\n4\n5\n", 1, "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n");
	check_diff("1\n2\n3\n4\n5\n", "1\n2\n3\nx\n4\n5\n", 0, "@@ -3,0 +4 @@\n+x\n");
	check_diff("1\n2\n3\n4\n5\n", "0\n1\n3\n4\n5\n6\n", 1,
	           "@@ -1,3 +1,3 @@\n+0\n 1\n-2\n 3\n@@ -5 +5,2 @@\n 5\n+6\n");
}

static void a_missing_last_newline_is_marked(void **state)
{
	(void)state;
	check_diff("a\nb", "a\nb\n", 1, "@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
	check_diff("a\nb\n", "a\nb", 1, "@@ -1,2 +1,2 @@\n a\n-b\n+b\n\\ No newline at end of file\n");
	check_diff("a\nb", "x\nb", 1, "@@ -1,2 +1,2 @@\n-a\n+x\n b\n\\ No newline at end of file\n");
	check_diff("a", "a", 1, "");
}

static void edits_need_no_search(void **state)
{
	(void)state;
	struct str old = STR("1\n2\n3\n4\n5\n6\n7\n8\n9");
	struct edit list[] = {{2, 4, STR("2\nx\ny\n")}, {14, 2, STR("")}, {16, 1, STR("9\n10\n")}};
	struct edits edits = {.list = {.items = list, .count = countof(list)}};
	auto_buf struct buf out;
	buf_init(&out, 1000);
	diff_edits(old, &edits, 1, &out);
	assert_string_equal(out.data, "@@ -2,3 +2,4 @@\n 2\n-3\n+x\n+y\n 4\n@@ -7,3 +8,3 @@\n 7\n-8\n-9\n"
	                              "\\ No newline at end of file\n+9\n+10\n");
	/* Adjacent changes form one hunk. */
	struct edit near[] = {{2, 0, STR("x\n")}, {2, 2, STR("y\n")}};
	buf_clear(&out);
	diff_edits(old, &(struct edits){.list = {.items = near, .count = countof(near)}}, 0, &out);
	assert_string_equal(out.data, "@@ -2 +2,2 @@\n-2\n+x\n+y\n");
	char text[64] = "";
	struct iovec parts[7];
	assert_int_equal(edits_new_len(&edits, old), 21);
	edits_apply(&edits, old, text);
	assert_string_equal(text, "1\n2\nx\ny\n4\n5\n6\n7\n9\n10\n");
	size_t count = edits_parts(&edits, old, parts), len = 0;
	for (size_t i = 0; i < count; i++) {
		assert_memory_equal(parts[i].iov_base, text + len, parts[i].iov_len);
		len += parts[i].iov_len;
	}
	assert_int_equal(len, 21);
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
	*seed = *seed * 1664525 + 1013904223;
	return (*seed >> 8) % below;
}

/* Writes lines of few kinds, so that many are equal by chance. */
static void random_text(struct buf *out, uint32_t *seed)
{
	static const char *const words[] = {"a\n", "b\n", "c\n", "\n", "long line\n", "{\n", "}\n"};
	uint32_t count = draw(seed, 40);
	for (uint32_t i = 0; i < count; i++)
		buf_append_c(out, words[draw(seed, countof(words))]);
	if (draw(seed, 4) == 0)
		buf_append_c(out, "tail");
}

/* Copies old with some lines removed and added. */
static void random_change(struct buf *out, struct str old, uint32_t *seed)
{
	struct str line;
	while (str_next_line(&old, &line)) {
		uint32_t what = draw(seed, 8);
		if (what == 0)
			buf_append_c(out, "new\n");
		if (what != 1)
			buf_append(out, line.ptr, line.len + (old.ptr > line.ptr + line.len));
	}
}

/* Applies hunks in order, as far as the tests need patch(1). */
static void apply_hunks(struct str old, struct str diff, struct buf *out)
{
	struct str line, kept;
	size_t at = 0;
	while (str_next_line(&diff, &line)) {
		if (line.ptr[0] == '@') {
			size_t start, count = 1;
			assert_true(sscanf(line.ptr, "@@ -%zu,%zu", &start, &count) >= 1);
			if (sscanf(line.ptr, "@@ -%zu,%zu", &start, &count) == 1)
				count = 1;
			for (size_t until = count ? start - 1 : start; at < until; at++) {
				assert_true(str_next_line(&old, &kept));
				buf_append(out, kept.ptr, kept.len + 1);
			}
			continue;
		}
		assert_true(line.ptr[0] == ' ' || line.ptr[0] == '-' || line.ptr[0] == '+');
		bool is_open = str_has_prefix(diff, "\\ No newline");
		if (line.ptr[0] != '+') {
			assert_true(str_next_line(&old, &kept));
			assert_true(str_eq(kept, str_skip(line, 1)));
			assert_int_equal(is_open, kept.ptr + kept.len == old.ptr);
			at++;
		}
		if (line.ptr[0] != '-')
			buf_append(out, line.ptr + 1, line.len - is_open);
		if (is_open)
			str_next_line(&diff, &kept);
	}
	buf_append_str(out, old);
}

static void random_diffs_lead_to_the_new_text(void **state)
{
	(void)state;
	uint32_t seed = 7;
	for (int i = 0; i < 3000; i++) {
		auto_buf struct buf old, new, diff, got;
		buf_init(&old, 10000);
		buf_init(&new, 10000);
		buf_init(&diff, 40000);
		buf_init(&got, 10000);
		random_text(&old, &seed);
		if (i % 2)
			random_text(&new, &seed);
		else
			random_change(&new, buf_str(&old), &seed);
		diff_unified(buf_str(&old), buf_str(&new), draw(&seed, 4), &diff);
		apply_hunks(buf_str(&old), buf_str(&diff), &got);
		assert_true(str_eq(buf_str(&got), buf_str(&new)));
		assert_int_equal(diff.len == 0, str_eq(buf_str(&old), buf_str(&new)));
	}
}

/* Returns the number of changed lines in a shortest diff, by dynamic programming. */
static size_t shortest(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), table[32][32] = {{0}};
	for (size_t i = n; i-- > 0;) {
		for (size_t j = m; j-- > 0;) {
			size_t skip = table[i + 1][j] > table[i][j + 1] ? table[i + 1][j] : table[i][j + 1];
			table[i][j] = a[i] == b[j] ? table[i + 1][j + 1] + 1 : skip;
		}
	}
	return n + m - 2 * table[0][0];
}

static void small_diffs_are_as_short_as_can_be(void **state)
{
	(void)state;
	uint32_t seed = 11;
	for (int i = 0; i < 3000; i++) {
		char kinds[2][32] = {{0}}, texts[2][64] = {{0}};
		for (int side = 0; side < 2; side++) {
			uint32_t count = draw(&seed, 24);
			for (uint32_t k = 0; k < count; k++) {
				kinds[side][k] = texts[side][2 * k] = (char)('a' + draw(&seed, 4));
				texts[side][2 * k + 1] = '\n';
			}
		}
		struct diff_changes changes = {.steps = LIMIT_DIFF_STEPS};
		diff_lines(str_of(texts[0]), 0, str_of(texts[1]), 0, &changes);
		size_t changed = 0;
		vec_for_each(it, &changes.list)
			changed += it->old_count + it->new_count;
		vec_finish(&changes.list);
		assert_int_equal(changed, shortest(kinds[0], kinds[1]));
	}
}

/* If an exact comparison would take minutes, the diff is coarse but correct. */
static void a_diff_too_hard_is_coarse(void **state)
{
	(void)state;
	auto_buf struct buf old, new;
	buf_init(&old, 64 * MIB);
	buf_init(&new, 64 * MIB);
	uint32_t seed = 3;
	for (int i = 0; i < 100000; i++) {
		buf_printf(&old, "%u\n", (unsigned)draw(&seed, 50));
		buf_printf(&new, "%u\n", (unsigned)draw(&seed, 50));
	}
	auto_buf struct buf diff, got;
	buf_init(&diff, 64 * MIB);
	buf_init(&got, 64 * MIB);
	diff_unified(buf_str(&old), buf_str(&new), 1, &diff);
	apply_hunks(buf_str(&old), buf_str(&diff), &got);
	assert_true(str_eq(buf_str(&got), buf_str(&new)));
}

static int run(const char *const *argv)
{
	pid_t pid = fork();
	if (pid == 0) {
		if (chdir(temp_root) == 0)
			execvp(argv[0], (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	int status = -1;
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void git_applies_our_diffs(void **state)
{
	(void)state;
	static const char *const version[] = {"git", "--version", NULL};
	static const char *const apply[] = {"git", "apply", "-p1", "diff", NULL};
	if (run(version) != 0)
		skip();
	uint32_t seed = 5;
	for (int i = 0; i < 20; i++) {
		auto_buf struct buf old, new, diff;
		buf_init(&old, 10000);
		buf_init(&new, 10000);
		buf_init(&diff, 40000);
		random_text(&old, &seed);
		buf_append_c(&new, "first\n");
		random_change(&new, buf_str(&old), &seed);
		buf_append_c(&diff, "--- a/file\n+++ b/file\n");
		diff_unified(buf_str(&old), buf_str(&new), 3, &diff);
		const char *path = temp_put("file", buf_str(&old));
		temp_put("diff", buf_str(&diff));
		assert_int_equal(run(apply), 0);
		auto_free char *got = temp_get(path);
		assert_string_equal(got, new.data);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hunks_have_the_usual_form),
		cmocka_unit_test(a_missing_last_newline_is_marked),
		cmocka_unit_test(edits_need_no_search),
		cmocka_unit_test(random_diffs_lead_to_the_new_text),
		cmocka_unit_test(small_diffs_are_as_short_as_can_be),
		cmocka_unit_test(a_diff_too_hard_is_coarse),
		cmocka_unit_test_setup_teardown(git_applies_our_diffs, temp_make, temp_remove),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
