/* placeholder.h — empty folders that keep commands from creating certain names.
 *
 * A mount can protect only a path that exists. So while commands may run, `.git`, `.codex` and `.agents` exist: as
 * empty folders, recognised by their mode (DIR_PLACEHOLDER_MODE) and removed when the last engine that needs them
 * ends. Removing one while a command runs would remove its protection, so every engine that relies on one holds a
 * lock on it.
 *
 * Owns: the folders and their locks, one set per thread. Thread: the loop's. */
#ifndef PROCESS_PLACEHOLDER_H
#define PROCESS_PLACEHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/error.h"

/* True if st describes a placeholder. */
bool placeholder_is(const struct stat *st);
/* Creates the folder unless something exists at path, and holds it until placeholders_release. *ret_is_there is
 * false if no process of this user could create the path. If another engine is removing the folder, waits for that,
 * usually microseconds and at most about a second; then ERR_busy. */
must_check int placeholder_hold(const char *path, bool *ret_is_there, struct error *err);
/* Removes the folders that no other process holds. To be called when no command of this engine runs any more. */
void placeholders_release(void);
/* Releases all locks without removing a folder. */
void placeholders_drop(void);

/* Passes placeholders to the supervisor (supervisor.h), which removes them if the engine is killed. give runs for
 * each placeholder that this supervisor does not hold yet, and returns whether it was sent; the descriptor carries
 * the lock. */
typedef bool (*placeholder_give_fn)(const char *path, int fd, void *self);
bool placeholders_give(pid_t supervisor, placeholder_give_fn give, void *self);
/* In the supervisor: takes ownership of fd. path: shorter than PATH_MAX. */
void placeholder_take(const char *path, int fd);
/* In the supervisor, at its start: forgets the engine's placeholders, whose descriptors it has closed. */
void placeholders_forget(void);

#endif
