/* process.h — one running command: its output, its input, its end.
 *
 * Owns: its pipes, and the duty to end its tree (process_reaper); its parent is the supervisor. Borrows: the loop; the
 * spec only during process_start. Thread: loop only. No handler runs inside the call that caused it.
 *
 * on_end runs once, after the command has exited and its output is complete: all pipes closed, or drain_ms after
 * the exit if somebody in the background still holds them. What that somebody prints later is read and
 * dropped, so that it does not die of a closed pipe.
 * Source: core 2.5, 3. */
#ifndef PROCESS_PROCESS_H
#define PROCESS_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/str.h"
#include "process/process_fds.h"
#include "process/process_reaper.h" /* process_reaper_stop: for front ends */
#include "protocol/record/enum.h"

struct error;
struct loop;
struct process;

enum { PROCESS_DRAIN_MS = 2000 }; /* core 2.5; unified exec waits 50 (core 3) */

/* The variable that tells a command which sandbox it runs in. Only a launch sets it. */
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
	const struct launch *launch; /* executed in place of argv and env; NULL: these */
	const char *const *env;      /* ends with NULL; all that the command gets, but for our mark */
	const char *cwd;             /* absolute; NULL: ours */
	bool checks_program;         /* with a launch: fail if argv[0] is no program, as without one */
	bool stdin_open;             /* a pipe for process_write_stdin; else /dev/null */
	bool merge_output;           /* both streams through one pipe, in the order written, reported as stdout */
	/* A terminal of this size for input and output, which is all reported as stdout; NULL: pipes. */
	const struct pty_size *terminal;
	uint64_t drain_ms;
};

struct process_result {
	int exit_code;             /* -1 if a signal ended it */
	int signal;                /* 0 if it exited */
	bool is_cut;               /* a background process still held the output when drain_ms were over */
	uint64_t wall_ms;          /* from start to exit */
	const struct error *error; /* why it never ran; exit_code is -1 then. NULL: it ran */
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
struct process *process_start(struct loop *loop, const struct process_spec *spec, const struct process_handler *handler,
                              void *self, struct error *err);
/* Frees it; handlers run no more; may be called from a handler. A command that still runs is killed with its whole
 * tree at once; what an ended one left in the background goes on. NULL is fine. */
void process_destroy(struct process *process);

bool process_is_running(const struct process *process);

/* Copies bytes and writes them as the command takes them. ERR_busy if LIMIT_EXEC_STDIN bytes wait already, ERR_io if
 * its stdin is closed. */
int process_write_stdin(struct process *process, struct str bytes, struct error *err);
/* End of input, after what is still to be written; at a terminal as if Ctrl-D was typed. */
void process_close_stdin(struct process *process);

/* Ends the whole tree, also members that left the group and the session, also after the command itself has
 * exited: TERM now, KILL to what is left after LIMIT_KILL_GRACE_MS. */
void process_kill(struct process *process);
/* The same without a word: KILL at once. */
void process_kill_now(struct process *process);

/* The command's terminal gets another size; ERR_unsupported if it has none, or has left it. */
int process_resize(struct process *process, const struct pty_size *size, struct error *err);

/* Back-pressure: no on_output between pause and resume, and the command blocks when the pipe is full. The drain
 * time stands still meanwhile. Nests: as many resumes as there were pauses. */
void process_pause(struct process *process);
void process_resume(struct process *process);

/* For a command that prints more than anybody keeps. process_widen makes its output pipe hold PROCESS_WIDE_PIPE
 * bytes; false where the system refuses. process_skip throws away what waits in the pipe but its last `keep` bytes,
 * without reading it, and returns how much that was. Output must be merged, and paused. */
enum { PROCESS_WIDE_PIPE = 1024 * 1024 };
bool process_widen(struct process *process);
uint64_t process_skip(struct process *process, size_t keep);

#endif
