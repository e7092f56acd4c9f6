/* rollout_lock.h — ensures that a session has one writer.
 *
 * The lock is that of codex 0.169: flock on <home>/thread-writer-locks/<thread id>.lock, so that the two programs
 * exclude each other. It ends with the process. Owns: the descriptor and, while locked, the file. Loop thread.
 * Errors: ERR_busy names the holder. On a file system without locks every attempt succeeds. */
#ifndef ROLLOUT_ROLLOUT_LOCK_H
#define ROLLOUT_ROLLOUT_LOCK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct rollout_lock;

must_check struct rollout_lock *rollout_lock_create(const char *home, struct str thread_id, struct error *err);
void rollout_lock_destroy(struct rollout_lock *lock);

/* Locks the open file itself; `path` names it in errors. */
must_check int rollout_lock_fd(int fd, const char *path, struct error *err);

/* To be called after ERR_busy: true if no living process holds the locks of a rollout's session, so that a retry is
 * worthwhile. Their holder is exiting, has ended, or has briefly left them to a child. */
bool rollout_lock_is_ending(const char *rollout_path);

/* True if a process holds the lock on path, as far as the system reports it. Takes no lock. */
bool rollout_lock_find_holder(const char *path, long *ret_pid);

#endif
