/* Answers of a reviewer, wrapped in other text or truncated, and their text form. */
#include "test.h"

#include <string.h>

#include "engine/history/review.h"
#include "protocol/message/review_text.h"

static void assert_words(struct str answer, const char *want)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct review_output output;
	buf_init(&text, 1 << 20);
	review_answer_read(answer, &arena, &output);
	review_write_output(&output, &text);
	assert_int_equal(text.len, strlen(want));
	assert_memory_equal(text.data, want, text.len);
}

#define FINDING                                                                                   \
	"{\"title\":\"[P1] Bug\",\"body\":\"one\\ntwo\",\"confidence_score\":0.9,\"priority\":1," \
	"\"code_location\":{\"absolute_file_path\":\"/w/a.c\",\"line_range\":{\"start\":3,\"end\":4}}}"
#define ANSWER                                                                        \
	"{\"findings\":[" FINDING "],\"overall_correctness\":\"patch is incorrect\"," \
	"\"overall_explanation\":\"It breaks.\",\"overall_confidence_score\":0.8}"
#define WORDS "It breaks.\n\nReview comment:\n\n- [P1] Bug — /w/a.c:3-4\n  one\n  two"

static void a_whole_answer_is_read_field_by_field(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct review_output output;
	review_answer_read(STR(ANSWER), &arena, &output);
	assert_int_equal(output.findings_count, 1);
	assert_true(str_is(output.findings[0].title, "[P1] Bug"));
	assert_int_equal(output.findings[0].priority, 1);
	assert_true(output.findings[0].confidence_score > 0.89 && output.findings[0].confidence_score < 0.91);
	assert_int_equal(output.findings[0].code_location->line_range->start, 3);
	assert_true(str_is(output.overall_correctness, "patch is incorrect"));
	assert_words(STR(ANSWER), WORDS);
}

static void a_result_in_a_code_block_or_in_text_is_found(void **state)
{
	(void)state;
	assert_words(STR("```json\n" ANSWER "\n```"), WORDS);
	assert_words(STR("Here you are: " ANSWER " Anything else?"), WORDS);
}

static void fields_that_are_missing_cost_nothing_else(void **state)
{
	(void)state;
	assert_words(STR("{\"findings\":[{\"title\":\"A\"},{\"body\":\"b\"},{}, 5]}"),
	             "Full review comments:\n\n- A\n\n- \n  b");
	assert_words(STR("{\"overall_explanation\":\" Fine. \"}"), "Fine.");
	assert_words(STR("{\"findings\":[{\"title\":\"A\",\"code_location\":{\"absolute_file_path\":\"/x\"}}]}"),
	             "Review comment:\n\n- A — /x");
}

static void an_answer_without_a_result_is_shown_unchanged(void **state)
{
	(void)state;
	assert_words(STR(" plain text \n"), "plain text");
	assert_words(STR("{\"findings\":"), "{\"findings\":");
	assert_words(STR("{\"a\":1}"), "{\"a\":1}");
	assert_words(STR("[1]"), "[1]");
	assert_words(STR("} {"), "} {");
	assert_words(STR(""), "The review ended without a result.");
}

static void assert_hint(const struct review_target *target, const char *want)
{
	auto_buf struct buf hint;
	buf_init(&hint, 1024);
	review_write_hint(target, &hint);
	assert_true(str_is(buf_str(&hint), want));
}

static void a_target_has_a_name_for_people(void **state)
{
	(void)state;
	struct review_branch branch = {STR("main")};
	struct review_commit commit = {.sha = STR("abcdef0123"), .title = STR("My title")};
	struct review_commit head = {.sha = STR("HEAD")};
	struct review_custom custom = {STR(" look at it\n")};
	assert_hint(&(struct review_target){.tag = review_target_uncommitted_changes}, "current changes");
	assert_hint(&(struct review_target){.tag = review_target_base_branch, .base_branch = &branch},
	            "changes against 'main'");
	assert_hint(&(struct review_target){.tag = review_target_commit, .commit = &commit},
	            "commit abcdef0: My title");
	assert_hint(&(struct review_target){.tag = review_target_commit, .commit = &head}, "commit HEAD");
	assert_hint(&(struct review_target){.tag = review_target_custom, .custom = &custom}, "look at it");
}

/* The client chooses the name, and the model runs the command. */
static void a_branch_is_quoted_for_the_shell(void **state)
{
	(void)state;
	auto_buf struct buf words;
	buf_init(&words, 4096);
	struct review_branch branch = {STR("a'; rm -rf /; '")};
	review_prompt_write(&(struct review_target){.tag = review_target_base_branch, .base_branch = &branch}, &words);
	assert_true(str_find(buf_str(&words), STR("merge-base HEAD 'a'\\''; rm -rf /; '\\''')")) >= 0);
	branch.branch = STR("--all");
	review_prompt_write(&(struct review_target){.tag = review_target_base_branch, .base_branch = &branch}, &words);
	assert_true(str_find(buf_str(&words), STR("merge-base HEAD --end-of-options '--all')")) >= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_whole_answer_is_read_field_by_field),
		cmocka_unit_test(a_result_in_a_code_block_or_in_text_is_found),
		cmocka_unit_test(fields_that_are_missing_cost_nothing_else),
		cmocka_unit_test(an_answer_without_a_result_is_shown_unchanged),
		cmocka_unit_test(a_target_has_a_name_for_people),
		cmocka_unit_test(a_branch_is_quoted_for_the_shell),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
