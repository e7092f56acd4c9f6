/* session_window.h — the context window of a model that the catalog does not know: its server is asked if it runs on
 * this machine, and the window that is assumed is reported. Private to engine/. Loop thread only. */
#ifndef ENGINE_SESSION_WINDOW_H
#define ENGINE_SESSION_WINDOW_H

#include "base/str.h"

struct session;
struct settings;

/* Reports what code mode cannot do with the model; then asks for the window of an unknown one, or warns of the one that
 * is assumed; once per session and model. The answer is taken over by these settings and by those of the session while
 * a Task may already run with them. No-op for a known model, or if model_context_window is set. */
void session_check_window(struct session *session, struct str sub_id, struct settings *settings);
/* Drops a question without an answer. */
void session_window_finish(struct session *session);

#endif
