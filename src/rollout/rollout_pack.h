/* rollout_pack.h — compresses the files of cold sessions: .jsonl becomes .jsonl.zst.
 *
 * A session is cold if its file has not been written for seven days; the file keeps its times. The session's lock is
 * held while its file is compressed. A pass leaves a mark below <home>/.tmp, so that codex 0.169 and this program run
 * at most one pass in six hours.
 *
 * Owns: nothing. Blocking: on a worker. Any thread. Errors: ERR_unsupported (no libzstd), a folder that cannot be read,
 * a mark that cannot be created. A file that cannot be compressed is skipped, which is not an error. Source:
 * rollout/compress of codex 0.169. */
#ifndef ROLLOUT_ROLLOUT_PACK_H
#define ROLLOUT_ROLLOUT_PACK_H

#include <stdatomic.h>

#include "base/error.h"

/* When *stop is set, the pass ends after the current file and removes its mark, so that the next pass is not
 * delayed. */
must_check int rollout_pack_all(const char *home, const atomic_bool *stop, struct error *err);

#endif
