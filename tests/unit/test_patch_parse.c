/* The grammar of patches, its tolerances, and its errors. */
#include "test.h"

#include "base/mem.h"
#include "patch/patch_error.h"
#include "patch/patch_limits.h"
#include "patch/patch_parse.h"

#define BEGIN "*** Begin Patch\n"
#define END "*** End Patch"

static struct patch parse(struct str text)
{
	struct patch patch;
	auto_patch_error struct patch_error err = {0};
	if (patch_parse(&patch, text, &err) != 0)
		fail_msg("refused: %s", err.text.data);
	return patch;
}

static const struct patch_chunk *chunk_of(const struct patch *patch, size_t hunk, size_t chunk)
{
	assert_true(hunk < patch->hunks.count && chunk < patch->hunks.items[hunk].chunk_count);
	return patch_chunks(patch, &patch->hunks.items[hunk]) + chunk;
}

/* Writes "<kind><text>|" for each line. */
static const char *lines_of(struct str body)
{
	static char text[256];
	struct patch_line line;
	size_t len = 0;
	while (patch_line_next(&body, &line))
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%c%.*s|", line.kind, STR_ARG(line.text));
	text[len] = '\0';
	return text;
}

static void all_kinds_of_hunks_are_read(void **state)
{
	(void)state;
	auto_patch struct patch patch = parse(STR(BEGIN "*** Add File: a/b.txt\n+one\n+\n+*** two\n"
	                                                "*** Delete File: gone\n"
	                                                "*** Update File: from\n*** Move to: to\n@@ ctx\n a\n-b\n+c\n\n"
	                                                "@@\n+d\n*** End of File\n" END "\n"));
	assert_int_equal(patch.hunks.count, 3);
	const struct patch_hunk *hunk = patch.hunks.items;
	assert_int_equal(hunk[0].kind, PATCH_ADD);
	assert_str(hunk[0].path, "a/b.txt");
	assert_string_equal(lines_of(hunk[0].body), "+one|+|+*** two|");
	assert_int_equal(hunk[1].kind, PATCH_DELETE);
	assert_str(hunk[1].path, "gone");
	assert_int_equal(hunk[2].kind, PATCH_UPDATE);
	assert_str(hunk[2].path, "from");
	assert_str(hunk[2].move_path, "to");
	const struct patch_chunk *first = chunk_of(&patch, 2, 0), *second = chunk_of(&patch, 2, 1);
	assert_str(first->context, "ctx");
	assert_string_equal(lines_of(first->body), " a|-b|+c| |");
	assert_int_equal(first->old_count, 3);
	assert_int_equal(first->new_count, 3);
	assert_false(first->is_at_end);
	assert_null(second->context.ptr);
	assert_string_equal(lines_of(second->body), "+d|");
	assert_true(second->is_at_end);
}

static void blanks_and_line_ends_are_forgiven(void **state)
{
	(void)state;
	auto_patch struct patch patch =
		parse(STR("\n\t *** Begin Patch \r\n  *** Update File: a file \t\r\n*** Move to: b \r\n"
	                  "@@ \r\n-x\r\n+y \r\n *** End Patch\u3000\r\n \n"));
	assert_str(patch.hunks.items[0].path, "a file");
	assert_str(patch.hunks.items[0].move_path, "b");
	assert_null(chunk_of(&patch, 0, 0)->context.ptr);
	assert_string_equal(lines_of(chunk_of(&patch, 0, 0)->body), "-x|+y |");
}

static void a_heredoc_left_around_the_patch_is_cut_off(void **state)
{
	(void)state;
	static const char *const openings[] = {"<<EOF", "<<'EOF'", "<<\"EOF\""};
	for (size_t i = 0; i < countof(openings); i++) {
		char text[128];
		snprintf(text, sizeof(text), "%s\n" BEGIN "*** Delete File: x\n" END "\nEOF\n", openings[i]);
		auto_patch struct patch patch = parse(str_of(text));
		assert_int_equal(patch.hunks.count, 1);
		assert_str(patch.text, BEGIN "*** Delete File: x\n" END);
	}
}

static void an_empty_patch_has_no_hunks(void **state)
{
	(void)state;
	auto_patch struct patch patch = parse(STR(BEGIN END));
	assert_int_equal(patch.hunks.count, 0);
}

/* Blank lines separate chunks if a marker follows; before a change they are empty context. */
static void blank_lines_before_a_chunk_have_two_meanings(void **state)
{
	(void)state;
	auto_patch struct patch apart =
		parse(STR(BEGIN "*** Update File: f\n  \n\n@@\n-a\n*** End of File\n\n@@\n-b\n" END));
	assert_int_equal(apart.hunks.items[0].chunk_count, 2);
	assert_string_equal(lines_of(chunk_of(&apart, 0, 0)->body), "-a|");
	auto_patch struct patch within = parse(STR(BEGIN "*** Update File: f\n \n+a\n" END));
	assert_string_equal(lines_of(chunk_of(&within, 0, 0)->body), " |+a|");
}

#define NO_HEADER                                                                                             \
	"is not a valid hunk header. Valid hunk headers: '*** Add File: {path}', '*** Delete File: {path}', " \
	"'*** Update File: {path}'"
#define STARTS "Every line should start with ' ' (context line), '+' (added line), or '-' (removed line)"

static void errors_have_the_known_texts(void **state)
{
	(void)state;
	static const struct {
		const char *text, *want;
	} rows[] = {
		{"hello", "invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{"", "invalid patch: The last line of the patch must be '*** End Patch'"},
		{BEGIN "*** Delete File: x", "invalid patch: The last line of the patch must be '*** End Patch'"},
		{"<<EOF\n" BEGIN "x\nEOF", "invalid patch: The last line of the patch must be '*** End Patch'"},
		{"<<EOF \n" BEGIN END "\nEOF", "invalid patch: The first line of the patch must be '*** Begin Patch'"},
		{BEGIN " *** Frob: x \n" END, "invalid hunk at line 2, '*** Frob: x' " NO_HEADER},
		{BEGIN "*** Add File: \n" END, "invalid hunk at line 2, '*** Add File:' " NO_HEADER},
		{BEGIN "*** Add File: a\n+1\n\n" END, "invalid hunk at line 4, '' " NO_HEADER},
		{BEGIN "*** Update File: f\n" END, "invalid hunk at line 2, Update file hunk for path 'f' is empty"},
		{BEGIN "*** Update File: f\n*** Move to: g\n" END,
	         "invalid hunk at line 2, Update file hunk for path 'f' is empty"},
		{BEGIN "*** Update File: f\n@@\n" END,
	         "invalid hunk at line 4, Update hunk does not contain any lines"},
		{BEGIN "*** Update File: f\n@@\n*** End of File\n" END,
	         "invalid hunk at line 4, Update hunk does not contain any lines"},
		{BEGIN "*** Update File: f\n@@ a\n@@ b\n-c\n" END,
	         "invalid hunk at line 4, Unexpected line found in update hunk: '@@ b'. " STARTS},
		{BEGIN "*** Update File: f\nfoo\n" END,
	         "invalid hunk at line 3, Unexpected line found in update hunk: 'foo'. " STARTS},
		{BEGIN "*** Update File: f\n@@\n-a\nfoo\n" END,
	         "invalid hunk at line 5, Expected update hunk to start with a @@ context marker, got: 'foo'"},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		struct patch patch;
		auto_patch_error struct patch_error err = {0};
		auto_buf struct buf text;
		buf_init(&text, 1000);
		assert_int_equal(patch_parse(&patch, str_of(rows[i].text), &err), -ERR_invalid);
		assert_true(err.is_grammar);
		patch_error_for_model(&err, &text);
		assert_string_equal(text.data, rows[i].want);
	}
}

static void errors_for_the_terminal_have_other_texts(void **state)
{
	(void)state;
	struct patch patch;
	auto_patch_error struct patch_error err = {0};
	auto_buf struct buf text;
	buf_init(&text, 1000);
	assert_int_not_equal(patch_parse(&patch, STR("x"), &err), 0);
	patch_error_for_terminal(&err, &text);
	assert_string_equal(text.data, "Invalid patch: The first line of the patch must be '*** Begin Patch'");
	buf_clear(&text);
	assert_int_not_equal(patch_parse(&patch, STR(BEGIN "*** Update File: f\n@@\n" END), &err), 0);
	patch_error_for_terminal(&err, &text);
	assert_string_equal(text.data, "Invalid patch hunk on line 4: Update hunk does not contain any lines");
}

static void a_nul_in_a_name_is_refused(void **state)
{
	(void)state;
	struct patch patch;
	assert_int_equal(patch_parse(&patch, STR(BEGIN "*** Delete File: a\0b\n" END), NULL), -ERR_invalid);
	assert_int_equal(patch_parse(&patch, STR(BEGIN "*** Update File: a\n*** Move to: \0\n@@\n+x\n" END), NULL),
	                 -ERR_invalid);
}

static void too_many_hunks_are_refused(void **state)
{
	(void)state;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PATCH_TEXT);
	buf_append_c(&text, BEGIN "*** Update File: f\n");
	for (int i = 0; i <= LIMIT_PATCH_HUNKS; i++)
		buf_append_c(&text, "@@\n+\n");
	buf_append_c(&text, END);
	struct patch patch;
	assert_int_equal(patch_parse(&patch, buf_str(&text), NULL), -ERR_invalid);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_kinds_of_hunks_are_read),
		cmocka_unit_test(blanks_and_line_ends_are_forgiven),
		cmocka_unit_test(a_heredoc_left_around_the_patch_is_cut_off),
		cmocka_unit_test(an_empty_patch_has_no_hunks),
		cmocka_unit_test(blank_lines_before_a_chunk_have_two_meanings),
		cmocka_unit_test(errors_have_the_known_texts),
		cmocka_unit_test(errors_for_the_terminal_have_other_texts),
		cmocka_unit_test(a_nul_in_a_name_is_refused),
		cmocka_unit_test(too_many_hunks_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
