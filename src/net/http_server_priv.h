/* http_server_priv.h — one request and its answer, in either version of HTTP, and what the files of the server share.
 *
 * The functions of http_server.h call the operations of the version that the request came in. Loop thread only. */
#ifndef NET_HTTP_SERVER_PRIV_H
#define NET_HTTP_SERVER_PRIV_H

#include <nghttp2/nghttp2.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "net/http_body.h"
#include "net/http_head.h"
#include "net/http_server.h"

struct http2;

/* The implementation of http_reply_* and http_exchange_*. Operations that HTTP/2 does not have are NULL. */
struct http_exchange_ops {
	void (*head)(struct http_exchange *exchange, int status, const struct str *headers, size_t count,
	             int64_t length);
	bool (*data)(struct http_exchange *exchange, struct str bytes);
	void (*end)(struct http_exchange *exchange, const struct str *trailers, size_t count);
	void (*abort)(struct http_exchange *exchange, enum http_abort how);
	bool (*raw)(struct http_exchange *exchange, struct str bytes);
	void (*take)(struct http_exchange *exchange, size_t len);
	bool (*store)(struct http_exchange *exchange, size_t len);
};

struct http_exchange {
	const struct http_exchange_ops *ops;
	const struct http_exchange_events *events; /* NULL: not watched */
	void *self;
	const char *peer; /* of the connection; valid while the request is passed on */
};

/* The receiver of requests; the same for all its connections. */
struct http_receiver {
	http_request_fn on_request;
	http_body_use_fn body_use;  /* NULL: all bodies are read */
	http_refusal_fn on_refusal; /* NULL: refusals are plain text */
	size_t body_max;
	void *self;
	const struct str *headers; /* of all answers */
	size_t header_count;
};

enum { HTTP_PEER_SIZE = 64 };

/* True if all answers have a header of this name. */
bool http_receiver_has(const struct http_receiver *receiver, struct str name);

/* Answers a request that is refused here. */
void http_refuse(const struct http_receiver *receiver, struct http_exchange *exchange, int status);

/* ---- HTTP/1.1 ---- */

enum connection_state { READING_HEAD, READING_BODY, ANSWERING, ENDING };

struct connection {
	struct list link;
	struct http_server *server;
	const struct http_receiver *receiver;
	struct stream *stream;
	char peer[HTTP_PEER_SIZE];
	enum connection_state state;
	enum stream_end ending;          /* how to end the stream, in state ENDING */
	struct http1_exchange *exchange; /* non-NULL iff state is ANSWERING */
	struct tls *tls;                 /* NULL: the connection is not encrypted */
	struct http2 *http2;             /* the connection speaks HTTP/2; the state stays READING_HEAD */
	struct loop_timer *patience; /* ends a connection that does not send a request; NULL: the server has no limit */
	struct buf input;            /* received, not yet parsed */
	size_t scanned;              /* bytes of input known not to contain the end of a head */
	struct buf head_bytes;
	struct http_head head;
	struct http_body framing;
	struct buf body;
	bool has_said_continue; /* 100 Continue was sent for this request */
	bool skips_body;        /* the body is not read, so the connection must be closed */
	bool streams_body;   /* parts of the body are passed on as they arrive; the connection is closed after that */
	size_t untaken;      /* bytes passed on that the receiver has not taken */
	int64_t moved;       /* bytes of requests' bodies, and of answers with those that wait to be sent */
	uint64_t stalled_ms; /* when the client was last seen to move bytes; 0: not looked at */
	int64_t stalled_at;  /* bytes that it had moved then */
	struct loop_deferred proceed;
};

/* A request was answered: among the idle connections this is the last one to be evicted. */
void connection_rest(struct connection *connection);

struct http1_exchange {
	struct http_exchange base;
	struct list link;
	struct connection *connection; /* NULL after the client has disconnected */
	bool is_http_1_0;
	bool is_head_request;
	bool is_head_sent;
	bool is_chunked;
	bool must_close;
	uint64_t left; /* bytes of the announced length not yet sent */
};

extern const struct http_exchange_ops http1_ops;

/* Reads a head, and a body that is passed on as a whole. Returns 0 if a request is to be dispatched or answered, -1 to
 * wait for input, or the status to refuse it with. */
int http1_read_request(struct connection *connection);
/* Passes on what has arrived of a streamed body, if any is expected. Not 0: the body is malformed. */
int http1_pass_body(struct connection *connection);
void http1_take(struct http_exchange *base, size_t len);
/* Starts, unless it runs, or stops the time that the client has to send a head. */
void connection_expect_head(struct connection *connection, bool is_due);

/* As stream_send, encrypted if the connection is. */
bool connection_send(struct connection *connection, struct str bytes);
/* Announces the end if the connection is encrypted, unless it ends abruptly. Only the stream may be used after this. */
void connection_end_tls(struct connection *connection, enum stream_end how);

/* ---- HTTP/2: the streams of one connection; http_server_http2.c ---- */

struct http2_events {
	bool (*on_output)(struct str bytes, void *self); /* false: no more output until http2_drained */
	void (*on_over)(void *self);                     /* the connection is to be closed when its output was sent */
	void (*on_answered)(void *self);                 /* the answer of a request is complete, if not sent */
};

enum { HTTP2_PREFACE = 24 }; /* bytes */

/* True if the bytes begin as a connection of HTTP/2 does: all of its preface, or as much as there is. */
bool http2_is_preface(struct str bytes);
/* Loads the library; must have succeeded before http2_create. ERR_unsupported: it is missing. */
must_check int http2_load(struct error *err);
/* The receiver is called by http2_receive, its exchanges' events also in later iterations of the loop. */
struct http2 *http2_create(struct loop *loop, const struct http_receiver *receiver, const struct http2_events *events,
                           void *self);
void http2_receive(struct http2 *http2, struct str bytes);
void http2_drained(struct http2 *http2);
/* Refuses further requests; those in progress continue. */
void http2_go_away(struct http2 *http2);
/* True once the head of a request was complete. */
bool http2_has_begun(const struct http2 *http2);
/* True if a request was passed on and its answer is not complete. */
bool http2_is_busy(const struct http2 *http2);
/* True if a complete answer waits for the client's windows, or a body is not complete. */
bool http2_has_pending(const struct http2 *http2);
/* Ends the requests in progress; with is_gone their receivers get on_gone. NULL is fine. */
void http2_destroy(struct http2 *http2, bool is_gone);

/* ---- HTTP/2: what its files share ---- */

/* nghttp2.submit_goaway is nghttp2_submit_goaway, and so on. Bound by http2_load. */
struct nghttp2 {
#define NGHTTP2(name) __typeof__(&nghttp2_##name) name;
#include "net/http_server_http2.def"
#undef NGHTTP2
};

extern struct nghttp2 nghttp2;

struct http2 {
	const struct http_receiver *receiver;
	const struct http2_events *events;
	void *self;
	const char *peer; /* of the client; "": unknown */
	nghttp2_session *session;
	struct list streams; /* that nghttp2 has not closed */
	struct loop_deferred flush;
	size_t stored;        /* bytes of bodies that are not complete, of all streams */
	int64_t moved;        /* bytes of bodies, received and in frames to be sent */
	unsigned reset_count; /* streams that were reset because of an error of the client */
	bool has_begun;       /* a request has arrived */
	bool is_blocked;      /* on_output returned false */
	bool has_writable;    /* a stream has is_writable_due */
	bool is_over;         /* nothing more is received or sent */
};

struct http2_stream {
	struct http_exchange base;
	struct list link;
	struct http2 *http2;
	int32_t id;
	struct arena arena; /* the text of the head */
	struct http_head head;
	size_t head_len;
	struct buf body; /* of a request whose body is read as a whole */
	enum http_body_use use;
	size_t stored;  /* bytes of the body that are stored here or by the receiver */
	struct buf out; /* from `sent` on not yet in a frame */
	size_t sent;
	struct buf trailers;  /* lines */
	bool is_open;         /* nghttp2 has not closed the stream */
	bool is_owned;        /* the receiver has the exchange */
	bool has_head;        /* the request's head is complete */
	bool has_host;        /* the request has :authority */
	bool is_bad;          /* the head is contradictory */
	bool is_input_over;   /* the client has ended its side */
	bool is_head_sent;    /* of the answer */
	bool has_no_body;     /* the answer is a head alone */
	bool has_ended;       /* the answer is complete */
	bool is_deferred;     /* nghttp2 does not ask for data until session_resume_data */
	bool is_full;         /* on_writable is due once `out` is empty */
	bool is_writable_due; /* to be called after the frames were written */
};

extern const struct http_exchange_ops http2_ops;

/* Frees the stream if it has no owner any more. */
void http2_stream_release(struct http2_stream *stream);
/* Notes how much of its body a stream stores. False: all streams of the connection store too much. */
bool http2_stream_store(struct http2_stream *stream, size_t len);
void http2_stream_reset(struct http2_stream *stream, uint32_t code);

#endif
