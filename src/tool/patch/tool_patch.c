/* apply_patch, as a tool of its own. */
#include "tool/patch/patch_run.h"
#include "tool/tool_impl.h"

void tool_apply_patch_start(struct tool_call *call)
{
	const struct args_apply_patch *args = call->args;
	patch_run_start(call, args->input, call->host->cwd);
}
