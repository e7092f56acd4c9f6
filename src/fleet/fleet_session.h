/* fleet_session.h — one session that this worker owns: its Codex, the submissions that wait for it, and what is not
 * stored yet.
 *
 * It is loaded from its log, continues an unfinished task, applies submissions one at a time, stores their effects and
 * is let go when it is idle. Owns: its Codex and its folder. Borrows: what struct fleet_worker_env has. Loop thread
 * only. */
#ifndef FLEET_FLEET_SESSION_H
#define FLEET_FLEET_SESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "base/str.h"
#include "fleet/fleet_store.h"

struct config;
struct error;
struct fleet_session;
struct loop;
struct services;

/* Shared by all sessions of a worker. */
struct fleet_worker_env {
	struct loop *loop;
	struct services *services;
	struct config *config;
	struct fleet_store *store;
	const char *cwd;
	const char *folders[2]; /* for rollouts: the second one is used when the first one cannot be written */
	uint64_t idle_ms;
	bool is_draining;
	struct {
		uint64_t tasks, takeovers, fenced, events;
	} counts;
	/* The session has ended or was let go: destroy it outside of this call. */
	void (*on_done)(struct fleet_session *session, void *self);
	void *self;
};

struct fleet_session {
	struct list link; /* for the worker */
	struct fleet_lease lease;
	bool is_done;
	bool is_refused; /* this worker cannot open it, another one may */
};

/* taken: the reply of fleet_store_take. number: distinguishes the session's folder. */
struct fleet_session *fleet_session_create(struct fleet_worker_env *env, struct str sid, const struct resp *taken,
                                           uint64_t number);
/* Ends all work of the session without storing anything. NULL is fine. */
void fleet_session_destroy(struct fleet_session *session);
/* There may be submissions. */
void fleet_session_look(struct fleet_session *session);
/* The store can be reached again. */
void fleet_session_on_up(struct fleet_session *session);
/* The store has lost the session: writes again what is kept of it. */
void fleet_session_restore(struct fleet_session *session);
/* Another worker has the session. */
void fleet_session_lose(struct fleet_session *session);
/* The worker drains: an idle session is let go. */
void fleet_session_drain(struct fleet_session *session);
/* Ends the work in progress and lets another worker continue it. */
void fleet_session_hand_over(struct fleet_session *session);

#endif
