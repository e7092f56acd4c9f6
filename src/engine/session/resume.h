/* resume.h — a Session that goes on where a rollout ends. Private to engine/. */
#ifndef ENGINE_RESUME_H
#define ENGINE_RESUME_H

#include "base/str.h"

struct buf;
struct error;
struct session;

/* Takes over the thread id, history, usage and last settings of the rollout at path, and records in it
 * from now on. The session must be new. */
int session_resume(struct session *session, struct str path, struct error *err);
/* The events that a client is shown after a resume, as a JSON array in out; absent if nobody looks, there are none, or
 * they are too many: the rollout has them. To be asked once: the file's bytes are let go with it. */
struct str session_resume_messages(const struct session *session, struct buf *out);
/* Takes the history anew from the session's own rollout: what memory has lost to a compaction is still there. No Task
 * may run. */
int session_reread(struct session *session, struct error *err);
/* Warns of what is worth knowing about the rollout that was taken over, if one was: after session_configured. */
void session_resume_tell(struct session *session);

#endif
