/* process.h — one running command: its output, its input, its end.
 *
 * Owns: its pipes and the termination of its tree (process_reaper.h); its parent is the supervisor. Borrows: the
 * loop, and the spec during process_start. Thread: the loop's. No handler runs inside the call that caused it.
 *
 * While a command with merged output runs, the engine has the command's end of the pipe open, too. An application that
 * forks then without an exec keeps the output open: the command ends after drain_ms.
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
#include "process/process_reaper.h" /* front ends call process_reaper_stop */
#include "protocol/record/enum.h"

struct error;
struct loop;
struct process;

enum { PROCESS_DRAIN_MS = 2000 }; /* the default of drain_ms */

/* A command as its sandbox starts it. */
struct launch {
	const char *const *argv; /* ends with NULL */
	const char *const *env;  /* ends with NULL */
	int fd;                  /* becomes SPAWN_EXTRA_FD; 0: none */
	const char *mark;        /* "CODEX_SANDBOX=bubblewrap", added to env; NULL: none */
};

struct process_spec {
	const char *const *argv;     /* ends with NULL; argv[0] without a slash is looked up in env's PATH */
	const struct launch *launch; /* executed instead of argv and env; NULL: no sandbox */
	const char *const *env;      /* ends with NULL; the whole environment, except the process mark */
	const char *cwd;             /* absolute; NULL: the engine's */
	bool checks_program;         /* with a launch: fail if argv[0] is not a program, as without a launch */
	bool stdin_open;             /* stdin is a pipe for process_write_stdin; else /dev/null */
	size_t stdin_most;           /* most pending bytes of it; 0: LIMIT_EXEC_STDIN */
	/* both streams share a pipe, which preserves their order, and are reported as stdout */
	bool merge_output;
	/* A terminal of this size for input and all output, which is reported as stdout; NULL: pipes. */
	const struct pty_size *terminal;
	uint64_t drain_ms;
};

struct process_result {
	int exit_code;             /* -1 if a signal ended it */
	int signal;                /* 0 if it exited */
	bool is_cut;               /* a background process still had the output open after drain_ms */
	uint64_t wall_ms;          /* from start to exit */
	const struct error *error; /* why the command never ran, with exit_code -1; NULL: it ran */
};

struct process_handler {
	/* bytes, at most 64 KiB, are valid during the call only. */
	void (*on_output)(enum exec_stream stream, struct str bytes, void *self);
	void (*on_end)(const struct process_result *result, void *self);
	/* The program was executed. Output may be reported before this. Not called if the program cannot be
	 * executed. May be NULL. */
	void (*on_run)(void *self);
};

/* Starts a command. NULL and err if there are no resources for it. Does not access the command's folder and program,
 * whose file systems may not answer: their errors ("cannot run X: No such file or directory") are reported by
 * on_end. */
must_check struct process *process_start(struct loop *loop, const struct process_spec *spec,
                                         const struct process_handler *handler, void *self, struct error *err);
/* Frees the process; no handler runs any more. May be called from a handler. If the command still runs it is killed
 * with its whole tree; background processes of a command that has ended continue. NULL is fine. */
void process_destroy(struct process *process);

bool process_is_running(const struct process *process);

/* Copies bytes, which are written as the command reads. ERR_busy if LIMIT_EXEC_STDIN bytes are pending, ERR_io if
 * the input is closed. */
must_check int process_write_stdin(struct process *process, struct str bytes, struct error *err);
/* True if bytes of the input are not written yet. */
bool process_has_input(const struct process *process);
/* Ends the input after the pending bytes; at a terminal, as Ctrl-D does. */
void process_close_stdin(struct process *process);

/* Terminates the whole tree, including members that have left the group and the session, even after the command
 * itself has exited: SIGTERM now, SIGKILL after LIMIT_KILL_GRACE_MS to those that are left. */
void process_kill(struct process *process);
/* Kills the whole tree at once. */
void process_kill_now(struct process *process);

/* Resizes the terminal of the command; ERR_unsupported if it has none, or has closed it. */
must_check int process_resize(struct process *process, const struct pty_size *size, struct error *err);

/* Stops reading the output: on_output does not run until process_resume, the command blocks when the pipe is full,
 * and drain_ms does not run out meanwhile. Calls nest. */
void process_pause(struct process *process);
void process_resume(struct process *process);

/* For a command that prints more than is kept. process_widen sets its output pipe to PROCESS_WIDE_PIPE bytes; false
 * if the system refuses. process_skip discards the content of the pipe except for its last `keep` bytes, without
 * reading it, and returns the number of discarded bytes. Output must be merged and paused. */
enum { PROCESS_WIDE_PIPE = 1024 * 1024 };
bool process_widen(struct process *process);
uint64_t process_skip(struct process *process, size_t keep);

#endif
