/* exec_command.h — one command as the user sees it: argv, folder, and the three events of its life.
 * Private to tool/. Owns: copies of everything, so that it may outlive the call and the Task. */
#ifndef TOOL_EXEC_COMMAND_H
#define TOOL_EXEC_COMMAND_H

#include "base/arena.h"
#include "process/output.h"
#include "tool/exec/exec_deltas.h"
#include "tool/tool.h"

struct process;
struct process_result;

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
/* It runs as that process, which its owner destroys no earlier than it finishes the command. */
void exec_command_started(struct exec_command *command, struct process *process);

void exec_command_tell_begin(struct exec_command *command);
/* Paced and bounded (exec_deltas.h): head and tail of everything are in the end event. */
void exec_command_tell_output(struct exec_command *command, enum exec_stream stream, struct str bytes);

struct exec_outcome {
	int exit_code; /* -1: it never ran; 124: timed out */
	struct str standard_output, standard_error, aggregated, formatted;
};
/* Every begin gets its end; without a begin it tells nothing. */
void exec_command_tell_end(struct exec_command *command, const struct exec_outcome *outcome);

/* "Exit code: 0\nWall time: 0.8 seconds\nOutput:\n", as one-shot tools begin their answer (core 2.5). */
void exec_command_head(const struct exec_command *command, int exit_code, struct buf *out);

/* What identifies it for "approved for the session": argv, folder and fence. */
void exec_command_key(const struct exec_command *command, struct buf *out);

/* What its end says: the exit code, 128 + n for signal n as shells count. */
int exec_exit_code(const struct process_result *result);

#endif
