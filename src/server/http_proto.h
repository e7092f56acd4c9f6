/* http_proto.h — the event protocol over HTTP/1.1 and HTTP/2: sessions that outlive connections, as resources, and as
 * streams of gRPC.
 *
 * http_routes.def lists the endpoints, grpc_methods.def the methods of gRPC. An address that other machines can reach
 * requires a token. Without a page these are rejected on every path: a request with an Origin header, which comes from
 * a web page, and at a loopback address one whose Host header does not name this machine (403); with a token also,
 * except for health checks, a request without it (401). Their bodies are not read. Owns: the socket and the sessions
 * (kept_session.h). Loop thread only. */
#ifndef SERVER_HTTP_PROTO_H
#define SERVER_HTTP_PROTO_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "net/tls_server.h"
#include "server/proto_server.h"

struct buf;
struct http_proto;
struct loop;
struct page_access;

/* The additions of codex serve: a page for browsers, with a sign-in. page_access.h decides who may send requests,
 * page_trust.h which requests of browsers are served. */
struct http_page_options {
	struct page_access *access;
	const char *base;         /* of the links to the page, without a slash at the end; NULL: the address */
	const char *const *names; /* hosts in addition to the address, as in page_trust.h */
	size_t name_count;
	/* Writes {"threads":[…],"next_cursor":…} for the stored sessions except the `open` ones. Runs on a worker.
	 * ERR_invalid: the cursor is wrong. */
	int (*list_threads)(size_t limit, struct str cursor, const struct str *open, size_t open_count, struct buf *out,
	                    void *self, struct error *err);
	void (*on_log)(const char *line, void *self); /* a line for people */
	void *self;
};

struct http_proto_options {
	struct loop *loop;
	struct proto_engine engine;           /* of all sessions */
	bool no_auto_configure;               /* of all sessions */
	const char *token;                    /* the bearer token that clients must send, borrowed; NULL: none */
	struct tls_files tls;                 /* for https://; otherwise its members are NULL */
	size_t keep_events;                   /* of each session */
	const struct http_page_options *page; /* copied; NULL: codex proto */
	/* Returns the path of a recorded session's rollout, owned by the caller; NULL and err if it is missing, or
	 * another process has it (ERR_busy). */
	char *(*find_rollout)(struct str id_or_name, void *self, struct error *err);
	/* Returns "unix://PATH" of a running session of another process, owned by the caller; NULL: there is no such
	 * session. May be NULL. */
	char *(*find_attachable)(struct str id, void *self);
	void (*on_end)(void *self); /* called once after http_proto_shut_down, when all sessions have ended */
	void *self;
};

/* True for an address that http_proto_create serves: http://IP:PORT, https://IP:PORT or http+unix://PATH. */
bool http_proto_is_address(const char *address);
/* Port 0 takes any that is free. ERR_usage for an address that other machines can reach if there is no token, and if
 * the files for TLS are missing or not used. */
must_check struct http_proto *http_proto_create(const struct http_proto_options *options, const char *address,
                                                struct error *err);
/* Returns the address with the actual port. */
const char *http_proto_address(const struct http_proto *proto);
/* Appends a new link to the page, which signs one device in. */
void http_proto_make_link(struct http_proto *proto, struct buf *out);
/* Opens no more sessions, and shuts the current ones down as after Op shutdown. */
void http_proto_shut_down(struct http_proto *proto);
void http_proto_destroy(struct http_proto *proto); /* NULL is fine */

#endif
