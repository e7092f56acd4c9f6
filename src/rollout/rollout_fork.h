/* rollout_fork.h — creates a rollout that begins with the lines of another one.
 *
 * Blocking; any thread. Owns: nothing. The file is written completely or not at all. */
#ifndef ROLLOUT_ROLLOUT_FORK_H
#define ROLLOUT_ROLLOUT_FORK_H

#include <stddef.h>

#include "base/error.h"

struct rollout_meta;
struct rollout_reader;

/* Writes the first `count` records after meta to path, which must not exist; parent folders are created. If possible
 * (the fork is in the same home and its lines are numbered), the fork refers to the reader's files and nothing is
 * copied. The base in meta is ignored. */
must_check int rollout_fork(const struct rollout_reader *reader, size_t count, const struct rollout_meta *meta,
                            const char *path, struct error *err);

/* Forks the session at path with all its records, as a new session in home that `originator` has started with `codex
 * exec`. Returns its path, owned by the caller; NULL and err on failure. */
must_check char *rollout_fork_whole(const char *home, const char *path, const char *originator, struct error *err);

#endif
