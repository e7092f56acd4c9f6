/* session_aside.h — a conversation beside the user's: a Task that works with a history, a system prompt and tools of
 * its own, while the user's history waits untouched. Private to engine/.
 *
 * One at a time, for one Task. What is said aside goes neither into the user's history nor into the rollout; events are
 * told as ever. Owns: what it put aside. Loop thread only. Source: core 19. */
#ifndef ENGINE_SESSION_ASIDE_H
#define ENGINE_SESSION_ASIDE_H

#include "base/str.h"

struct session;

/* Who asks, and how it is told to work. */
struct session_voice {
	struct str instructions; /* the system prompt */
	const char *subagent;    /* what a provider is told of who asks */
};

/* The Session's history is empty from now on. What the voice points to is borrowed until session_step_back. */
void session_step_aside(struct session *session, const struct session_voice *voice);
/* Everything is as before; what was counted meanwhile stays in the totals. Nothing if the Session is not aside. No
 * request may be borrowing the history. */
void session_step_back(struct session *session);
/* NULL: it is the user's conversation. */
const struct session_voice *session_find_voice(const struct session *session);

#endif
