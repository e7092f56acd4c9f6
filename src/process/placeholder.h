/* placeholder.h — an empty folder at a free name that a command must not take.
 *
 * A mount can protect only a path that exists. So while commands may run, `.git`, `.codex` and `.agents` exist: as
 * empty folders, recognised by their mode (DIR_PLACEHOLDER_MODE) and removed when the last engine that needs them ends.
 * Removing one while a command runs would remove its protection, so every engine that relies on one holds a lock on it.
 *
 * Owns: the folders and their locks, one set per thread. Thread: the loop's. */
#ifndef PROCESS_PLACEHOLDER_H
#define PROCESS_PLACEHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/* True if st is that of a placeholder. */
bool placeholder_is(const struct stat *st);
/* Makes the folder unless something exists at path, and holds it until placeholders_release. *ret_is_there is false if
 * no process of this user could create the path. ERR_busy if another engine does not finish removing it; waits for
 * that, as a rule for microseconds and at most about a second. */
must_check int placeholder_hold(const char *path, bool *ret_is_there, struct error *err);
/* No command of this engine runs any more: removes the folders that no other process holds. */
void placeholders_release(void);
/* Releases all locks without removing a folder. */
void placeholders_drop(void);

/* The supervisor (supervisor.h) holds them, too, so that they are removed when the engine is killed. give runs for each
 * one that this supervisor does not hold yet, and returns whether it was sent; the descriptor carries the lock. */
typedef bool (*placeholder_give_fn)(const char *path, int fd, void *self);
bool placeholders_give(pid_t supervisor, placeholder_give_fn give, void *self);
/* In the supervisor: takes fd. */
void placeholder_take(const char *path, int fd);
/* In the supervisor, at its start: forgets those of the engine, whose descriptors it has closed. */
void placeholders_forget(void);

#endif
