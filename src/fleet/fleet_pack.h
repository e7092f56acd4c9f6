/* fleet_pack.h — lines of a log, packed with zstd for sessions that rest.
 *
 * Owns: nothing. The store is not trusted: packed lines that unpack to more than LIMIT_FLEET_PACK_LINE bytes above a
 * chunk are refused. libzstd is loaded when it is first used. Any thread. */
#ifndef FLEET_FLEET_PACK_H
#define FLEET_FLEET_PACK_H

#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

struct resp;

/* Appends the packed form of lines, each with its line break. ERR_unsupported: no libzstd. */
must_check int fleet_pack(struct buf *out, struct str lines, struct error *err);
/* Appends the lines. ERR_invalid: damaged, or too large; ERR_limit: no memory. */
must_check int fleet_unpack(struct buf *out, struct str packed, struct error *err);

/* Appends the first lines of a log that make one part, each with its line break. Returns the number of the last one; 0
 * if no line can be packed. */
uint64_t fleet_pack_join(const struct resp *entries, struct buf *out, uint64_t *ret_first);

#endif
