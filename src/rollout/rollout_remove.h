/* rollout_remove.h — removes the files of a session from a home, or moves them between its sessions and its archive.
 *
 * Blocking: on a worker. The caller holds the session's lock (rollout_lock.h). Owns: nothing. Errors: ERR_not_found;
 * ERR_invalid if a fork still refers to one of the files, in which case none is removed. */
#ifndef ROLLOUT_ROLLOUT_REMOVE_H
#define ROLLOUT_ROLLOUT_REMOVE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

/* Moves all files of a session into the archive or back. An open file stays usable. ERR_invalid if a file of that name
 * exists there; the files before it have been moved then. */
must_check int rollout_move(const char *home, struct str thread_id, bool to_archive, struct error *err);

must_check int rollout_remove(const char *home, struct str thread_id, struct error *err);

#endif
