/* session_code.h — code mode: whether the model gets its tools as functions of scripts, and the program that runs them.
 * Private to engine/. Loop thread only. */
#ifndef ENGINE_SESSION_CODE_H
#define ENGINE_SESSION_CODE_H

#include "base/str.h"

struct buf;
struct conversation;
struct session;
struct settings;

enum code_mode {
	CODE_MODE_none,
	CODE_MODE_beside, /* exec and wait are offered beside all other tools */
	CODE_MODE_only,   /* most tools are offered to scripts alone */
};

enum code_mode session_code_mode(const struct session *session, const struct settings *settings);
/* True if the clock and the other tools of the gpt-6 models exist. */
bool session_has_clock(const struct session *session, const struct settings *settings);
/* Completes the session's host, but for the program. */
void session_code_open(struct session *session);
/* Finds the program that runs scripts; to be called before the model gets a tool that needs it. */
void session_code_need(struct session *session);
void session_code_close(struct session *session);
/* Called when the history loses calls: what scripts still add to it would refer to them. */
void session_forget_scripts(struct session *session);
/* Warns of code mode that the model is not made for, and of scripts that cannot run; once per session. */
void session_warn_code(struct session *session, struct str sub_id, const struct settings *settings);

#endif
