/* exec_command.h — one command as the user sees it: its argv, its folder, and its begin, output and end events.
 * Owns: copies of all its texts, because it may outlive the call and the task. */
#ifndef TOOL_EXEC_COMMAND_H
#define TOOL_EXEC_COMMAND_H

#include "base/arena.h"
#include "base/error.h"
#include "process/output.h"
#include "sandbox/command_run.h"
#include "tool/exec/exec_deltas.h"
#include "tool/tool.h"

struct sandbox_outcome;

struct exec_command {
	/* read-only */
	struct tool_host *host;
	struct str call_id, turn_id;
	struct str process_id;           /* STR_NONE unless the command may keep running between calls */
	struct environment *environment; /* where it runs; NULL: on this machine. Owned */
	const char *base;                /* the folder of that place for commands, which the sandbox is about */
	const char *cwd;
	const char **argv; /* as displayed and approved, without the sandbox around it; ends with NULL */
	size_t argc;
	enum exec_source source;
	bool is_escalated; /* the model has requested to run it outside the sandbox */
	bool is_allowed;   /* a rule of the user allows it: it runs outside the sandbox */
	bool is_approved;  /* the user has approved it */
	bool is_known;     /* the user has approved it for the session before */
	bool is_sandboxed; /* it was started inside the sandbox */
	bool is_stopped;   /* the sandbox probably stopped it */
	bool is_freed;     /* it was started again outside the sandbox */
	bool is_held_back; /* it ran, and a second run outside the sandbox is not approved yet */
	int first_code;    /* of that run, and its output */
	struct str first_output;
	struct str justification;
	const struct str *prefix; /* the prefix rule that the model proposes */
	size_t prefix_count;
	/* private */
	struct arena arena;
	const struct command_run_handler *handler; /* of the start, and the self that is passed to it */
	void *self;
	struct tool_wait wait;        /* until the begin event is stored */
	struct list link;             /* a node of the host's commands, from the start on */
	struct command_run *run;      /* NULL before the start */
	struct sandbox_policy policy; /* the policy of the run; its texts belong to the host */
	struct exec_deltas deltas;
	struct parsed_command *parsed; /* set by exec_command_parsed */
	size_t parsed_count;
	bool is_begun;
	uint64_t started_ns, ran_ns; /* of the run, else 0; of the runs before */
};

/* Chooses whether the shell is a login shell: as the call requests; by default, if the configuration allows it.
 * Nonzero if the request is not allowed; the call is then finished. */
must_check int exec_command_choose_login(struct tool_call *call, bool has_wish, bool wish, bool *ret_login);

/* Returns the shell of an environment; NULL: of this machine. */
const char *exec_command_shell(const struct environment *environment);

/* argv ends with NULL and is copied. workdir may be STR_NONE; a relative one is resolved against the call's folder. */
void exec_command_init(struct exec_command *command, struct tool_call *call, const char *const *argv,
                       struct str workdir, enum exec_source source);
/* Frees the command, and kills it if it runs. */
void exec_command_finish(struct exec_command *command);

/* Kills the command and resets it for a second start, for which the begin event is not emitted again. */
void exec_command_rewind(struct exec_command *command);
/* Returns how long the command has run, without the time for which it waited for an approval. */
uint64_t exec_command_ran_ns(const struct exec_command *command);

/* Returns its words, argc of them. */
struct str *exec_command_words(const struct exec_command *command, struct arena *arena);
/* Returns the command's actions (read, list, search) for display. Owned by the command. */
struct parsed_command *exec_command_parsed(struct exec_command *command, size_t *ret_count);
/* ---- its start ---- */

/* Starts the command in the host's sandbox, unless it was allowed to leave it; the start may wait until the begin event
 * is stored. handler->prepare sets process options and then calls exec_command_prepare. */
void exec_command_start(struct exec_command *command, const struct command_run_handler *handler, void *self);
void exec_command_prepare(struct exec_command *command, struct command_run_spec *spec);

/* These stop and resume reading the output of all commands, including those that start meanwhile. Commands block when
 * their pipe is full, and their time limits do not expire during a hold. */
void exec_commands_hold(struct tool_host *host);
void exec_commands_release(struct tool_host *host);

/* ---- its events ---- */

void exec_command_emit_begin(struct exec_command *command);
/* Emits output, paced and limited (exec_deltas.h). The end event contains the head and the tail of the whole output. */
void exec_command_emit_output(struct exec_command *command, enum exec_stream stream, struct str bytes);

struct exec_outcome {
	int exit_code; /* -1: the command never ran; 124: it timed out */
	struct str standard_output, standard_error, aggregated, formatted;
};
/* Emits the end event; no-op if there was no begin event. */
void exec_command_emit_end(struct exec_command *command, const struct exec_outcome *outcome);

/* Keeps what the command has left, before the approval of a second run outside the sandbox is requested. */
void exec_command_hold_back(struct exec_command *command, const struct sandbox_outcome *outcome);
/* See tool_call_report_refusal. */
void exec_command_report_refusal(const struct exec_command *command, const struct tool_call *call, struct str reason);
/* The same for a command that a hook or the reviewer has denied before it began; others are not reported. */
void exec_command_report_denial(const struct exec_command *command, const struct tool_call *call);
/* Emits the end of a command that is not started, with this text. The end of one that is held back is that of its
 * first run, and its output says that a second one was declined. */
void exec_command_emit_refused(struct exec_command *command, struct str text);

/* Appends the key of an approval for the session: argv, folder, environment, and whether the command leaves the
 * sandbox. */
void exec_command_key(const struct exec_command *command, struct buf *out);

/* Returns the exit code as shells do: 128 + n for signal n. */
int exec_exit_code(const struct process_result *result);

struct config_env_policy;
struct env;

/* Fills an empty env with the environment of a command. */
void exec_command_env(const struct config_env_policy *config, struct env *env);

#endif
