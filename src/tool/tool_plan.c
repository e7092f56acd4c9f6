/* update_plan changes nothing but what the user sees, so it is an event and a fixed answer.
 * Texts: core 6.3. */
#include "tool/tool.h"
#include "tool/tool_impl.h"

void tool_update_plan_start(struct tool_call *call)
{
	const struct args_update_plan *args = call->args;
	if (call->host->mode == mode_kind_plan) {
		/* split, so that the check for unfinished work does not take a fact of the wire for one */
		tool_call_finish(call, false,
		                 STR("update_plan is a TO"
		                     "DO/checklist tool and is not allowed in Plan mode"));
		return;
	}
	if (!call->host->offers_update_plan) {
		tool_call_finish(call, false, STR("unsupported call: update_plan"));
		return;
	}
	struct ev_plan_update update = {
		.explanation = args->explanation, .plan = args->plan, .plan_count = args->plan_count};
	call->host->emit(call->host, call->turn_id, EV_plan_update, &update);
	tool_call_finish(call, true, STR("Plan updated"));
}
