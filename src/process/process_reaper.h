/* process_reaper.h — no process left behind.
 *
 * A front end starts it once, before the first command, and stops it last, before it destroys the loop.
 * In between this process is a child subreaper: whatever a command leaves behind becomes our child, is
 * reaped when it ends, and is ended with the engine at the latest:
 *  - a command that is interrupted, times out or is destroyed: its whole tree at once, TERM and then,
 *    LIMIT_KILL_GRACE_MS later, KILL to what is left;
 *  - a command that ends by itself: what it left in the background (`server &`) goes on, so that later
 *    commands can use it, until process_reaper_stop.
 * An application that embeds the engine may have children of its own and does not start the reaper; then
 * trees are found by session and environment mark alone, and nothing but our own commands is reaped.
 *
 * Owns: kill jobs, watches on orphans; one set per thread, as an engine of libcodex has one; at most one
 * thread starts it. Thread: the loop's only. No SIGCHLD and no polling: what becomes orphaned is
 * discovered when a command or another orphan ends.
 * Source: core 2.5, 3. */
#ifndef PROCESS_PROCESS_REAPER_H
#define PROCESS_PROCESS_REAPER_H

#include <stddef.h>

#include "base/list.h"
#include "process/process_tree.h"

struct loop;

void process_reaper_start(struct loop *loop);
/* Ends everything that is below us: TERM, KILL after LIMIT_KILL_GRACE_MS. Blocks until it is gone; at once if there
 * is nothing. Commands that still ran are over without on_end. Returns how many processes would not
 * end (they belong to another user by now, or hang in the kernel). Fine if never started. */
size_t process_reaper_stop(void);

/* The mark of programs that outlive us, one a thread: whatever carries it in its environment is left alone. */
const struct process_mark *process_reaper_spared(void);
/* Somebody may have become our child: it will be reaped when it ends. */
void process_reaper_look(void);

/* For process.c: one command as the reaper knows it, from before its start until its owner is freed. */
struct process_lineage {
	struct list link;
	struct process_mark mark;
	struct loop *loop;
	void (*on_stop)(struct process_lineage *lineage); /* the reaper stops: let go of everything */
};

void process_reaper_add(struct process_lineage *lineage); /* also makes the mark */
void process_reaper_remove(struct process_lineage *lineage);
/* The command itself has been waited for. */
void process_reaper_ended(struct process_lineage *lineage);
/* Ends the tree: TERM now, KILL later. */
void process_reaper_kill(struct process_lineage *lineage);
/* Ends the tree with KILL now. */
void process_reaper_kill_now(struct process_lineage *lineage);

#endif
