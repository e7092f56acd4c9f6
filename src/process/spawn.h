/* spawn.h — one new process and its exec, right in every detail, and nothing more.
 *
 * The new process has its own session and process group, only descriptors 0–2 (and one more if asked), default signal
 * dispositions and an empty mask, and gets SIGTERM when the thread that made it ends.
 * Owns nothing: the caller watches and reaps the pid (loop/child). Thread: one that outlives the child.
 * Source: core 2.5. */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

struct error;

enum { SPAWN_EXTRA_FD = 3 };

struct spawn_plan {
	const char *path;        /* the file to execute; relative to cwd */
	const char *const *argv; /* ends with NULL */
	const char *const *env;  /* ends with NULL */
	const char *cwd;         /* NULL: ours */
	int fds[3];              /* become 0, 1 and 2; stay open here */
	int extra_fd;            /* becomes SPAWN_EXTRA_FD; stays open here; 0: none */
	bool has_terminal;       /* 0 is a terminal, and controls the new session */
	bool adopts_orphans;     /* nothing below it gets away from it while it runs: it is a child subreaper */
	unsigned patience_ms; /* for the supervisor: it fails if it has not been executed by then; 0: LIMIT_START_MS */
};

/* 0 and *ret_pid once the new program runs; an error ("cannot run X: No such file or directory") and no
 * child if it cannot. Blocks as long as the system takes to open the folder and the file. */
int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err);

/* The same in two steps, of which neither blocks. Until its exec the new process runs in our memory: plan, all that it
 * points to and stack (SPAWN_STACK bytes, aligned to 16) stay as they are until spawn_poll says SPAWN_RUNS, or until
 * the process has been reaped. */
enum { SPAWN_STACK = 16384 };
enum spawn_step { SPAWN_fork, SPAWN_setup, SPAWN_cwd, SPAWN_exec, SPAWN_busy, SPAWN_late };
struct spawn_failure {
	enum spawn_step step;
	int sys; /* errno */
};
enum spawn_state { SPAWN_STARTS, SPAWN_RUNS, SPAWN_FAILED };

/* *ret_report becomes readable once there is something to learn; the caller closes it. -1 and errno: no process. */
pid_t spawn_begin(const struct spawn_plan *plan, void *stack, int *ret_report);
/* SPAWN_RUNS: the program runs, or has ended, or the process was killed before. SPAWN_FAILED: the process ends now, and
 * *ret_failure says why. */
enum spawn_state spawn_poll(int report, struct spawn_failure *ret_failure);
/* Fills err and returns -code. cwd may be NULL. */
int spawn_failure_error(const struct spawn_failure *failure, const char *name, const char *cwd, struct error *err);

/* The program that argv[0] `name` stands for: name itself if it has a slash, else the first executable file of
 * that name in the PATH of env, relative folders taken from cwd (NULL: ours). Owned by the caller; NULL and
 * err if there is none. */
char *spawn_find_program(const char *name, const char *const *env, const char *cwd, struct error *err);

#endif
