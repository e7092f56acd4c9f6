/* process.h — one running command: its output, its input, its end.
 *
 * Owns: its pipes and the termination of its tree (process_reaper.h); its parent is the supervisor. Borrows: the
 * loop, and the spec during process_start. Thread: the loop's. No handler runs inside the call that caused it.
 *
 * on_end runs once, after the command has exited and its output is complete: all pipes are closed, or drain_ms have
 * passed since the exit and a background process still has one open. Later output of such a process is read and
 * discarded, so that it does not die of a closed pipe. */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/str.h"
#include "process/process_fds.h"
#include "process/process_reaper.h" /* process_reaper_stop, for front ends */
#include "protocol/record/enum.h"

struct error;
struct loop;
struct process;

enum { PROCESS_DRAIN_MS = 2000 }; /* the default */

/* The variable that names the sandbox of a command. Only a launch sets it. */
#define SANDBOX_MARK_NAME "CODEX_SANDBOX"

/* A command as a sandbox starts it. */
struct launch {
	const char *const *argv; /* ends with NULL */
	const char *const *env;  /* ends with NULL */
	int fd;                  /* becomes SPAWN_EXTRA_FD; 0: none */
	const char *mark;        /* "CODEX_SANDBOX=bubblewrap", added to env; NULL: none */
};

struct process_spec {
	const char *const *argv;     /* ends with NULL; argv[0] without a slash is looked up in env's PATH */
	const struct launch *launch; /* executed instead of argv and env; NULL: these */
	const char *const *env;      /* ends with NULL; the whole environment, except the process mark */
	const char *cwd;             /* absolute; NULL: that of the engine */
	bool checks_program;         /* with a launch: fail if argv[0] is no program, as without one */
	bool stdin_open;             /* a pipe for process_write_stdin; else /dev/null */
	bool merge_output;           /* both streams through one pipe, in the order written, reported as stdout */
	/* A terminal of this size for input and all output, which is reported as stdout; NULL: pipes. */
	const struct pty_size *terminal;
	uint64_t drain_ms;
};

struct process_result {
	int exit_code;             /* -1 if a signal ended it */
	int signal;                /* 0 if it exited */
	bool is_cut;               /* a background process still had the output open after drain_ms */
	uint64_t wall_ms;          /* from start to exit */
	const struct error *error; /* the reason why it never ran, with exit_code -1; NULL: it ran */
};

struct process_handler {
	/* bytes are valid during the call only; at most 64 KiB. */
	void (*on_output)(enum exec_stream stream, struct str bytes, void *self);
	void (*on_end)(const struct process_result *result, void *self);
	/* The program was executed; output may come before this. Not if it cannot be. May be NULL. */
	void (*on_run)(void *self);
};

/* NULL and err if there are no resources for the command. Does not access the command's folder and program, whose file
 * systems may not answer: their errors ("cannot run X: No such file or directory") come with on_end. */
must_check struct process *process_start(struct loop *loop, const struct process_spec *spec,
                                         const struct process_handler *handler, void *self, struct error *err);
/* Frees it. No handler runs any more; may be called from a handler. A command that still runs is killed with its
 * whole tree; background processes of one that has ended continue. NULL is fine. */
void process_destroy(struct process *process);

bool process_is_running(const struct process *process);

/* Copies bytes and writes them as the command reads. ERR_busy if LIMIT_EXEC_STDIN bytes are pending, ERR_io if its
 * input is closed. */
must_check int process_write_stdin(struct process *process, struct str bytes, struct error *err);
/* Ends the input after the pending bytes; at a terminal as Ctrl-D does. */
void process_close_stdin(struct process *process);

/* Terminates the whole tree, including members that left the group and the session, also after the command itself has
 * exited: TERM now, KILL to what is left after LIMIT_KILL_GRACE_MS. */
void process_kill(struct process *process);
/* Kills the whole tree at once. */
void process_kill_now(struct process *process);

/* Resizes the terminal of the command; ERR_unsupported if it has none, or has closed it. */
must_check int process_resize(struct process *process, const struct pty_size *size, struct error *err);

/* Backpressure: on_output does not run between pause and resume, and the command blocks when the pipe is full. The
 * drain time does not run meanwhile. Calls nest. */
void process_pause(struct process *process);
void process_resume(struct process *process);

/* For a command that prints more than is kept. process_widen sets its output pipe to PROCESS_WIDE_PIPE bytes; false
 * where the system refuses. process_skip discards what is in the pipe except for its last `keep` bytes, without
 * reading it, and returns the number of bytes. Output must be merged and paused. */
enum { PROCESS_WIDE_PIPE = 1024 * 1024 };
bool process_widen(struct process *process);
uint64_t process_skip(struct process *process, size_t keep);

#endif
