/* sandbox_placeholder.h — an empty folder where a name is free that a command must not take.
 *
 * A mount can only guard what is there. So while commands may run, `.git`, `.codex` and `.agents` are there: as empty
 * folders, recognised by their mode (DIR_PLACEHOLDER_MODE) and gone when the last engine that needs them ends. Taking
 * one away while a command runs would take the guard off it, so every engine that counts on one holds a lock.
 *
 * Owns: the folders and their locks, one set a thread. Thread: the loop's. */
#ifndef PROCESS_SANDBOX_PLACEHOLDER_H
#define PROCESS_SANDBOX_PLACEHOLDER_H

#include <stdbool.h>
#include <sys/stat.h>

struct error;

/* True if there is nothing at a path but, at most, a placeholder. */
bool sandbox_placeholder_is(const struct stat *st);
/* From now on there is something at path, until sandbox_placeholders_release. *ret_is_there is false where nobody who
 * runs as we do could make anything. */
int sandbox_placeholder_hold(const char *path, bool *ret_is_there, struct error *err);
/* No command of ours runs any more: takes away what no other engine holds. */
void sandbox_placeholders_release(void);

#endif
