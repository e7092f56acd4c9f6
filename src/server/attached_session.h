/* attached_session.h — a session that runs in another process of this user, at its socket (attach_point.h).
 *
 * Its first event is session_configured, with what was recorded before; its last one shutdown_complete, when the
 * session or the connection has ended. Owns: the connection. Loop thread only. No callback runs inside a call to this
 * module. */
#ifndef SERVER_ATTACHED_SESSION_H
#define SERVER_ATTACHED_SESSION_H

#include "base/error.h"
#include "base/str.h"

struct attached_session;
struct event;
struct loop;
struct op;

struct attach_answered;

struct attached_events {
	void (*on_event)(const struct event *event, uint64_t seq, void *self);   /* seq: of a request there; 0: none */
	void (*on_answered)(const struct attach_answered *answered, void *self); /* someone else has answered */
};

/* address: "unix://PATH". */
must_check struct attached_session *attached_session_open(struct loop *loop, const char *address,
                                                          const struct attached_events *events, void *self,
                                                          struct error *err);
/* seq: the number of the request there that the Op answers; 0: none, or unknown. */
void attached_session_submit(struct attached_session *session, struct str id, const struct op *op, uint64_t seq);
/* Returns the kind of the other process, such as "tui"; "" before its first line. */
const char *attached_session_program(const struct attached_session *session);
void attached_session_destroy(struct attached_session *session); /* NULL is fine */

#endif
