/* placeholder.h — an empty folder where a name is free that a command must not take.
 *
 * A mount can only guard what is there. So while commands may run, `.git`, `.codex` and `.agents` are there: as empty
 * folders, recognised by their mode (DIR_PLACEHOLDER_MODE) and gone when the last engine that needs them ends. Taking
 * one away while a command runs would take the guard off it, so every engine that counts on one holds a lock.
 *
 * Owns: the folders and their locks, one set a thread. Thread: the loop's. */
#ifndef PROCESS_PLACEHOLDER_H
#define PROCESS_PLACEHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

struct error;

/* True if there is nothing at a path but, at most, a placeholder. */
bool placeholder_is(const struct stat *st);
/* From now on there is something at path, until placeholders_release. *ret_is_there is false where nobody who
 * runs as we do could make anything. */
int placeholder_hold(const char *path, bool *ret_is_there, struct error *err);
/* No command of ours runs any more: takes away what no other process holds. */
void placeholders_release(void);
/* Lets go of all without taking any away. */
void placeholders_drop(void);

/* The supervisor (supervisor.h) holds them as well, so that they go when the engine is killed. give runs for each that
 * this supervisor has not been given yet, and says whether it took it; a descriptor that holds the place goes with the
 * path. */
typedef bool (*placeholder_give_fn)(const char *path, int fd, void *self);
bool placeholders_give(pid_t supervisor, placeholder_give_fn give, void *self);
/* In the supervisor: takes fd. */
void placeholder_take(const char *path, int fd);
/* In the supervisor, at its beginning: those of the engine's whose descriptors it has closed. */
void placeholders_forget(void);

#endif
