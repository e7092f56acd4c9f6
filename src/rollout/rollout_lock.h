/* rollout_lock.h — one writer a session.
 *
 * The lock is the one that 0.169 takes: flock on <home>/thread-writer-locks/<thread id>.lock, so that a
 * session open here cannot be opened there, and the other way round. It ends with the process.
 * Owns: the descriptor and, while held, the file. Loop thread. Errors: ERR_busy names the holder.
 * A file system without locks is no error: the lock is then held by everybody. */
#ifndef ROLLOUT_ROLLOUT_LOCK_H
#define ROLLOUT_ROLLOUT_LOCK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct rollout_lock;

struct rollout_lock *rollout_lock_create(const char *home, struct str thread_id, struct error *err);
void rollout_lock_destroy(struct rollout_lock *lock);

/* Locks an open file by itself; `path` is for the error. */
must_check int rollout_lock_fd(int fd, const char *path, struct error *err);

/* After ERR_busy: true if no living process holds the locks of a rollout's session. Who held them is ending, has left
 * them with a child for a moment, or is gone by now: it is worth while to try again soon. */
bool rollout_lock_is_ending(const char *rollout_path);

/* True if some process holds the lock on path, as far as the system tells which. Takes none itself. */
bool rollout_lock_find_holder(const char *path, long *ret_pid);

#endif
