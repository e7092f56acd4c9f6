/* kept_session.h — a session of the event protocol that outlives the connections of its clients.
 *
 * Owns: its engine, and its last events, numbered 1, 2, 3, … without a gap, which any number of watchers read, each
 * from a number of its choice. At most keep_events are kept, and LIMIT_KEPT_BYTES of them, the newest in any case. A
 * submission whose id is among the last LIMIT_KEPT_IDS is not carried out again, so a client may repeat a request whose
 * answer it did not receive; empty ids are never duplicates. A session without watchers in which nothing happens for
 * LIMIT_KEPT_IDLE_MS is shut down. Borrows: loop, services. Loop thread only. No callback runs inside a call to this
 * module. */
#ifndef SERVER_KEPT_SESSION_H
#define SERVER_KEPT_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "server/proto_server.h"

struct error;
struct json_writer;
struct kept_session;
struct kept_watcher;
struct loop;
struct submission;

struct kept_session_options {
	struct loop *loop;
	struct proto_engine engine;
	const char *resume_path; /* the rollout to resume; NULL: start a new session */
	bool no_auto_configure;  /* a client sends configure_session itself */
	bool is_elsewhere;       /* it has no engine here: kept_session_attach follows; needs has_facts */
	/* The session belongs to its one watcher: an event is dropped once it was read, the watcher may hold the engine
	 * as long as it does not read, and repeated ids are not duplicates. */
	bool is_own;
	size_t keep_events; /* number of events that are kept */
	uint64_t idle_ms;   /* 0: LIMIT_KEPT_IDLE_MS */
	bool has_facts;     /* its information has those of session_facts.h */
	/* Called when something that a list of sessions shows has changed; may be NULL. */
	void (*on_change)(void *self);
	/* Called when the session has shut down and its watchers have had the news, and again when the last watcher is
	 * gone. Destroy the session later. */
	void (*on_end)(void *self);
	void *self;
};

struct kept_session *kept_session_create(const struct kept_session_options *options);
/* Attaches a session that is_elsewhere to the socket of another process, "unix://PATH". Its end is the end of the
 * connection; the session itself continues there. */
must_check int kept_session_attach(struct kept_session *session, const char *address, struct error *err);
const char *kept_session_id(const struct kept_session *session); /* a UUID */
uint64_t kept_session_first_seq(const struct kept_session *session);
uint64_t kept_session_last_seq(const struct kept_session *session);
/* True once shutdown was submitted: further submissions have no effect. */
bool kept_session_is_ending(const struct kept_session *session);
/* True once shutdown_complete was emitted. */
bool kept_session_has_ended(const struct kept_session *session);
bool kept_session_is_watched(const struct kept_session *session);
unsigned kept_session_watchers(const struct kept_session *session);
/* Returns the thread's id, NULL before session_configured, or without facts. */
const char *kept_session_thread(const struct kept_session *session);
/* Returns idle, running or blocked. */
const char *kept_session_state(const struct kept_session *session);
/* Writes {"session_id":…,"state":…,"first_seq":…,"last_seq":…,"watchers":…}, and the facts. */
void kept_session_write_info(const struct kept_session *session, struct json_writer *w);

/* Returns how many submissions the session can take now. */
size_t kept_session_room(const struct kept_session *session);
/* Submits, and takes the submission. There must be room. Returns false for a duplicate, which is discarded. */
bool kept_session_submit(struct kept_session *session, struct submission *submission);
/* True if the request that the event with this number makes is open, and the submission answers it. */
bool kept_session_has_open(const struct kept_session *session, uint64_t seq, const struct submission *submission);
/* Acts as if a client had sent shutdown. */
void kept_session_shut_down(struct kept_session *session);
/* Emits an error event for a submission that cannot be carried out. */
void kept_session_report(struct kept_session *session, struct str id, const char *text);
/* No submission follows: shuts down when the running task has ended, or waits for an answer. */
void kept_session_finish(struct kept_session *session);
/* There must be no watchers. NULL is fine. */
void kept_session_destroy(struct kept_session *session);

/* ---- watchers ---- */

enum kept_next {
	KEPT_EVENT, /* *ret_line and *ret_seq were set */
	KEPT_WAIT,  /* there is no further event yet; on_news follows */
	KEPT_LOST,  /* the next event is no longer kept */
	KEPT_ENDED, /* the session has ended and all its events were returned */
};

/* on_news: kept_watcher_next returns something new, or the session has ended. It may destroy the watcher. */
struct kept_watcher *kept_watcher_create(struct kept_session *session, uint64_t after_seq, void (*on_news)(void *self),
                                         void *self);
/* The line, {"id":…,"msg":…} without a newline, is borrowed until the loop runs. */
enum kept_next kept_watcher_next(struct kept_watcher *watcher, struct str *ret_line, uint64_t *ret_seq);
/* The client of this watcher does not read: holds the engine for at most LIMIT_WATCHER_HOLD_MS, and not again until the
 * watcher has returned KEPT_WAIT. */
void kept_watcher_stall(struct kept_watcher *watcher);
/* The client reads again. */
void kept_watcher_go_on(struct kept_watcher *watcher);
void kept_watcher_destroy(struct kept_watcher *watcher); /* NULL is fine */

#endif
