/* process_reaper.h — no process left behind.
 *
 * All commands are below a supervisor (supervisor.h), which reaps what they leave. Ended are
 *  - the tree of a command that is interrupted, times out or is destroyed: at once, TERM and then,
 *    LIMIT_KILL_GRACE_MS later, KILL to what is left;
 *  - everything else when the engine ends, whether it says so (process_reaper_stop) or is killed. Until then
 *    what a command that ended by itself left in the background (`server &`) goes on, so that later commands
 *    can use it.
 *
 * Owns: kill jobs; one set per thread, as an engine of libcodex has one. Thread: the loop's only. No polling.
 * Source: core 2.5, 3. */
#ifndef PROCESS_PROCESS_REAPER_H
#define PROCESS_PROCESS_REAPER_H

#include <stddef.h>

#include "base/list.h"
#include "process/process_tree.h"

struct loop;

/* For who runs the loop, before it is destroyed: ends everything that commands of this thread have left, TERM and then
 * KILL. Blocks until it is gone; at once if there is nothing. Commands that still ran are over without on_end. Returns
 * how many processes would not end. Commands may be started anew after it. */
size_t process_reaper_stop(void);
/* The same for a program that ends next: waits a moment at most (supervisor_leave); what does not end on TERM by then
 * is left to the supervisor, which outlives the engine for that. True if all has ended already. */
bool process_reaper_leave(void);

/* For process.c: one command as the reaper knows it, from before its start until its owner is freed. */
struct reaped_command {
	struct list link;
	struct process_mark mark;
	bool is_condemned; /* its tree has been killed, or will be */
	struct loop *loop;
	void (*on_stop)(struct reaped_command *reaped); /* the reaper stops: let go of everything */
};

void process_reaper_add(struct reaped_command *reaped); /* also makes the mark */
void process_reaper_remove(struct reaped_command *reaped);
/* The command itself has been waited for. */
void process_reaper_ended(struct reaped_command *reaped);
/* Ends the tree: TERM now, KILL later. */
void process_reaper_kill(struct reaped_command *reaped);
/* Ends the tree with KILL now. */
void process_reaper_kill_now(struct reaped_command *reaped);

#endif
