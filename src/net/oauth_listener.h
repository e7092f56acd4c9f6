/* oauth_listener.h — the loopback server that a browser returns to at the end of an OAuth login.
 *
 * It accepts GET requests whose Host is this server: an answer at the path of the login, and /cancel, by which a second
 * login of the same program ends this one. An answer with another state is refused, and the login continues. A request
 * to /cancel that a web page caused is refused.
 *
 * Owns: the server and the browser's open request. Borrows: the loop. Thread: loop only. */
#ifndef NET_OAUTH_LISTENER_H
#define NET_OAUTH_LISTENER_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct loop;
struct oauth_listener;

struct oauth_answer {
	struct str code;               /* STR_NONE: the login has failed */
	struct str error, description; /* STR_NONE: absent */
	struct str issuer;             /* of the authorization server (RFC 9207); STR_NONE: absent */
};

struct oauth_listener_events {
	/* Called once, with an answer of the right state, borrowed during the call. The browser waits for
	 * oauth_listener_show. */
	void (*on_answer)(const struct oauth_answer *answer, void *self);
	void (*on_cancel)(void *self); /* another login asks for the port */
	void (*on_shown)(void *self);  /* the page was sent; the last event */
};

struct oauth_listener_options {
	uint16_t port;     /* 0: any */
	const char *path;  /* "/auth/callback" */
	const char *state; /* both are copied */
};

/* Listens on 127.0.0.1. NULL and err if the port is taken. The listener may be destroyed in on_cancel and on_shown, but
 * not in on_answer. */
must_check struct oauth_listener *oauth_listener_create(struct loop *loop, const struct oauth_listener_options *options,
                                                        const struct oauth_listener_events *events, void *self,
                                                        struct error *err);
uint16_t oauth_listener_port(const struct oauth_listener *listener);
/* Answers the browser with a page; the texts are escaped. on_shown follows. */
void oauth_listener_show(struct oauth_listener *listener, const char *title, struct str text);
void oauth_listener_destroy(struct oauth_listener *listener); /* NULL is a no-op */

#endif
