/* The engine has the goal and starts its turns (docs/goals.md). The prompt is answered when the goal is no longer
 * active, or by session/cancel, which pauses it. */
#include "acp/acp_goal.h"

#include "base/buf.h"
#include "base/error.h"
#include "engine/codex/codex.h"

bool acp_goal_is_active(const struct codex *codex)
{
	struct thread_goal goal;
	return codex_goal(codex, &goal) && goal.status == goal_status_active;
}

static void write_goal(const struct codex *codex, struct buf *out)
{
	struct thread_goal goal;
	if (!codex_goal(codex, &goal)) {
		buf_append_c(out, "No goal is set: /goal What to reach\n");
		return;
	}
	buf_printf(out, "- Goal: %.*s\n- Status: %s\n- Tokens: %lld", STR_ARG(goal.objective),
	           enum_wire(&enum_goal_status, (int)goal.status), (long long)goal.tokensUsed);
	if (goal.has_tokenBudget)
		buf_printf(out, " of %lld", (long long)goal.tokenBudget);
	buf_printf(out, "\n- Time: %lld s\n", (long long)goal.timeUsedSeconds);
}

static bool change(struct codex *codex, struct str rest, struct buf *out)
{
	struct error err;
	bool is_pause = str_is(rest, "pause");
	struct goal_change wanted = {
		.objective = is_pause || str_is(rest, "resume") ? STR_NONE : rest,
		.has_status = true,
		.status = is_pause ? goal_status_paused : goal_status_active,
	};
	if (codex_change_goal(codex, &wanted, &err) == 0)
		return true;
	buf_printf(out, "%s\n", err.text);
	return false;
}

bool acp_goal_run(struct codex *codex, struct str rest, struct buf *out)
{
	if (str_is(rest, "clear")) {
		buf_append_c(out, codex_clear_goal(codex) ? "The goal was removed.\n" : "No goal is set.\n");
		return true;
	}
	if (rest.len && !change(codex, rest, out))
		return true;
	if (rest.len && acp_goal_is_active(codex))
		return false;
	write_goal(codex, out);
	return true;
}

void acp_goal_pause(struct codex *codex)
{
	struct goal_change paused = {.has_status = true, .status = goal_status_paused};
	if (acp_goal_is_active(codex))
		best_effort(codex_change_goal(codex, &paused, NULL)); /* it exists */
}
