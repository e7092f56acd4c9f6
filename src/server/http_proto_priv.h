/* http_proto_priv.h — one request to the HTTP endpoints of the event protocol, and what their handlers share.
 *
 * Borrowed during the call: everything in a request except its exchange, which the handler must answer. Loop thread
 * only. */
#ifndef SERVER_HTTP_PROTO_PRIV_H
#define SERVER_HTTP_PROTO_PRIV_H

#include "base/list.h"
#include "loop/loop.h"
#include "server/http_proto.h"

struct buf;
struct http_exchange;
struct http_head;
struct kept_session;

/* An open session of the server. */
struct http_session {
	struct list link;
	struct http_proto *proto;
	struct kept_session *kept;
};

struct http_proto {
	struct http_proto_options options;
	struct http_server *server;
	char *address;
	struct list sessions;
	size_t session_count;
	struct list watches; /* of http_proto_watch.c */
	struct loop_deferred sweep;
	bool is_draining, is_end_reported;
};

struct http_request {
	struct http_proto *proto;
	struct http_exchange *exchange;
	const struct http_head *head;
	struct str body;
	struct str query;             /* of the target, without the question mark */
	struct http_session *session; /* that the path names; NULL if it names none */
};

/* Answers with a JSON text, and headers ("Name: value") besides its type. */
void http_request_answer(struct http_request *request, int status, struct str json, const struct str *headers,
                         size_t header_count);
/* Answers with {"error":{"code":…,"message":…}}; status is a row of http_refusal.def. */
void http_request_refuse(struct http_request *request, int status, const char *message);
/* As http_request_refuse, with another member, a number, after "error". */
void http_request_refuse_with(struct http_request *request, int status, const char *message, const char *key,
                              uint64_t value);

typedef void (*http_route_fn)(struct http_request *request);
#define ROUTE(method, path, handler, needs_token) void on_route_##handler(struct http_request *request);
#include "server/http_routes.def"
#undef ROUTE

/* Opens a session; NULL and err if there are too many or none to resume. */
must_check struct http_session *http_session_open(struct http_proto *proto, struct str resume, bool no_auto_configure,
                                                  struct error *err);
/* Ends the answer of each watch, without a last event. */
void http_watches_destroy(struct http_proto *proto);

#endif
