/* keeper.h — the process that all commands of an engine are children of.
 *
 * A keeper is forked when the first command starts, and is nearly nothing: it starts commands as it is told, reaps
 * whatever they leave, and sleeps. As a child subreaper it is the one process that nobody below it can get away from:
 * neither a double fork nor a session or an empty environment of its own does. Its life is tied to the engine's
 * by a socket: when that closes, because the engine ends or was killed by whatever signal, the keeper ends everything
 * below it, TERM first and KILL after LIMIT_KILL_GRACE_MS, and then itself.
 *
 * If the keeper is killed, its commands get TERM, are told as killed, and the next command gets a new one.
 *
 * Owns: the keeper, one a thread, as an engine of libcodex has a thread. Thread: the loop's.
 * Source: issue "no process left behind"; core 2.5. */
#ifndef PROCESS_KEEPER_H
#define PROCESS_KEEPER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/list.h"

struct error;
struct keeper;
struct loop;
struct spawn_plan;

typedef void (*keeper_exit_fn)(int wait_status, void *self);

/* One command; embedded in its owner, zero before its start. */
struct keeper_child {
	pid_t pid;       /* read-only, as is: */
	bool is_running; /* its end has not been told */
	/* private */
	struct keeper *keeper;
	struct list link;
	keeper_exit_fn on_exit;
	void *self;
};

/* As spawn_start. on_exit runs once, later, with the status of waitpid(2). ERR_busy if LIMIT_COMMANDS run already. */
int keeper_spawn(struct loop *loop, const struct spawn_plan *plan, struct keeper_child *child, keeper_exit_fn on_exit,
                 void *self, struct error *err);
/* on_exit will not run. Fine if it has, or never will. */
void keeper_forget(struct keeper_child *child);
/* Below it are all commands of this thread and what came of them. 0: there is none. */
pid_t keeper_pid(void);
/* Ends everything below the keeper, and it. Blocks until that is gone. Returns how many processes would not end (they
 * belong to another user by now, or hang in the kernel). Fine if there is no keeper. on_exit runs no more. */
size_t keeper_end(void);
/* The same for a program that ends now: waits for a fraction of LIMIT_HURRY_MS only, and the keeper does the rest by
 * itself. False: it is still at it; whoever adopts the children of this process reaps it. */
bool keeper_leave(void);

#endif
