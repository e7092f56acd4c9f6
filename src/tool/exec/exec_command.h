/* exec_command.h — one command as the user sees it: argv, folder, and the three events of its life.
 * Owns: copies of all its texts, because it may outlive the call and the task. */
#ifndef TOOL_EXEC_COMMAND_H
#define TOOL_EXEC_COMMAND_H

#include "base/arena.h"
#include "loop/loop.h"
#include "process/output.h"
#include "process/process.h"
#include "tool/exec/exec_deltas.h"
#include "tool/tool.h"

struct exec_command {
	/* read-only */
	struct tool_host *host;
	struct str call_id, turn_id;
	struct str process_id; /* absent unless it keeps running between calls */
	const char *cwd;
	const char **argv; /* as shown and approved: without the sandbox around it; ends with NULL */
	size_t argc;
	enum exec_source source;
	bool is_escalated; /* asked to run outside the sandbox */
	bool is_allowed;   /* by a rule of the user: it runs outside the sandbox */
	bool is_approved;  /* by the user */
	bool is_sandboxed; /* it was started inside the sandbox */
	bool is_stopped;   /* the sandbox probably stopped it */
	bool is_freed;     /* it runs again, outside the sandbox */
	struct str justification;
	const struct str *prefix; /* the prefix rule that the model proposes */
	size_t prefix_count;
	uint64_t started_ns;
	/* private */
	struct arena arena;
	struct list link;        /* in the host's commands once it runs */
	struct process *process; /* of its owner */
	struct exec_deltas deltas;
	struct parsed_command *parsed; /* filled by exec_command_parsed */
	size_t parsed_count;
	bool is_begun;
};

/* Whether the call's shell is a login shell: as the call requests, by default if the configuration allows it. Not 0:
 * the request is not allowed, and the call is finished. */
int exec_command_choose_login(struct tool_call *call, bool has_wish, bool wish, bool *ret_login);

/* argv ends with NULL and is copied; workdir may be absent and is taken below the host's folder. */
void exec_command_init(struct exec_command *command, struct tool_call *call, const char *const *argv,
                       struct str workdir, enum exec_source source);
void exec_command_finish(struct exec_command *command);

/* Resets it for a second start; the begin event is not emitted again. */
void exec_command_rewind(struct exec_command *command);

/* Its actions (read, list, search), for display. Owned by the command. */
struct parsed_command *exec_command_parsed(struct exec_command *command, size_t *ret_count);
/* ---- its start ---- */

/* False until the trials of the sandbox backends are complete: wait with exec_sandbox_wait. */
bool exec_sandbox_is_ready(const struct exec_command *command);

/* on_ready runs once, later. Destroy cancels; NULL is fine. */
struct exec_sandbox_wait;
struct exec_sandbox_wait *exec_sandbox_wait(struct tool_host *host, loop_run_fn on_ready, void *self);
void exec_sandbox_wait_destroy(struct exec_sandbox_wait *wait);

struct exec_start {
	bool merge_output;
	bool stdin_open;
	const struct pty_size *terminal; /* NULL: none */
	uint64_t drain_ms;
};

struct process *exec_start(struct exec_command *command, const struct exec_start *start,
                           const struct process_handler *handler, void *self, struct error *err);
/* Sets its process. The process must stay until exec_command_finish. */
void exec_command_started(struct exec_command *command, struct process *process);

/* Backpressure: stops and resumes reading the output of all commands, also of those that start meanwhile. They block
 * when their pipe is full, and their time limits do not expire during a hold. */
void exec_commands_hold(struct tool_host *host);
void exec_commands_release(struct tool_host *host);

/* ---- its events ---- */

void exec_command_tell_begin(struct exec_command *command);
/* Paced and limited (exec_deltas.h). The end event has the start and the end of the whole output. */
void exec_command_tell_output(struct exec_command *command, enum exec_stream stream, struct str bytes);

struct exec_outcome {
	int exit_code; /* -1: it never ran; 124: timed out */
	struct str standard_output, standard_error, aggregated, formatted;
};
/* Emits the end event; no-op without a begin event. */
void exec_command_tell_end(struct exec_command *command, const struct exec_outcome *outcome);

/* The key of "approved for the session": argv, folder, and whether it leaves the sandbox. */
void exec_command_key(const struct exec_command *command, struct buf *out);

/* The exit code as in shells: 128 + n for signal n. */
int exec_exit_code(const struct process_result *result);

#endif
