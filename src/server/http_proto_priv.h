/* http_proto_priv.h — one request to the HTTP endpoints of the event protocol, and what their handlers share.
 *
 * Borrowed during the call: everything in a request except its exchange, which the handler must answer. Loop thread
 * only. */
#ifndef SERVER_HTTP_PROTO_PRIV_H
#define SERVER_HTTP_PROTO_PRIV_H

#include "base/buf.h"
#include "base/list.h"
#include "loop/loop.h"
#include "server/grpc_wire.h"
#include "server/http_proto.h"
#include "server/page_trust.h"

struct http_exchange;
struct http_head;
struct http_page;
struct json_writer;
struct kept_session;
struct kept_watcher;
struct transport_listener;

/* An open session of the server. */
struct http_session {
	struct list link;
	struct http_proto *proto;
	struct kept_session *kept;
	char *address;     /* of the socket of the process that runs it; NULL: it runs here */
	bool is_own;       /* it belongs to one stream: other requests do not find it */
	bool is_abandoned; /* its stream is gone */
};

struct http_proto {
	struct http_proto_options options;
	struct http_server *server;
	struct transport_listener *listener;
	char *address;
	bool is_loopback; /* it listens on a TCP port that only this machine reaches */
	struct list sessions;
	size_t session_count;
	struct list watches;    /* of http_proto_watch.c */
	struct list calls;      /* of http_proto_grpc.c */
	struct http_page *page; /* of http_proto_page.c; NULL: codex proto */
	struct loop_deferred sweep;
	bool is_draining, is_end_reported;
};

struct http_request {
	struct http_proto *proto;
	struct http_exchange *exchange;
	const struct http_head *head;
	struct str body;
	struct str query; /* of the target, without the question mark */
	struct str path;
	struct str id;                /* the part of the path that an asterisk stands for */
	struct http_session *session; /* that the path names; NULL if it names none */
	struct page_device *device;   /* that has sent it; NULL: unknown */
};

/* Whether a request is served. */
struct http_verdict {
	int status; /* to refuse it with; 0: it is served */
	const char *reason;
	struct page_device *device;
	bool has_wrong_token;
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
#define PAGE_ROUTE ROUTE
#include "server/http_routes.def"
#undef PAGE_ROUTE
#undef ROUTE

/* Opens a session; NULL and err if there are too many or none to resume. */
must_check struct http_session *http_session_open(struct http_proto *proto, struct str resume, bool no_auto_configure,
                                                  bool is_own, struct error *err);
/* Returns an open session that is not owned by a stream, or NULL. */
struct http_session *http_session_find(struct http_proto *proto, struct str id);
/* Ends a session, its task and commands included, in the next round of the loop, so that it may be called by one of its
 * callbacks. It must have no watchers. */
void http_session_abandon(struct http_session *session);
void http_session_destroy(struct http_session *session);
/* Destroys the sessions that have ended and are not watched, and reports the end of the server. */
void http_sessions_sweep(void *self);
/* Ends the answers of the watches, without a last event; device: those of its requests, NULL: all. */
void http_watches_destroy(struct http_proto *proto, const struct page_device *device);

/* ---- the page of codex serve ---- */

struct http_page {
	struct http_proto *proto;
	struct http_page_options options;
	struct page_trust trust;
	struct loop_timer *gather; /* runs: the list of sessions is due */
	struct list watches;       /* of http_proto_page_watch.c */
	struct list jobs;          /* of http_proto_page_threads.c */
	uint64_t logged_ms;        /* the time of the last line about a refused request; 0: none */
};

/* Sends the list of sessions to all watching pages. */
void http_page_send_lists(void *page);
/* Ends the watches; of one device, or all if it is NULL. */
void http_page_end_watches(struct http_page *page, const struct page_device *device);
/* Readings of stored sessions that are in progress are not answered any more. */
void http_page_detach_jobs(struct http_page *page);

/* The token of an `authorization: Bearer TOKEN`, or STR_NONE. */
struct str http_bearer(const struct http_head *head);
struct http_page *http_page_create(struct http_proto *proto, const struct http_page_options *options);
void http_page_destroy(struct http_page *page); /* NULL is fine */
/* Sets what all answers have. The server listens. */
void http_page_prepare(struct http_proto *proto);
/* needs_token: as its route says; has_route: there is one. */
void http_page_check(struct http_page *page, const struct http_head *head, bool has_route, bool needs_token,
                     struct http_verdict *ret);
/* Refuses the request. */
void http_page_refuse(struct http_request *request, const struct http_verdict *verdict);
/* True, and answers, if the type of the body is wrong. */
bool http_page_refuse_type(struct http_request *request);
/* The list of sessions has changed; page: NULL is fine. */
void http_page_changed(struct http_page *page);
void http_write_sessions(struct http_proto *proto, struct json_writer *w);
void http_refuse_with_header(struct http_request *request, int status, const char *message, struct str header);

/* ---- gRPC ---- */

/* A call, or a POST /v1/stream: its messages are lines, in both directions. */
struct grpc_call {
	struct list link;
	struct http_proto *proto;
	struct http_exchange *exchange;
	const struct grpc_method *method;
	struct buf in;               /* received; at most one message and what one read adds */
	size_t scanned;              /* bytes of `in` that have no line end */
	size_t owed;                 /* bytes for which the client has no new credit yet */
	struct buf out;              /* messages that were not passed on yet */
	struct loop_timer *deadline; /* NULL: the call has none */
	struct loop_timer *start;    /* opens the session of a stream; NULL: there is nothing to open */
	struct loop_deferred finished;
	struct http_session *session;
	struct kept_watcher *watcher;
	struct page_device *device; /* of codex serve */
	unsigned message_count;
	unsigned unread_count; /* messages since the client does not read */
	bool is_own;           /* the session ends with the call */
	bool has_lines;        /* POST /v1/stream */
	bool wants_struct;     /* events are sent as google.protobuf.Struct */
	bool is_encoded;       /* the client announced a compression */
	bool is_stalled;       /* the client does not read */
	bool is_input_over, is_half_closed, is_head_sent, has_ended;
	bool awaits_end;          /* CloseSession: answers when the session has ended */
	bool is_health, is_known; /* Health.Watch; the service exists */
};

struct grpc_method {
	const char *path;
	void (*run)(struct grpc_call *call, struct str message);
	bool is_stream, needs_token;
};

#define METHOD(path, handler, ...) void on_grpc_##handler(struct grpc_call *call, struct str message);
#include "server/grpc_methods.def"
#undef METHOD

/* True for a request that has the method and the content type of gRPC. */
bool grpc_is_call(const struct http_head *head);
const struct grpc_method *grpc_method_find(struct str path);
/* Serves a call, or refuses it with a status. method: NULL if the name is unknown. */
void grpc_accept(struct http_proto *proto, struct http_exchange *exchange, const struct http_head *head,
                 const struct grpc_method *method, bool is_authorized);
/* Begins a call; it is freed after it has ended. */
struct grpc_call *grpc_call_create(struct http_proto *proto, struct http_exchange *exchange,
                                   const struct grpc_method *method);
/* Reports the state of the server to the watchers of its health. */
void grpc_calls_drain(struct http_proto *proto);
/* Ends all calls. */
void grpc_calls_destroy(struct http_proto *proto);
/* Ends the calls of a device that is signed out, and the sessions that they own. */
void grpc_calls_cancel(struct http_proto *proto, const struct page_device *device);

/* Sends the head of the answer, unless it was sent; then also call->out. */
void grpc_call_head(struct grpc_call *call);
void grpc_call_send(struct grpc_call *call);
/* Ends the call, and its session if it owns it and the status is an error. The call stays until the loop runs again. */
void grpc_call_end(struct grpc_call *call, enum grpc_status status, const char *text);
/* Handles the messages that have arrived, as far as the session has room. */
void grpc_call_run(struct grpc_call *call);
void grpc_call_on_news(void *call);
void grpc_session_begin(struct grpc_call *call, const struct http_head *head);
void grpc_session_half_close(struct grpc_call *call);
void grpc_health_report(struct grpc_call *call);

/* ---- POST /v1/stream ---- */

/* Sets *ret_line and *ret_len, its length with the line end. False if it is incomplete, or the call was ended because
 * of it. */
bool lines_find(struct grpc_call *call, struct str rest, struct str *ret_line, size_t *ret_len);
void lines_head(struct grpc_call *call);
void lines_append_event(struct buf *out, struct str line, uint64_t seq);
void lines_end(struct grpc_call *call, enum grpc_status status, const char *text);

#endif
