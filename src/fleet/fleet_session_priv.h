/* fleet_session_priv.h — the struct of a session, for the files of fleet_session.h. */
#ifndef FLEET_FLEET_SESSION_PRIV_H
#define FLEET_FLEET_SESSION_PRIV_H

#include "base/vec.h"
#include "engine/codex/codex.h"
#include "fleet/fleet_log.h"
#include "fleet/fleet_rows.h"
#include "fleet/fleet_session.h"
#include "loop/loop.h"
#include "rollout/rollout_sink.h"
#include "server/wire_profile.h"

enum fleet_phase {
	FLEET_LOADING, /* the log is being read */
	FLEET_OPENING, /* the Codex has no session yet */
	FLEET_OPEN,
	FLEET_LETTING_GO, /* the Codex is closed; what is left is stored, then the session is released */
};

struct fleet_waiting {
	struct str entry; /* its id in the stream */
	struct str text;
};

struct fleet_barrier {
	uint64_t number, position;
};

struct session_data {
	struct fleet_session base;
	struct fleet_worker_env *env;
	struct codex *codex;
	struct rollout_sink sink;
	struct wire_style style;
	enum fleet_phase phase;
	uint64_t number;
	unsigned folder_at; /* which of env->folders is used */
	char *folder;
	char *lost; /* the worker before; "" if it let the session go */
	struct fleet_log *log;
	bool has_unpacked; /* the packed part of the log was read */
	size_t unpacked;   /* bytes of lines that are not packed, as far as they are stored */
	bool is_packing;
	struct str log_id; /* the last entry of the log that was read */
	struct fleet_rows rows;
	bool is_emitting, restores, is_holding;
	bool has_error;                    /* the store refuses, and it was reported */
	struct str applied_id;             /* the last submission that was applied or is being applied */
	struct str read_id;                /* the last one that was read */
	VEC(struct fleet_waiting) waiting; /* read, not applied */
	bool is_reading, must_read, is_applying;
	VEC(struct str) begun; /* notes of calls that begin, for the next barrier */
	VEC(struct fleet_barrier) barriers;
	uint64_t barrier_number;
	bool has_urgent; /* more than deltas was emitted since the last cut */
	bool has_ended;  /* shutdown_complete was emitted */
	bool is_releasing, must_requeue;
	struct buf text;
	struct loop_deferred flush;
	struct loop_timer *delta, *idle, *settle;
};

static inline struct session_data *session_data(struct fleet_session *session)
{
	return container_of(session, struct session_data, base);
}

/* ---- fleet_session.c ---- */

void fleet_session_finish(struct session_data *session);
void fleet_session_apply(struct session_data *session);

/* ---- fleet_session_open.c ---- */

void fleet_session_load(struct session_data *session);

/* ---- fleet_session_emit.c: what is stored, and when ---- */

void fleet_session_init_emit(struct session_data *session);
void fleet_session_on_event(const struct event *event, void *self);
/* Adds an event of the worker. */
void fleet_session_add_error(struct session_data *session, struct str id, const char *text);
/* Stores the groups that are complete. */
void fleet_session_send(struct session_data *session);
/* The store refused something: tries again later, or drops the session if its keys have other types. */
void fleet_session_on_error(struct session_data *session, const struct resp *reply);

/* ---- fleet_session_rest.c ---- */

/* Starts the clock after which the session is let go, or lets it go. */
void fleet_session_rest(struct session_data *session);
void fleet_session_release(struct session_data *session);
/* The clock has run out. */
void fleet_session_on_idle(void *self);

#endif
