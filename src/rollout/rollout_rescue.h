/* rollout_rescue.h — saves the file of an open session that was deleted or replaced, whose content would be lost when
 * its descriptor is closed.
 *
 * Owns: nothing. Blocking: the bytes are copied. A file that was moved still has a name and is not copied. Source:
 * docs/rollouts.md "Durability". */
#ifndef ROLLOUT_ROLLOUT_RESCUE_H
#define ROLLOUT_ROLLOUT_RESCUE_H

#include <stdbool.h>

#include "base/error.h"

bool rollout_is_lost(int fd, const char *path);
/* Copies the bytes of fd, which is open for reading, to a new file at path or, if that exists, under another name of
 * the same session. Nothing is overwritten. Returns the new descriptor, open for appending and locked, and its path,
 * owned by the caller; or a negative code, in which case no file is left. */
must_check int rollout_rescue(int fd, const char *path, char **ret_path, struct error *err);

#endif
