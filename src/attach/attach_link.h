/* attach_link.h — the other end of attach_point.h: a connection to a session that runs in another process, or to a
 * server of the event protocol (codex proto).
 *
 * Owns: the connection. Borrows: the loop. Loop thread only. No callback runs inside a call to this module. */
#ifndef ATTACH_ATTACH_LINK_H
#define ATTACH_ATTACH_LINK_H

#include <stdbool.h>

#include "attach/attach_frame.h"

struct attach_link;
struct loop;

struct attach_link_events {
	/* The first call. Not called for a server of the event protocol. */
	void (*on_greeting)(const struct attach_greeting *greeting, void *self);
	/* Events of types that this version does not know are skipped. seq: the number of a request; 0: none. from: the
	 * name of the subagent that makes it, or STR_NONE. */
	void (*on_event)(const struct event *event, uint64_t seq, struct str from, void *self);
	/* Another terminal has answered a request. */
	void (*on_answered)(const struct attach_answered *answered, void *self);
	/* The last call; destroy the link later. err: NULL if the other side closed the connection. */
	void (*on_end)(const struct error *err, void *self);
};

/* address: as in transport_connect.h. greets: the first line must be a greeting. */
must_check struct attach_link *attach_link_open(struct loop *loop, const char *address, bool greets,
                                                const struct attach_link_events *events, void *self, struct error *err);
/* seq: the number of the request that the Op answers; 0: none, or unknown. */
void attach_link_submit(struct attach_link *link, struct str id, const struct op *op, uint64_t seq);
/* Stops and restarts the callbacks; the session drops a connection for which too much is pending. */
void attach_link_hold(struct attach_link *link, bool is_held);
void attach_link_destroy(struct attach_link *link); /* NULL is fine */

#endif
