/* resume.h — replaces the history of a session: by that of a rollout, by a part of its own, or by a response that
 * the provider stores. Private to engine/. Loop thread only. */
#ifndef ENGINE_RESUME_H
#define ENGINE_RESUME_H

#include "base/error.h"
#include "base/str.h"

struct context_mark;
struct resume_load;
struct session;
struct session_env;

/* Returns the job that loads the rollout at path; resume_load_run runs it. Owned by the caller. */
struct resume_load *session_resume_plan(const struct session_env *env, struct str path);
/* Takes thread id, history, usage and last settings from the loaded rollout (session->resumed), to which the session
 * appends from then on. The session must be new. */
must_check int session_resume(struct session *session, struct error *err);
/* Returns the recorded events for the client as a JSON array; STR_NONE if the front end is not interactive, or if
 * they are longer than LIMIT_INITIAL_MESSAGES. Borrowed until session_resume_warn. */
struct str session_resume_messages(const struct session *session);
/* Reads the history again from the Session's own rollout, which has the items that a compaction removed from memory. No
 * Task may run. */
must_check int session_reread(struct session *session, struct error *err);
/* Emits warnings about the resumed rollout (damage, another model), after session_configured. No-op without a resume.
 */
void session_resume_warn(struct session *session);

/* Records that the last user_turns turns were rolled back. */
void session_record_rewind(struct session *session, size_t user_turns);
/* Removes the items after the mark from the history and from the rollout. No task may run. */
void session_rewind(struct session *session, const struct context_mark *mark);
/* Removes all items and continues from a response that only the provider has. No task may run. */
void session_go_elsewhere(struct session *session, struct str response_id);

#endif
