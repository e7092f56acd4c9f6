/* session_open.h — opens, configures and ends a Session. Private to engine/. Loop thread only. */
#ifndef ENGINE_SESSION_OPEN_H
#define ENGINE_SESSION_OPEN_H

#include "base/error.h"
#include "protocol/message/message.h"

struct resume_load;
struct session;
struct session_env;
struct settings;

/* Creates the Session, which borrows env; of its events only warnings are emitted. NULL and err if it cannot be
 * created. load: the rollout that op resumes, or NULL; taken over, also on error. */
must_check struct session *session_create(const struct session_env *env, const struct op_configure_session *op,
                                          struct resume_load *load, struct error *err);
/* Emits session_configured with sub_id, and the events that follow it. */
void session_announce(struct session *session, struct str sub_id);
/* Returns the settings for a further configure_session, owned by the caller; NULL and err if it cannot be applied. */
must_check struct settings *session_check_configure(const struct session *session,
                                                    const struct op_configure_session *op, struct error *err);
/* Applies it; history and id stay. Takes the settings over, also on error. Nothing of the Session may run. */
must_check int session_reconfigure(struct session *session, struct str sub_id, const struct op_configure_session *op,
                                   struct settings *settings, struct error *err);
/* Nothing of the Session may run. NULL is a no-op. */
void session_destroy(struct session *session);

#endif
