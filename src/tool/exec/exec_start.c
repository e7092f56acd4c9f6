/* The one place where a command meets its fence. Whether a fence can be built on this machine is found
 * out by trying, which takes a moment the first time: exec_fence_wait bridges it without blocking. */
#include "tool/exec/exec_start.h"

#include "base/error.h"
#include "base/mem.h"
#include "sandbox/sandbox.h"

struct exec_fence {
	struct sandbox_probe *probe;
	loop_run_fn on_ready;
	void *self;
};

static void on_probed(void *self)
{
	struct exec_fence *fence = self;
	fence->on_ready(fence->self);
}

static bool leaves_fence(const struct exec_command *command)
{
	return command->is_escalated || command->is_allowed || command->is_freed;
}

bool exec_fence_is_ready(const struct exec_command *command)
{
	const struct sandbox_policy *policy = command->host->sandbox;
	return leaves_fence(command) || !sandbox_is_needed(policy->mode) || sandbox_is_probed(policy->backend);
}

struct exec_fence *exec_fence_wait(struct tool_host *host, loop_run_fn on_ready, void *self)
{
	struct exec_fence *fence = xnew(struct exec_fence);
	fence->on_ready = on_ready;
	fence->self = self;
	fence->probe = sandbox_probe_create(host->loop, host->sandbox->backend, on_probed, fence);
	return fence;
}

void exec_fence_destroy(struct exec_fence *fence)
{
	if (!fence)
		return;
	sandbox_probe_destroy(fence->probe);
	free(fence);
}

struct process *exec_start(struct exec_command *command, const struct exec_start *start,
                           const struct process_handler *handler, void *self, struct error *err)
{
	auto_sandbox_fence struct sandbox_fence *fence = NULL;
	struct tool_host *host = command->host;
	struct sandbox_policy policy = *host->sandbox;
	policy.has_terminal = start->terminal != NULL;
	command->is_fenced = !leaves_fence(command) && sandbox_is_needed(policy.mode);
	if (!leaves_fence(command) && sandbox_wrap(&policy, command->argv, &fence, err) != 0)
		return NULL;
	struct process_spec spec = {
		.argv = command->argv,
		.fence = fence,
		.env = host->command_env(host, true),
		.cwd = command->cwd,
		.stdin_open = start->stdin_open,
		.terminal = start->terminal,
		.merge_output = start->merge_output,
		.drain_ms = start->drain_ms,
	};
	struct process *process = process_start(host->loop, &spec, handler, self, err);
	if (process)
		exec_command_started(command, process);
	return process;
}
