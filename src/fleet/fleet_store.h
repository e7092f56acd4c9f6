/* fleet_store.h — the store that the workers of a namespace share: submissions, events, rollouts and leases. Redis
 * Streams implement it (docs/fleet.md has the keys); another store would implement this header.
 *
 * The scripts in script/ are the only writers of a session's state; each refuses unless the epoch is the caller's.
 * Owns: two connections, one for commands and one per blocking read. Borrows: the loop. Loop thread only. */
#ifndef FLEET_FLEET_STORE_H
#define FLEET_FLEET_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "fleet/redis_link.h"

struct buf;
struct fleet_store;
struct loop;
struct resp;

struct fleet_store_options {
	struct loop *loop;
	const struct redis_url *url;
	const char *namespace;
	/* Of a worker; NULL: a client, which only calls fleet_store_command. */
	const char *name;
	const char *host;
	int64_t pid;
	uint64_t lease_ms, most_sessions, max_crashes, events_kept;
};

struct fleet_store_events {
	void (*on_up)(void *self); /* the connection for commands is usable, and the scripts are loaded */
	void (*on_down)(const struct error *err, void *self);
	/* A session wants an owner: call fleet_store_take. is_claimed: its worker was lost. */
	void (*on_work)(struct str sid, struct str entry, bool is_claimed, void *self);
	void (*on_look)(struct str sid, void *self); /* an owned session may have submissions */
	void (*on_drain)(void *self);                /* the worker was asked to drain */
};

/* True for a name that may be part of a key: 1 to 64 of A-Z a-z 0-9 _ - and, for a namespace, a dot. */
bool fleet_name_is_valid(struct str name, bool is_namespace);

must_check struct fleet_store *fleet_store_create(const struct fleet_store_options *options,
                                                  const struct fleet_store_events *events, void *self,
                                                  struct error *err);
void fleet_store_destroy(struct fleet_store *store); /* NULL is fine */
bool fleet_store_is_up(const struct fleet_store *store);
/* Drops the pending calls with this self. */
void fleet_store_forget(struct fleet_store *store, const void *self);

/* Reads as much work as there is room for, until the next call; 0: none. */
void fleet_store_want(struct fleet_store *store, uint64_t room);

/* A session of this worker. */
struct fleet_lease {
	struct str sid;
	uint64_t epoch;
};

/* The replies of the following calls are those of the scripts; NULL: it is unknown whether the call had an effect.
 * False: the store cannot be reached, and fn is not called. */

/* {"taken", epoch, seq, lines, applied, lost owner or ""}, or {"elsewhere" | "mine" | "gone" | "dead"}; gone: this
 * worker has it, and the store has lost it. */
bool fleet_store_take(struct fleet_store *store, struct str sid, struct str entry, bool is_claimed, bool has_it,
                      redis_reply_fn fn, void *self);
/* Removes an entry that cannot be taken; with a sid, another worker gets a new one in the same step. */
void fleet_store_discard(struct fleet_store *store, struct str entry, struct str sid);
/* Leaves an entry that was not taken to other workers. */
void fleet_store_pass(struct fleet_store *store, struct str entry, struct str sid);
/* Leaves a session to other workers as if it had not been taken. owner: as fleet_store_take returned it. */
void fleet_store_untake(struct fleet_store *store, const struct fleet_lease *lease, struct str owner);
/* At most `count` entries of s:SID:log, of s:SID:pack or of s:SID:sq, after an id, and no more than
 * LIMIT_FLEET_READ_BYTES unless the first one is longer: {1 if there may be more, a list of {id, fields}}. */
bool fleet_store_read(struct fleet_store *store, struct str sid, const char *stream, struct str after, uint64_t count,
                      redis_reply_fn fn, void *self);

struct fleet_batch {
	uint64_t seq, lines; /* the last numbers before it */
	struct str applied;  /* id of the submission that it answers, or STR_NONE */
	const struct str *events;
	size_t event_count;
	const struct str *rows; /* lines of the rollout */
	size_t row_count;
	bool restores; /* the store has lost the session */
};
/* {"ok", seq, lines}, {"fenced", epoch}, {"other", seq, lines} or {"gone"}. */
bool fleet_store_emit(struct fleet_store *store, const struct fleet_lease *lease, const struct fleet_batch *batch,
                      redis_reply_fn fn, void *self);
/* "ok", "busy" (submissions are waiting), "fenced" or "gone". requeues: another worker shall continue. */
bool fleet_store_release(struct fleet_store *store, const struct fleet_lease *lease, const char *state, bool requeues,
                         redis_reply_fn fn, void *self);
/* The oldest lines of s:SID:log in packed form. */
struct fleet_chunk {
	uint64_t first, last; /* numbers of lines */
	struct str packed;
};
/* Moves them to s:SID:pack: "ok", "fenced" or "other" (the log does not begin with these lines). */
bool fleet_store_pack(struct fleet_store *store, const struct fleet_lease *lease, const struct fleet_chunk *chunk,
                      redis_reply_fn fn, void *self);
/* Extends the leases. The reply lists sids, each followed by "fenced" (another worker has it) or
 * "gone" (the store has lost it). `sessions`: how many the worker has in all. */
bool fleet_store_renew(struct fleet_store *store, const struct fleet_lease *leases, size_t count, uint64_t sessions,
                       bool is_draining, redis_reply_fn fn, void *self);
/* Looks for entries of lost workers and passes up to `room` of them to on_work. */
void fleet_store_reap(struct fleet_store *store, uint64_t room);
/* Removes the worker. The call is sent before the store is destroyed. */
void fleet_store_leave(struct fleet_store *store);

/* True for an error of the store that contains this word: Redis 6 puts the name of the script before it. */
bool fleet_is_error(const struct resp *reply, const char *word);
/* The field of an entry of a stream; STR_NONE if it is missing. */
struct str fleet_field(const struct resp *entry, const char *name);

/* ---- for clients ---- */

/* Appends "codex:{NAMESPACE}:" and the rest of a key as one word of a command. */
void fleet_store_key(const struct fleet_store *store, struct buf *out, const char *before, struct str middle,
                     const char *after);
bool fleet_store_command(struct fleet_store *store, struct str commands, unsigned replies, redis_reply_fn fn,
                         void *self);
bool fleet_store_requeue(struct fleet_store *store, struct str sid, redis_reply_fn fn, void *self);

#endif
