/* The tools about the goal of the session. The model may create a goal, end it and pause it; the user alone resumes
 * one, so that a goal that was stopped does not start turns again. */
#include "base/json.h"
#include "base/limits.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"

/* Finishes the call with {"goal":…,"remainingTokens":…,"completionBudgetReport":…}. The report asks the model for what
 * the goal has cost. */
static void finish_with_goal(struct tool_call *call, bool is_completed)
{
	struct thread_goal goal;
	bool has_goal = call->host->goal(call->host, &goal);
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "goal");
	if (has_goal)
		record_encode(&record_thread_goal, &goal, &w);
	else
		jw_null(&w);
	jw_key(&w, "remainingTokens");
	if (has_goal && goal.has_tokenBudget)
		jw_i64(&w, goal.tokensUsed < goal.tokenBudget ? goal.tokenBudget - goal.tokensUsed : 0);
	else
		jw_null(&w);
	jw_member_cstr(
		&w, "completionBudgetReport",
		is_completed
			? "Report to the user what the goal has cost: its tokensUsed, of its tokenBudget if it has "
			  "one, and its timeUsedSeconds."
			: NULL);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

static void change(struct tool_call *call, const struct goal_change *change)
{
	struct error err;
	if (call->host->change_goal(call->host, change, &err) != 0)
		tool_call_finish(call, false, str_of(err.text));
	else
		finish_with_goal(call, change->has_status && change->status == goal_status_complete);
}

void tool_get_goal_start(struct tool_call *call)
{
	finish_with_goal(call, false);
}

void tool_create_goal_start(struct tool_call *call)
{
	const struct args_create_goal *args = call->args;
	struct thread_goal goal;
	if (call->host->goal(call->host, &goal) && goal.status != goal_status_complete) {
		tool_call_finish(
			call, false,
			STR("There is an unfinished goal. Only a complete goal can be replaced by a new one."));
		return;
	}
	struct goal_change wanted = {
		.objective = args->objective,
		.has_status = true,
		.status = goal_status_active,
		.has_token_budget = args->has_token_budget,
		.token_budget = args->token_budget,
	};
	change(call, &wanted);
}

void tool_update_goal_start(struct tool_call *call)
{
	const struct args_update_goal *args = call->args;
	struct goal_change wanted = {.has_status = true};
	int status;
	bool is_known = enum_parse(&enum_goal_status, args->status, &status);
	if (!is_known ||
	    (status != goal_status_complete && status != goal_status_blocked && status != goal_status_paused)) {
		tool_call_finish(
			call, false,
			STR("update_goal accepts complete, blocked and paused. Only the user resumes a goal."));
		return;
	}
	wanted.status = (enum goal_status)status;
	change(call, &wanted);
}
