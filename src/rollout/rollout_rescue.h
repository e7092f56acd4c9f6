/* rollout_rescue.h — the file of an open session whose last name is gone: it was deleted, or another was put in its
 * place. What is written to it would be lost with the descriptor.
 *
 * Owns: nothing. Blocking: the bytes are copied. A file that was moved still has a name, and is not rescued.
 * Source: docs/rollouts.md "Durability". */
#ifndef ROLLOUT_ROLLOUT_RESCUE_H
#define ROLLOUT_ROLLOUT_RESCUE_H

#include <stdbool.h>

#include "base/error.h"

bool rollout_is_lost(int fd, const char *path);
/* Copies the bytes of fd, which is open for reading, into a new file under that path, or, if there is a file, under
 * another name of the same session: nothing is overwritten. Returns its descriptor, open for appending and locked, and
 * its path, the caller's; or a negative code, and there is no new file. */
must_check int rollout_rescue(int fd, const char *path, char **ret_path, struct error *err);

#endif
