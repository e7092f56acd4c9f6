/* acp_replay.h — encodes the history of a stored session as updates, for session/load.
 *
 * Owns: nothing. Any thread; blocks. */
#ifndef ACP_ACP_REPLAY_H
#define ACP_ACP_REPLAY_H

#include "base/buf.h"
#include "base/error.h"

/* Appends a frame for each update. Errors: those of rollout_reader.h; ERR_limit if the history does not fit. */
must_check int acp_replay_write(const char *path, struct str session_id, struct buf *out, struct error *err);

#endif
