/* The decision table of core 2.3, a test for each of its cells. */
#include "test.h"

#include "tool/exec_decision.h"

struct cell {
	enum approval_policy policy;
	enum exec_kind kind;
	bool is_escalated, has_fence;
	enum exec_decision decision;
};

#define CELL(policy, kind, decision)                                                                      \
	{approval_policy_##policy, EXEC_##kind, false, true, EXEC_##decision},                            \
	{                                                                                                 \
		approval_policy_##policy, EXEC_##kind, false, false, EXEC_##decision                      \
	}
#define LEAVING(kind, has_fence, decision)                                                                \
	{                                                                                                 \
		approval_policy_on_request, EXEC_##kind, true, has_fence, EXEC_##decision                 \
	}

static const struct cell cells[] = {
	CELL(untrusted, safe, allow),
	CELL(untrusted, ordinary, prompt),
	CELL(untrusted, dangerous, prompt),
	CELL(on_failure, safe, allow),
	CELL(on_failure, ordinary, allow),
	CELL(on_failure, dangerous, prompt),
	CELL(on_request, safe, allow),
	CELL(on_request, ordinary, allow),
	CELL(on_request, dangerous, prompt),
	CELL(never, safe, allow),
	CELL(never, ordinary, allow),
	CELL(never, dangerous, forbidden),
	LEAVING(safe, true, prompt),
	LEAVING(ordinary, true, prompt),
	LEAVING(dangerous, true, prompt),
	LEAVING(safe, false, allow),
	LEAVING(ordinary, false, allow),
	LEAVING(dangerous, false, prompt),
};

static void each_cell_decides_as_written(void **state)
{
	const struct cell *cell = *state;
	assert_int_equal(exec_decide(cell->policy, cell->kind, cell->is_escalated, cell->has_fence), cell->decision);
}

static void only_on_request_lets_a_model_ask_to_leave(void **state)
{
	(void)state;
	assert_true(exec_may_escalate(approval_policy_on_request));
	assert_false(exec_may_escalate(approval_policy_untrusted));
	assert_false(exec_may_escalate(approval_policy_on_failure));
	assert_false(exec_may_escalate(approval_policy_never));
}

int main(void)
{
	enum { CELLS = sizeof(cells) / sizeof(*cells) };
	static char names[CELLS][64];
	struct CMUnitTest tests[CELLS + 1] = {cmocka_unit_test(only_on_request_lets_a_model_ask_to_leave)};
	for (size_t i = 0; i < CELLS; i++) {
		snprintf(names[i], sizeof(names[i]), "cell_%d_%d_%d_%d", (int)cells[i].policy, (int)cells[i].kind,
		         cells[i].is_escalated, cells[i].has_fence);
		tests[i + 1] = (struct CMUnitTest){.name = names[i],
		                                   .test_func = each_cell_decides_as_written,
		                                   .initial_state = (void *)&cells[i]};
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
