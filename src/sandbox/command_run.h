/* command_run.h — one command from its request to its end, as tools and clients start it.
 *
 * A run waits until the working sandbox backend is known, wraps the command in the sandbox, starts the process and
 * reports its output and its end (process.h). Until there is a process, input and pauses are kept, and a kill ends
 * the run. Each failure of the start is reported as an end with an error.
 *
 * A run in a place is carried out by that place, another machine, with a sandbox of its own.
 *
 * Owns: the wait, the process. Thread: the loop's. No handler but prepare runs inside the call that caused it. */
#ifndef SANDBOX_COMMAND_RUN_H
#define SANDBOX_COMMAND_RUN_H

#include "base/error.h"
#include "process/process.h"
#include "sandbox/sandbox_policy.h"

struct command_run;

struct command_run_spec {
	struct process_spec process; /* launch is left NULL */
	const struct sandbox_policy *policy;
	struct str inherit; /* for a place: the variables that its commands inherit there, as JSON */
};

struct command_run_handler {
	/* Fills the spec, which is borrowed until prepare's caller returns. Called once, when the process is
	 * started: inside command_run_start, or after the wait. */
	void (*prepare)(struct command_run_spec *spec, void *self);
	/* See struct process_handler. on_run may be NULL. */
	void (*on_output)(enum exec_stream stream, struct str bytes, void *self);
	void (*on_end)(const struct process_result *result, void *self);
	void (*on_run)(void *self);
};

/* A command in a place. */
struct command_away;

/* Another machine. `start` copies what it needs of the spec; no handler runs inside it. `destroy` kills the command if
 * it still runs; no handler runs any more. The others have the meaning of the functions below. */
struct command_place {
	struct command_away *(*start)(struct command_place *place, const struct command_run_spec *spec,
	                              const struct command_run_handler *handler, void *self);
	void (*destroy)(struct command_away *away);
	bool (*is_running)(const struct command_away *away);
	int (*write)(struct command_away *away, struct str bytes, struct error *err);
	void (*kill)(struct command_away *away);
	void (*pause)(struct command_away *away);
	void (*resume)(struct command_away *away);
};

/* place: NULL for this machine. policy determines whether a sandbox is needed, and which backend. handler must outlive
 * the run. */
must_check struct command_run *command_run_start(struct loop *loop, struct command_place *place,
                                                 const struct sandbox_policy *policy,
                                                 const struct command_run_handler *handler, void *self);
/* See process_destroy. */
void command_run_destroy(struct command_run *run);
/* True while the process runs. */
bool command_run_is_running(const struct command_run *run);

/* See the functions of process.h. */
must_check int command_run_write(struct command_run *run, struct str bytes, struct error *err);
void command_run_close_input(struct command_run *run);
void command_run_kill(struct command_run *run);
void command_run_kill_now(struct command_run *run);
void command_run_pause(struct command_run *run);
void command_run_resume(struct command_run *run);
/* No-op before the start: prepare gives the size. */
must_check int command_run_resize(struct command_run *run, const struct pty_size *size, struct error *err);
bool command_run_widen(struct command_run *run);
uint64_t command_run_skip(struct command_run *run, size_t keep);

#endif
