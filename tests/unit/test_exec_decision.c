/* The decision table, with a test for each cell. */
#include "test.h"

#include "tool/exec/exec_decision.h"

struct cell {
	enum ask_for_approval_tag policy;
	enum exec_kind kind;
	bool is_escalated, has_sandbox;
	enum exec_decision decision;
};

#define CELL(policy, kind, decision)                                                  \
	{ask_for_approval_##policy, EXEC_##kind, false, true, EXEC_##decision},       \
	{                                                                             \
		ask_for_approval_##policy, EXEC_##kind, false, false, EXEC_##decision \
	}
#define LEAVING(kind, has_sandbox, decision)                                               \
	{ask_for_approval_on_request, EXEC_##kind, true, has_sandbox, EXEC_##decision},    \
	{                                                                                  \
		ask_for_approval_granular, EXEC_##kind, true, has_sandbox, EXEC_##decision \
	}

static const struct cell cells[] = {
	CELL(untrusted, safe, allow),  CELL(untrusted, ordinary, prompt), CELL(untrusted, dangerous, prompt),
	CELL(on_failure, safe, allow), CELL(on_failure, ordinary, allow), CELL(on_failure, dangerous, prompt),
	CELL(on_request, safe, allow), CELL(on_request, ordinary, allow), CELL(on_request, dangerous, prompt),
	CELL(granular, safe, allow),   CELL(granular, ordinary, allow),   CELL(granular, dangerous, prompt),
	CELL(never, safe, allow),      CELL(never, ordinary, allow),      CELL(never, dangerous, forbidden),
	LEAVING(safe, true, prompt),   LEAVING(ordinary, true, prompt),   LEAVING(dangerous, true, prompt),
	LEAVING(safe, false, allow),   LEAVING(ordinary, false, allow),   LEAVING(dangerous, false, prompt),
};

static void each_cell_decides_as_written(void **state)
{
	const struct cell *cell = *state;
	struct ask_for_approval policy = {.tag = cell->policy};
	assert_int_equal(exec_decide(&policy, cell->kind, cell->is_escalated, cell->has_sandbox), cell->decision);
}

static void only_some_policies_permit_escalation_requests(void **state)
{
	(void)state;
	for (int tag = 0; tag < ask_for_approval_reject; tag++) {
		struct granular_approval granular = {.sandbox_approval = true};
		struct ask_for_approval policy = {.tag = tag, .granular = &granular};
		bool may = tag == ask_for_approval_on_request || tag == ask_for_approval_granular;
		assert_int_equal(exec_may_escalate(&policy), may);
	}
	struct granular_approval rules_only = {.rules = true};
	struct ask_for_approval policy = {.tag = ask_for_approval_granular, .granular = &rules_only};
	assert_false(exec_may_escalate(&policy));
}

static void a_sandbox_denial_is_handled_by_policy(void **state)
{
	static const bool asks[] = {
		[ask_for_approval_untrusted] = true, [ask_for_approval_on_failure] = true,
		[ask_for_approval_granular] = true,  [ask_for_approval_on_request] = false,
		[ask_for_approval_never] = false,
	};
	(void)state;
	for (int tag = 0; tag < ask_for_approval_reject; tag++) {
		struct granular_approval granular = {.sandbox_approval = true}, none = {.rules = true};
		struct ask_for_approval policy = {.tag = tag, .granular = &granular};
		assert_int_equal(exec_decide_stopped(&policy), asks[tag] ? EXEC_prompt : EXEC_forbidden);
		policy.granular = &none;
		if (tag == ask_for_approval_granular)
			assert_int_equal(exec_decide_stopped(&policy), EXEC_forbidden);
	}
}

int main(void)
{
	enum { CELLS = sizeof(cells) / sizeof(*cells) };
	static char names[CELLS][64];
	struct CMUnitTest tests[CELLS + 2] = {
		cmocka_unit_test(only_some_policies_permit_escalation_requests),
		cmocka_unit_test(a_sandbox_denial_is_handled_by_policy),
	};
	for (size_t i = 0; i < CELLS; i++) {
		snprintf(names[i], sizeof(names[i]), "cell_%d_%d_%d_%d", (int)cells[i].policy, (int)cells[i].kind,
		         cells[i].is_escalated, cells[i].has_sandbox);
		tests[i + 2] = (struct CMUnitTest){.name = names[i],
		                                   .test_func = each_cell_decides_as_written,
		                                   .initial_state = (void *)&cells[i]};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
