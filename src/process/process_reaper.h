/* process_reaper.h — termination of the processes that commands leave.
 *
 * All commands are below a supervisor (supervisor.h), which reaps their orphans. The reaper terminates
 *
 *  - the tree of a command that is interrupted, times out or is destroyed: TERM at once, and KILL to
 *    what is left LIMIT_KILL_GRACE_MS later;
 *  - everything else when the engine exits (process_reaper_stop) or is killed. Until then, background
 *    processes of a command that has ended by itself (`server &`) continue, so that later commands can use them.
 *
 * Owns: kill jobs, one set per thread. Thread: the loop's. No polling. */
#ifndef PROCESS_PROCESS_REAPER_H
#define PROCESS_PROCESS_REAPER_H

#include <stddef.h>

#include "base/list.h"
#include "process/process_tree.h"

struct loop;

/* Terminates everything that commands of this thread have left, with SIGTERM and then SIGKILL. The owner of the loop
 * calls it before it destroys the loop. Blocks until all have ended, and returns at once if nothing is left. on_end
 * does not run for commands that were still running. Returns how many processes could not be terminated. Commands can
 * be started again afterwards. */
size_t process_reaper_stop(void);
/* As process_reaper_stop, for a program that exits next: waits briefly (supervisor_leave), and the supervisor, which
 * outlives the engine, terminates the rest. True if everything has ended. */
bool process_reaper_leave(void);

/* One command, from before its start until its owner is freed. For process.c only. */
struct reaped_command {
	struct list link;
	struct process_mark mark;
	bool is_condemned; /* the tree has been killed, or is about to be */
	bool is_urgent;    /* by SIGKILL; otherwise by SIGTERM first */
	struct loop *loop;
	void (*on_stop)(struct reaped_command *reaped); /* called when the reaper stops: release everything */
};

void process_reaper_add(struct reaped_command *reaped); /* also creates the mark */
void process_reaper_remove(struct reaped_command *reaped);
/* To be called when the command has a process. Carries out a kill that came before and found no process, with the
 * signal of that kill; one that found processes of it continues, and the command gets its SIGTERM if it was not among
 * them. is_reaped: it has ended. */
void process_reaper_started(struct reaped_command *reaped, pid_t pid, bool is_reaped);
/* To be called when the command itself has been reaped. */
void process_reaper_ended(struct reaped_command *reaped);
/* Terminates the tree: SIGTERM now, SIGKILL later. */
void process_reaper_kill(struct reaped_command *reaped);
/* Sends SIGKILL to the tree now. */
void process_reaper_kill_now(struct reaped_command *reaped);

#endif
