/* tree_kill.h — signals to all members of a command's tree, or to everything below a process.
 *
 * root: the process below which all commands are, or 0 if there is none; it is never signalled itself. mark: the
 * command whose tree is meant; NULL: everything below root. known: members seen before, who stay members, with what is
 * below them, whatever became of their parents; new ones are added. Looks into /proc; without one, the command's
 * process group is all that is reached. Thread: any one. Source: core 2.5. */
#ifndef PROCESS_TREE_KILL_H
#define PROCESS_TREE_KILL_H

#include <stdbool.h>
#include <stddef.h>

#include "process/process_tree.h"

/* How many members are alive. All of them get sig, unless it is 0. */
size_t tree_signal(pid_t root, const struct process_mark *mark, struct process_tree *known, int sig);
/* SIGKILL to all. False if new members still appeared after LIMIT_KILL_ROUNDS looks. */
bool tree_kill(pid_t root, const struct process_mark *mark, struct process_tree *known);

#endif
