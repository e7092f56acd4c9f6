/* supervisor.h — the process that is the parent of all commands of an engine.
 *
 * A supervisor is forked when the first command starts. It starts commands on request, reaps their orphans and
 * sleeps otherwise. It is a child subreaper, so no process below it can detach itself from it: not by a double fork,
 * a new session or a cleared environment. A socket ties its life to the engine's: when the engine exits or is killed by
 * any signal, the socket closes, and the supervisor terminates everything below it, with TERM first and KILL after
 * LIMIT_KILL_GRACE_MS, and then itself. Processes of another user, which it may not signal, survive.
 *
 * If the supervisor is killed, its commands get TERM and are reported as killed, even if their start was not reported
 * yet, because they may have run. Such a command is found by its environment only, because its pid is not known. The
 * next command gets a new supervisor.
 *
 * The loop never waits for it: a command is requested, and its progress is reported later. A start that the system
 * delays (a folder or a file on a file system that does not answer) delays nothing else; after LIMIT_START_MS it
 * fails and its process is killed. If the supervisor does not answer because it was stopped, requests fail after
 * LIMIT_SUPERVISOR_MS. When it continues, it refuses them, and a command that it was just starting is terminated.
 *
 * Owns: the supervisor, one per thread, because each engine of libcodex has its own thread. Thread: the loop's. */
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
	/* The command's file was executed. Called only for commands with a terminal or reports_run. */
	void (*on_run)(void *self);
	/* Runs once and last: the command has ended with this status of waitpid(2), or err is the reason why it never
	 * ran. */
	void (*on_end)(int wait_status, const struct error *err, void *self);
	/* The supervisor does not answer. on_start and on_end may still follow. */
	void (*on_silence)(const struct error *err, void *self);
};

/* One command; embedded in its owner, which sets it to zero before the start. */
struct supervisor_child {
	pid_t pid;       /* 0 until on_start; read-only, like is_running */
	bool is_running; /* on_end has not run yet */
	bool is_reaped;  /* in on_start: the process has ended, and its pid may belong to another one */
	/* private */
	struct supervisor *supervisor;
	struct list link;
	uint32_t id;
	uint64_t asked_ms;
	bool is_overdue;  /* on_silence was called */
	bool is_unsent;   /* the supervisor has ended and did not get the request */
	char *name, *cwd; /* shown in errors */
	const struct supervisor_handler *handler;
	void *self;
};

/* Requests a command, as spawn_start starts one. handler must outlive it. ERR_busy if LIMIT_COMMANDS run already. */
must_check int supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                                const struct supervisor_handler *handler, void *self, struct error *err);
/* Detaches the child: none of its handlers runs any more. No-op after on_end. */
void supervisor_forget(struct supervisor_child *child);
/* Returns the process that all commands of this thread descend from, or 0 without a supervisor. */
pid_t supervisor_pid(void);
/* Terminates everything below the supervisor, and the supervisor. Blocks until it has ended. Returns how many
 * processes could not be terminated (they belong to another user, or hang in the kernel). No handler runs any more.
 * No-op without a supervisor. */
size_t supervisor_end(void);
/* As supervisor_end, for a program that exits next: waits for a fraction of LIMIT_HURRY_MS; then the supervisor
 * continues alone. False if it has not ended yet; then init reaps it. */
bool supervisor_leave(void);

#endif
