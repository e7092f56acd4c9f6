/* exec_start.h — puts a command behind the Task's fence and starts it. Private to tool/.
 *
 * An escalated command, which the user has approved, one that a rule of the user's allows, and one that the user let
 * out when the fence had stopped it, run without a fence;
 * every other one runs behind it or not at all. Errors: ERR_unsupported where the fence cannot be built here, and what
 * process_start says. */
#ifndef TOOL_EXEC_START_H
#define TOOL_EXEC_START_H

#include "loop/loop.h"
#include "process/process.h"
#include "process/pty.h"
#include "tool/exec/exec_command.h"

/* False while it is not yet known what fence can be built here: wait with exec_fence_wait. */
bool exec_fence_is_ready(const struct exec_command *command);

/* on_ready runs once, later. Destroy cancels; NULL is fine. */
struct exec_fence;
struct exec_fence *exec_fence_wait(struct tool_host *host, loop_run_fn on_ready, void *self);
void exec_fence_destroy(struct exec_fence *fence);

struct exec_start {
	bool merge_output;
	bool stdin_open;
	const struct pty_size *terminal; /* NULL: none */
	uint64_t drain_ms;
};

struct process *exec_start(struct exec_command *command, const struct exec_start *start,
                           const struct process_handler *handler, void *self, struct error *err);

#endif
