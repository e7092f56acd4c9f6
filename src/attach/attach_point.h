/* attach_point.h — the socket of a running session, $CODEX_HOME/attach/ID.sock, at which other terminals watch it,
 * answer its requests and steer it.
 *
 * The socket exists from session_configured on. Its file has mode 0600, in a folder with mode 0700. A connection is
 * refused unless its process has the same user and is not in a sandbox: a command of the model must not approve its own
 * request. At most 16 are attached; one that does not read is disconnected when LIMIT_STREAM_QUEUE_HARD
 * are pending for it, and never delays the session. While no terminal is attached an event costs one comparison;
 * requests are kept until they are answered. Owns: the socket, its file, the connections. Loop thread only. Callbacks
 * may run inside attach_point_answer. */
#ifndef ATTACH_ATTACH_POINT_H
#define ATTACH_ATTACH_POINT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "protocol/message/message.h"

struct attach_point;
struct loop;

struct attach_owner {
	/* Submits an Op of an attached terminal. asker: of the request that it answers, or NULL. */
	int (*submit)(struct str id, const struct op *op, void *asker, void *self, struct error *err);
	/* An attached terminal has answered this request. NULL: the owner shows no requests. */
	void (*on_answered)(const struct event *request, uint64_t seq, void *asker, void *self);
	/* The number of those attached has changed. One counts from its first line on. */
	void (*on_count)(size_t count, void *self);
};

/* home: NULL for a session that writes no files and cannot be attached. */
struct attach_point *attach_point_create(struct loop *loop, const char *home, const char *program,
                                         const struct attach_owner *owner, void *self);
/* The one that makes a request. */
struct attach_asker {
	void *self;      /* comes back with the answer, never dereferenced here */
	struct str name; /* of a subagent, which is shown; empty: the session itself */
};
/* To be called with each event of the session. Returns the number of the request that it makes, 0: none. */
uint64_t attach_point_event(struct attach_point *point, const struct event *event, const struct attach_asker *asker);
/* To be called before the owner submits an Op. seq: the number of the request that it answers, or 0: the one that it
 * names. False: it is pending no more, because another terminal was first; the Op is to be dropped. The Op may name
 * its request by its Task afterwards, if the engine would take it for another one. NULL is fine: true. */
bool attach_point_answer(struct attach_point *point, const struct op *op, uint64_t seq);
/* The oldest request with this id, of this asker, was answered elsewhere, or has ended. */
void attach_point_withdraw(struct attach_point *point, struct str request, const void *asker);
size_t attach_point_count(const struct attach_point *point);
/* Returns the number of requests that are pending, and the oldest one, borrowed. */
size_t attach_point_pending(const struct attach_point *point, const struct event **ret, uint64_t *ret_seq);
/* NULL while the session can be attached, else the reason. */
const struct error *attach_point_failure(const struct attach_point *point);
void attach_point_destroy(struct attach_point *point); /* NULL is fine */

#endif
