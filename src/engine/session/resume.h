/* resume.h — a Session that goes on where a rollout ends. Private to engine/. */
#ifndef ENGINE_RESUME_H
#define ENGINE_RESUME_H

#include "base/str.h"

struct context_mark;
struct error;
struct resume_load;
struct session;
struct session_env;

/* What has to be loaded to resume the rollout at path; resume_load_run does it. */
struct resume_load *session_resume_plan(const struct session_env *env, struct str path);
/* Takes the thread id, history, usage and last settings from the rollout that was loaded (session->resumed), which is
 * continued from now on. The session must be new. */
int session_resume(struct session *session, struct error *err);
/* The events that a client is shown after a resume, as a JSON array; absent if nobody looks, there are none, or they
 * are too many: the rollout has them. Borrowed until session_resume_tell. */
struct str session_resume_messages(const struct session *session);
/* Takes the history anew from the session's own rollout: what memory has lost to a compaction is still there. No Task
 * may run. */
int session_reread(struct session *session, struct error *err);
/* Warns of what is worth knowing about the rollout that was taken over, if one was: after session_configured. */
void session_resume_tell(struct session *session);

/* Records that the last user_turns turns were taken back. */
void session_record_rewind(struct session *session, size_t user_turns);
/* Removes the items after the mark, also from the rollout. No Task may run. */
void session_rewind(struct session *session, const struct context_mark *mark);
/* Removes all items and continues from a response that only the provider has. No Task may run. */
void session_go_elsewhere(struct session *session, struct str response_id);

#endif
