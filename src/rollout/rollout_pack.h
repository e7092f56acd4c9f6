/* rollout_pack.h — makes the files of cold sessions smaller: .jsonl becomes .jsonl.zst.
 *
 * Cold is what nobody has written to for seven days; the times of a file stay what they were. Whoever writes to a
 * session keeps it: its lock is taken for as long as its file is packed. A pass leaves a mark below <home>/.tmp, by
 * which 0.169 and this program know that within six hours there need not be another.
 *
 * Owns: nothing. Blocking: on a worker. Any thread. Errors: ERR_unsupported (no libzstd), a folder that cannot be read,
 * a mark that cannot be made. A file that cannot be packed stays as it is, which is no error. Source: the 0.169 schema
 * of rollout/compress, and what it does. */
#ifndef ROLLOUT_ROLLOUT_PACK_H
#define ROLLOUT_ROLLOUT_PACK_H

#include <stdatomic.h>

#include "base/error.h"

/* Ends early, with nothing half done, when *stop is set; the next pass is then not held up by the mark. */
must_check int rollout_pack_all(const char *home, const atomic_bool *stop, struct error *err);

#endif
