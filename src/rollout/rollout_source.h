/* rollout_source.h — reads the bytes of a rollout from its start, packed (.jsonl.zst) or not.
 *
 * Owns: the descriptor. Blocking; any thread, one at a time. libzstd is loaded when the first packed file is opened.
 * Errors: ERR_invalid (not a regular file, damaged), ERR_unsupported (no libzstd), ERR_limit, and those of open and
 * read. */
#ifndef ROLLOUT_ROLLOUT_SOURCE_H
#define ROLLOUT_ROLLOUT_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <zstd.h>

#include "base/error.h"

struct rollout_source;

must_check struct rollout_source *rollout_source_create(const char *path, struct error *err);
void rollout_source_destroy(struct rollout_source *source); /* NULL is a no-op */

/* Reads at most len bytes; 0 at the end, negative on failure. A damaged archive yields its data up to the damage,
 * except for the part that the failing read has unpacked, and then a failure. */
must_check ssize_t rollout_source_read(struct rollout_source *source, char *out, size_t len, struct error *err);
const struct stat *rollout_source_stat(const struct rollout_source *source);
bool rollout_source_is_packed(const struct rollout_source *source);

/* Unpacks the file at `path` to a file next to it, without .zst in its name, and removes the packed one; a failure
 * leaves no partial file. If the unpacked file exists already, it takes precedence. Returns its path, owned by the
 * caller; or NULL. */
must_check char *rollout_source_unpack(const char *path, struct error *err);

/* The functions of libzstd: zstd->isError is ZSTD_isError, and so on. */
struct rollout_zstd {
#define ZSTD(name) __typeof__(&ZSTD_##name) name;
#include "rollout/rollout_zstd.def"
#undef ZSTD
};
/* Loads libzstd at the first call; NULL if it is not installed. */
const struct rollout_zstd *rollout_source_zstd(void);

#endif
