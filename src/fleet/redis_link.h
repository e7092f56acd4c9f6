/* redis_link.h — a connection to Redis that is made again when it breaks.
 *
 * It logs in, selects the database and then calls on_up. A broken connection, a server that is loading, and a replica
 * (READONLY, MOVED) cause on_down and another attempt after 50 ms, doubling to 1 s. The own codec and TLS instead of a
 * client library: hiredis 0.14 of Debian 12 has no TLS, and its structs, which a client reads, differ between 0.14 and
 * 1.x.
 *
 * Owns: the connection and the calls that wait for their reply. Borrows: the loop and the address. Loop thread only. No
 * callback runs inside a call to this module; the link may be destroyed in none of them. */
#ifndef FLEET_REDIS_LINK_H
#define FLEET_REDIS_LINK_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct loop;
struct redis_link;
struct redis_url;
struct resp;
struct tls_server;

struct redis_link_events {
	void (*on_up)(void *self);
	/* ERR_denied: the login was refused. Attempts continue, since a password may change back. */
	void (*on_down)(const struct error *err, void *self);
};

/* Called once with the reply, borrowed during the call; NULL: the connection broke, and whether the command was carried
 * out is unknown. */
typedef void (*redis_reply_fn)(const struct resp *reply, void *self);

/* tls: for an address with TLS, borrowed. Connects at once. */
struct redis_link *redis_link_create(struct loop *loop, const struct redis_url *url, struct tls_server *tls,
                                     const struct redis_link_events *events, void *self);
/* No callback follows, not even for pending calls. NULL is fine. */
void redis_link_destroy(struct redis_link *link);
/* Sends one command or several (resp.h); `replies` replies are expected, and each is passed to fn (NULL: ignored).
 * Copied. False, without effect, while the connection is down. */
bool redis_link_send(struct redis_link *link, struct str commands, unsigned replies, redis_reply_fn fn, void *self);
/* Breaks the connection for this reason; on_down follows, and another attempt. */
void redis_link_fail(struct redis_link *link, enum error_code code, const char *what, struct str detail);
/* The server does what it is asked: the next attempt to connect comes early again. A login alone does not show that. */
void redis_link_works(struct redis_link *link);
/* Drops the pending calls with this self: their replies are ignored. */
void redis_link_forget(struct redis_link *link, const void *self);

#endif
