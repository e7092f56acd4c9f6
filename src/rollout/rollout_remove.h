/* rollout_remove.h — removes the files of a session from a home.
 *
 * Blocking: on a worker. The caller holds the session's lock (rollout_lock.h). Owns: nothing. Errors: ERR_not_found;
 * ERR_invalid if a fork still refers to one of the files, in which case none is removed. */
#ifndef ROLLOUT_ROLLOUT_REMOVE_H
#define ROLLOUT_ROLLOUT_REMOVE_H

#include "base/error.h"
#include "base/str.h"

must_check int rollout_remove(const char *home, struct str thread_id, struct error *err);

#endif
