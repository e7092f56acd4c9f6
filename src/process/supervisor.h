/* supervisor.h — the process that is the parent of all commands of an engine.
 *
 * A supervisor is forked when the first command starts. It starts commands on request, reaps their orphans and sleeps
 * otherwise. It is a child subreaper, so no process below it can escape: not by a double fork, a session or an
 * environment of its own. A socket ties its life to the engine's: when the engine ends, in order or by any signal,
 * the socket closes, and the supervisor terminates everything below it, with TERM first and KILL after
 * LIMIT_KILL_GRACE_MS, and then itself.
 *
 * If the supervisor is killed, its commands get TERM and are reported as killed, and the next command gets a new
 * supervisor.
 *
 * The loop never waits for it: a command is requested, and what happens to it is reported later. A start that the
 * system delays (a folder or a file on a file system that does not answer) delays nothing else; after LIMIT_START_MS
 * it fails and its process is killed. If the supervisor does not answer because it was stopped, requests fail after
 * LIMIT_SUPERVISOR_MS. When it continues, it refuses them, and a command that it was just starting is terminated.
 *
 * Owns: the supervisor, one per thread, as an engine of libcodex has a thread. Thread: the loop's. */
#ifndef PROCESS_SUPERVISOR_H
#define PROCESS_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "base/list.h"

struct error;
struct supervisor;
struct loop;
struct spawn_plan;

/* No handler runs inside the call that caused it. */
struct supervisor_handler {
	/* The command has a process, which may not have executed its file yet. */
	void (*on_start)(void *self);
	/* It has executed its file. For commands with a terminal or reports_run only. */
	void (*on_run)(void *self);
	/* Runs once and last: the command has ended with this status of waitpid(2), or err is the reason why it never
	 * ran. */
	void (*on_end)(int wait_status, const struct error *err, void *self);
	/* The supervisor does not answer. on_start and on_end may still follow. */
	void (*on_silence)(const struct error *err, void *self);
};

/* One command; embedded in its owner, which sets it to zero before the start. */
struct supervisor_child {
	pid_t pid;       /* read-only, like is_running: 0 until on_start */
	bool is_running; /* on_end has not run yet */
	/* private */
	struct supervisor *supervisor;
	struct list link;
	uint32_t id;
	uint64_t asked_ms;
	bool is_overdue;  /* on_silence has run */
	char *name, *cwd; /* for errors */
	const struct supervisor_handler *handler;
	void *self;
};

/* Requests a command as spawn_start starts one. handler must stay. ERR_busy if LIMIT_COMMANDS run already. */
must_check int supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                                const struct supervisor_handler *handler, void *self, struct error *err);
/* No handler of this child runs any more. No-op after on_end. */
void supervisor_forget(struct supervisor_child *child);
/* All commands of this thread, and their descendants, are below it. 0: there is no supervisor. */
pid_t supervisor_pid(void);
/* Terminates everything below the supervisor, and the supervisor. Blocks until it has ended. Returns how many
 * processes could not be terminated (they belong to another user, or hang in the kernel). No-op without a supervisor.
 * No handler runs any more. */
size_t supervisor_end(void);
/* The same for a program that exits next: waits for a fraction of LIMIT_HURRY_MS, and the supervisor does the rest by
 * itself. False: it has not ended yet; the process that adopts the children of this one reaps it. */
bool supervisor_leave(void);

#endif
