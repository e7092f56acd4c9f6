/* The requests that each policy permits, and the conversion of `reject`. */
#include "test.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/approval.h"

/* The permitted requests as letters: s(andbox), r(ules), k for skill, p(ermissions), m(cp). */
static const struct {
	const char *json, *may, *kept;
} rows[] = {
	{"\"on-request\"", "srkpm", "\"on-request\""},
	{"\"untrusted\"", "srkpm", "\"untrusted\""},
	{"\"on-failure\"", "srkpm", "\"on-failure\""},
	{"\"never\"", "", "\"never\""},
	{"{\"granular\":{\"sandbox_approval\":true,\"rules\":false,\"mcp_elicitations\":false}}", "s",
         "{\"granular\":{\"sandbox_approval\":true,\"rules\":false,"
         "\"skill_approval\":false,\"request_permissions\":false,"
         "\"mcp_elicitations\":false}}"},
	{"{\"granular\":{\"sandbox_approval\":false,\"rules\":true,\"mcp_elicitations\":true,"
         "\"skill_approval\":true,"
         "\"request_permissions\":true}}",
         "rkpm",
         "{\"granular\":{\"sandbox_approval\":false,\"rules\":true,"
         "\"skill_approval\":true,\"request_permissions\":true,"
         "\"mcp_elicitations\":true}}"},
	{"{\"reject\":{\"sandbox_approval\":true,\"mcp_elicitations\":true}}", "r",
         "{\"granular\":{\"sandbox_approval\":false,\"rules\":true,"
         "\"skill_approval\":false,\"request_permissions\":false,"
         "\"mcp_elicitations\":false}}"},
};

static struct ask_for_approval *policy_of(const char *text, struct arena *arena)
{
	struct ask_for_approval policy = {0};
	const struct json *json = json_parse(arena, str_of(text), NULL);
	assert_int_equal(union_decode(&union_ask_for_approval, json, arena, &policy, NULL), 0);
	return approval_copy(&policy, arena);
}

static void each_policy_permits_its_approval_requests(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		const struct ask_for_approval *policy = policy_of(rows[i].json, &arena);
		for (int question = 0; question < QUESTION_count; question++)
			assert_int_equal(approval_may_ask(policy, question),
			                 strchr(rows[i].may, "srkpm"[question]) != NULL);
	}
}

static void each_policy_is_written_as_it_is_kept(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		auto_arena struct arena arena = {0};
		auto_buf struct buf out;
		buf_init(&out, LIMIT_LINE);
		struct json_writer w = json_writer(&out);
		union_encode(&union_ask_for_approval, policy_of(rows[i].json, &arena), &w);
		assert_string_equal(out.data, rows[i].kept);
	}
}

static void policies_are_equal_if_they_permit_the_same_requests(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	for (size_t i = 0; i < countof(rows); i++)
		for (size_t j = 0; j < countof(rows); j++)
			assert_int_equal(
				approval_is_same(policy_of(rows[i].json, &arena), policy_of(rows[j].json, &arena)),
				i == j);
}

static void an_invalid_policy_is_refused(void **state)
{
	static const char *const wrong[] = {"\"maybe\"",
	                                    "\"granular\"",
	                                    "{}",
	                                    "3",
	                                    "{\"granular\":{}}",
	                                    "{\"granular\":{\"rules\":1}}",
	                                    "{\"never\":{},\"reject\":{}}"};
	(void)state;
	for (size_t i = 0; i < countof(wrong); i++) {
		auto_arena struct arena arena = {0};
		struct ask_for_approval policy = {0};
		const struct json *json = json_parse(&arena, str_of(wrong[i]), NULL);
		assert_non_null(json);
		assert_int_not_equal(union_decode(&union_ask_for_approval, json, &arena, &policy, NULL), 0);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_policy_permits_its_approval_requests),
		cmocka_unit_test(each_policy_is_written_as_it_is_kept),
		cmocka_unit_test(policies_are_equal_if_they_permit_the_same_requests),
		cmocka_unit_test(an_invalid_policy_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
