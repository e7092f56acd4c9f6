/* The answer of the automatic reviewer: only a complete answer of the right form allows an action. */
#include "test.h"

#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/guardian_verdict.h"

static int read_answer(struct arena *arena, const char *text, struct guardian_verdict *ret)
{
	struct error err;
	*ret = (struct guardian_verdict){0};
	return guardian_verdict_read(str_of(text), arena, ret, &err);
}

static void an_outcome_alone_has_the_usual_risk(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct guardian_verdict verdict;
	assert_int_equal(read_answer(&arena, " {\"outcome\":\"allow\"}\n", &verdict), 0);
	assert_true(verdict.is_allowed);
	assert_int_equal(verdict.risk, guardian_risk_level_low);
	assert_int_equal(verdict.authorization, guardian_user_authorization_unknown);
	assert_true(verdict.rationale.len > 0);
	assert_int_equal(read_answer(&arena, "```json\n{\"outcome\":\"deny\"}\n```", &verdict), 0);
	assert_false(verdict.is_allowed);
	assert_int_equal(verdict.risk, guardian_risk_level_high);
}

static void every_member_is_read(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct guardian_verdict verdict;
	assert_int_equal(read_answer(&arena,
	                             "{\"outcome\":\"allow\",\"risk_level\":\"medium\",\"user_authorization\":"
	                             "\"low\",\"rationale\":\" small \",\"more\":1}",
	                             &verdict),
	                 0);
	assert_true(verdict.is_allowed);
	assert_int_equal(verdict.risk, guardian_risk_level_medium);
	assert_int_equal(verdict.authorization, guardian_user_authorization_low);
	assert_true(str_is(verdict.rationale, "small"));
}

static void answers_of_another_form_are_errors(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",
		"allow",
		"[]",
		"{}",
		"{\"outcome\":true}",
		"{\"outcome\":\"Allow\"}",
		"{\"outcome\":\"allow\"",
		"{\"outcome\":\"allow\"} {\"outcome\":\"deny\"}",
		"{\"outcome\":\"deny\",\"outcome\":\"allow\"}",
		"{\"outcome\":\"allow\",\"risk_level\":\"none\"}",
		"{\"outcome\":\"allow\",\"risk_level\":1}",
		"{\"outcome\":\"allow\",\"user_authorization\":\"\"}",
		"The command contains {\"outcome\":\"allow\"}",
		"{\"outcome\":\"allow\"} is what the file says; deny",
		"```\n{\"outcome\":\"allow\"}",
		"```json\n{\"outcome\":\"allow\"}\n``` no",
	};
	for (size_t i = 0; i < countof(texts); i++) {
		auto_arena struct arena arena = {0};
		struct guardian_verdict verdict;
		if (read_answer(&arena, texts[i], &verdict) == 0)
			fail_msg("accepted: %s", texts[i]);
		assert_false(verdict.is_allowed);
	}
}

static void contradictions_are_denials(void **state)
{
	(void)state;
	static const struct {
		const char *risk, *authorization;
		bool is_allowed;
	} rows[] = {
		{"critical", "high", false}, {"high", "unknown", false}, {"high", "low", false},
		{"high", "medium", true},    {"high", "high", true},     {"medium", "unknown", true},
	};
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		struct guardian_verdict verdict;
		char text[160];
		snprintf(text, sizeof(text),
		         "{\"outcome\":\"allow\",\"risk_level\":\"%s\",\"user_authorization\":\"%s\"}", rows[i].risk,
		         rows[i].authorization);
		assert_int_equal(read_answer(&arena, text, &verdict), 0);
		assert_true(verdict.is_allowed == rows[i].is_allowed);
	}
}

static void a_long_rationale_is_cut(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct guardian_verdict verdict;
	struct error err;
	buf_init(&text, MIB);
	buf_append_c(&text, "{\"outcome\":\"deny\",\"rationale\":\"");
	for (int i = 0; i < LIMIT_GUARDIAN_RATIONALE; i++)
		buf_append_c(&text, "\xc3\xa4");
	buf_append_c(&text, "\"}");
	assert_int_equal(guardian_verdict_read(buf_str(&text), &arena, &verdict, &err), 0);
	assert_int_equal(verdict.rationale.len, LIMIT_GUARDIAN_RATIONALE);
}

static void the_schema_is_json(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	assert_non_null(json_parse(&arena, guardian_verdict_schema, NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_outcome_alone_has_the_usual_risk),
		cmocka_unit_test(every_member_is_read),
		cmocka_unit_test(answers_of_another_form_are_errors),
		cmocka_unit_test(contradictions_are_denials),
		cmocka_unit_test(a_long_rationale_is_cut),
		cmocka_unit_test(the_schema_is_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
