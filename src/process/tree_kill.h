/* tree_kill.h — signals to all members of a command's tree, or to everything below a process.
 *
 * root: the process below which all commands are, or 0; it is never signalled itself. mark: the command whose tree
 * is meant; NULL: everything below root. known: processes seen before, which remain members, as do their
 * descendants, even after their parents have ended; new ones are added. Reads /proc; without it only the process
 * group of the command is reached. Thread: any. */
#ifndef PROCESS_TREE_KILL_H
#define PROCESS_TREE_KILL_H

#include <stdbool.h>
#include <stddef.h>

#include "process/process_tree.h"

/* Sends sig to all members, unless it is 0. Returns how many members are alive. */
size_t tree_signal(pid_t root, const struct process_mark *mark, struct process_tree *known, int sig);
/* Sends SIGKILL to all members. False if new members still appeared after LIMIT_KILL_ROUNDS rounds. */
bool tree_kill(pid_t root, const struct process_mark *mark, struct process_tree *known);

#endif
