/* acp_replay.h — reads a stored session: its title and usage, and for session/load its history as updates.
 *
 * Owns: nothing. Any thread; blocks. */
#ifndef ACP_ACP_REPLAY_H
#define ACP_ACP_REPLAY_H

#include "base/buf.h"
#include "base/error.h"
#include "protocol/message/acp.h"
#include "protocol/message/message.h"

struct acp_stored {
	char *title;                      /* the first words of its first prompt, or NULL; owned by the caller */
	struct token_usage usage;         /* of all its responses */
	struct acp_context_usage context; /* after the last one; size 0: unknown */
};

/* out: gets a frame for each update, or NULL. Errors: those of rollout_reader.h; ERR_limit if the history does not fit.
 */
must_check int acp_replay_read(const char *path, struct str session_id, struct buf *out, struct acp_stored *ret,
                               struct error *err);

#endif
