/* rollout_fork.h — a new rollout that begins with the lines of another.
 *
 * Blocking; any thread. Owns: nothing. What is written is a whole file, or none. Source: core 10, wire 12. */
#ifndef ROLLOUT_ROLLOUT_FORK_H
#define ROLLOUT_ROLLOUT_FORK_H

#include <stddef.h>

#include "base/error.h"

struct rollout_meta;
struct rollout_reader;

/* The first `count` records behind meta, at path, which must not exist; folders above it are made. Where a reference
 * to the reader's files will do (the fork lies in the same home, its lines are numbered), nothing is copied. What meta
 * says of a base is not looked at. */
must_check int rollout_fork(const struct rollout_reader *reader, size_t count, const struct rollout_meta *meta,
                            const char *path, struct error *err);

/* A fork of the session at path with all its records, as a new one in home's sessions that `originator` has begun by
 * `codex exec`. Returns its path, the caller's; NULL and err. */
char *rollout_fork_whole(const char *home, const char *path, const char *originator, struct error *err);

#endif
