/* supervisor.h — the process that all commands of an engine are children of.
 *
 * A supervisor is forked when the first command starts, and is nearly nothing: it starts commands as it is told, reaps
 * whatever they leave, and sleeps. As a child subreaper it is the one process that nobody below it can get away from:
 * neither a double fork nor a session or an empty environment of its own does. Its life is tied to the engine's
 * by a socket: when that closes, because the engine ends or was killed by whatever signal, the supervisor ends
 * everything below it, TERM first and KILL after LIMIT_KILL_GRACE_MS, and then itself.
 *
 * If the supervisor is killed, its commands get TERM, are told as killed, and the next command gets a new one.
 *
 * Nobody waits for it: a command is asked for, and what becomes of it is reported later. A start that the system holds
 * up (a folder or a file on a file system that does not answer) holds up nothing else; after LIMIT_START_MS it fails
 * and its process is killed. A supervisor that does not answer (it was stopped) is left alone: what is asked of it
 * fails after LIMIT_SUPERVISOR_MS, and what it starts of that later is ended.
 *
 * Owns: the supervisor, one a thread, as an engine of libcodex has a thread. Thread: the loop's.
 * Source: issue "no process left behind"; core 2.5. */
#ifndef PROCESS_SUPERVISOR_H
#define PROCESS_SUPERVISOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/list.h"

struct error;
struct supervisor;
struct loop;
struct spawn_plan;

/* None runs inside the call that caused it. */
struct supervisor_handler {
	/* There is a process. It may not have executed its file yet. */
	void (*on_start)(void *self);
	/* It has executed its file. For commands with a terminal or reports_run only. */
	void (*on_run)(void *self);
	/* Once, the last to run: it has ended, with the status of waitpid(2), or err says why it never ran. */
	void (*on_end)(int wait_status, const struct error *err, void *self);
	/* The supervisor does not answer. It may do so later. */
	void (*on_silence)(const struct error *err, void *self);
};

/* One command; embedded in its owner, zero before its start. */
struct supervisor_child {
	pid_t pid;       /* read-only, as is: 0 until on_start */
	bool is_running; /* on_end is still to come */
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

/* Asks for a command as spawn_start starts one. handler must stay. ERR_busy if LIMIT_COMMANDS run already. */
int supervisor_spawn(struct loop *loop, const struct spawn_plan *plan, struct supervisor_child *child,
                     const struct supervisor_handler *handler, void *self, struct error *err);
/* No handler of it runs any more. Fine if on_end has run, or never will. */
void supervisor_forget(struct supervisor_child *child);
/* Below it are all commands of this thread and what came of them. 0: there is none. */
pid_t supervisor_pid(void);
/* Ends everything below the supervisor, and it. Blocks until that is gone. Returns how many processes would not end
 * (they belong to another user by now, or hang in the kernel). Fine if there is no supervisor. No handler runs any
 * more. */
size_t supervisor_end(void);
/* The same for a program that ends now: waits for a fraction of LIMIT_HURRY_MS only, and the supervisor does the rest
 * by itself. False: it is still at it; whoever adopts the children of this process reaps it. */
bool supervisor_leave(void);

#endif
