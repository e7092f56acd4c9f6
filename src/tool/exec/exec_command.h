/* exec_command.h — one command as the user sees it: argv, folder, and the three events of its life.
 * Private to tool/. Owns: copies of everything, so that it may outlive the call and the Task. */
#ifndef TOOL_EXEC_COMMAND_H
#define TOOL_EXEC_COMMAND_H

#include "base/arena.h"
#include "loop/loop.h"
#include "process/output.h"
#include "process/process.h"
#include "process/pty.h"
#include "tool/exec/exec_deltas.h"
#include "tool/tool.h"

struct exec_command {
	/* read-only */
	struct tool_host *host;
	struct str call_id, turn_id;
	struct str process_id; /* absent unless it goes on between calls */
	const char *cwd;
	const char **argv; /* as shown and approved: without the sandbox around it; ends with NULL */
	size_t argc;
	enum exec_source source;
	bool is_escalated; /* asked to run outside the sandbox */
	bool is_allowed;   /* by a rule of the user's: it runs outside the sandbox */
	bool is_approved;  /* by the user, who was asked */
	bool is_fenced;    /* it was started inside the sandbox */
	bool is_stopped;   /* and the sandbox has likely stopped it */
	bool is_freed;     /* so it runs again, outside */
	struct str justification;
	const struct str *prefix; /* the words that the model would have allowed from then on */
	size_t prefix_count;
	uint64_t started_ns;
	/* private */
	struct arena arena;
	struct list link;        /* in the host's commands once it runs */
	struct process *process; /* of its owner */
	struct exec_deltas deltas;
	struct parsed_command *parsed; /* what it does, once somebody asked */
	size_t parsed_count;
	bool is_begun;
};

/* Whether the call's shell is a login shell: as it wishes, else if the user allows it (core 2.5). Not 0: it wishes for
 * what is not allowed; the call is finished then. */
int exec_command_choose_login(struct tool_call *call, bool has_wish, bool wish, bool *ret_login);

/* argv ends with NULL and is copied; workdir may be absent and is taken below the host's folder. */
void exec_command_init(struct exec_command *command, struct tool_call *call, const char *const *argv,
                       struct str workdir, enum exec_source source);
void exec_command_finish(struct exec_command *command);

/* Before it is started once more: nothing of its first run counts, but that it was begun. */
void exec_command_rewind(struct exec_command *command);

/* What it does, for display; the command's. */
struct parsed_command *exec_command_parsed(struct exec_command *command, size_t *ret_count);
/* ---- its start ---- */

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
/* It runs as that process, which its owner destroys no earlier than it finishes the command. */
void exec_command_started(struct exec_command *command, struct process *process);

/* Stops and restarts the reading of all commands' output, also of those that start meanwhile: they block when their
 * pipe is full. Their time limits do not run out as long as that lasts. */
void exec_commands_hold(struct tool_host *host);
void exec_commands_release(struct tool_host *host);

/* ---- its events ---- */

void exec_command_tell_begin(struct exec_command *command);
/* Paced and bounded (exec_deltas.h): head and tail of everything are in the end event. */
void exec_command_tell_output(struct exec_command *command, enum exec_stream stream, struct str bytes);

struct exec_outcome {
	int exit_code; /* -1: it never ran; 124: timed out */
	struct str standard_output, standard_error, aggregated, formatted;
};
/* Every begin gets its end; without a begin it tells nothing. */
void exec_command_tell_end(struct exec_command *command, const struct exec_outcome *outcome);

/* What identifies it for "approved for the session": argv, folder and fence. */
void exec_command_key(const struct exec_command *command, struct buf *out);

/* What its end says: the exit code, 128 + n for signal n as shells count. */
int exec_exit_code(const struct process_result *result);

#endif
