/* spawn.h — starts one new process.
 *
 * The new process has its own session and process group, only the descriptors 0 to 2 (and one more if requested),
 * default signal dispositions and an empty signal mask. It gets SIGTERM when the thread that created it ends.
 *
 * Owns nothing: the caller watches and reaps the pid (loop/child). Thread: any that outlives the child. */
#ifndef PROCESS_SPAWN_H
#define PROCESS_SPAWN_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/error.h"

struct arena;
struct error;

enum { SPAWN_EXTRA_FD = 3 };

/* All lists end with NULL. Relative paths are relative to cwd. */
struct spawn_plan {
	const char *name;          /* the command's name, for errors; NULL: argv[0] */
	const char *const *paths;  /* candidates: the first one that can be executed is executed */
	const char *const *wanted; /* unless NULL, one of these files must be executable, or the start fails */
	const char *const *argv;
	const char *const *env;
	const char *cwd;     /* NULL: the engine's */
	int fds[3];          /* become descriptors 0, 1 and 2; stay open in the engine */
	int extra_fd;        /* becomes SPAWN_EXTRA_FD; stays open in the engine; 0: none */
	bool has_terminal;   /* descriptor 0 becomes the controlling terminal of the new session */
	bool adopts_orphans; /* the process becomes a child subreaper */
	/* Set by the supervisor only. */
	bool reports_run;    /* report when the program was executed */
	unsigned timeout_ms; /* time until the exec; 0: LIMIT_START_MS */
};

/* Starts the program and waits for its exec. Returns 0 and *ret_pid, or an error ("cannot run X: No such file or
 * directory"), after which there is no child. Blocks while the system opens the folder and the file. */
must_check int spawn_start(const struct spawn_plan *plan, pid_t *ret_pid, struct error *err);

/* spawn_begin and spawn_poll are spawn_start in two steps that do not block. Until its exec the new process runs in
 * the memory of the engine: plan, all that it points to and stack (SPAWN_STACK bytes, aligned to 16) must not change
 * until spawn_poll returns SPAWN_RUNS, or until the process has been reaped. */
enum { SPAWN_STACK = 16384 };
enum spawn_step { SPAWN_fork, SPAWN_setup, SPAWN_cwd, SPAWN_exec, SPAWN_busy, SPAWN_late, SPAWN_expired };
struct spawn_failure {
	enum spawn_step step;
	int sys; /* errno */
};
enum spawn_state { SPAWN_STARTS, SPAWN_RUNS, SPAWN_FAILED };

/* *ret_report becomes readable when spawn_poll has a result; the caller closes it. Returns -1 and errno if no
 * process was created. */
pid_t spawn_begin(const struct spawn_plan *plan, void *stack, int *ret_report);
/* SPAWN_RUNS: the program was executed and runs or has ended, or the process was killed before its exec.
 * SPAWN_FAILED: the process is ending, for the reason in *ret_failure. */
enum spawn_state spawn_poll(int report, struct spawn_failure *ret_failure);
/* Fills err and returns -code. cwd may be NULL. */
must_check int spawn_failure_error(const struct spawn_failure *failure, const char *name, const char *cwd,
                                   struct error *err);

/* Returns the files that a command's first word can mean: name itself if it has a slash, else name in each folder of
 * env's PATH. Does not access the file system. Allocated in arena; NULL and err if PATH is too long. */
must_check const char *const *spawn_paths(const char *name, const char *const *env, struct arena *arena,
                                          struct error *err);
/* Returns the first of these files that is executable, owned by the caller; relative paths start at cwd (NULL: the
 * engine's). Blocks while the system looks it up. NULL and err if no file is. */
must_check char *spawn_find_program(const char *name, const char *const *env, const char *cwd, struct error *err);

#endif
