/* mcp_link_http_priv.h — a link and its exchanges, shared by the files of the HTTP transport. */
#ifndef MCP_MCP_LINK_HTTP_PRIV_H
#define MCP_MCP_LINK_HTTP_PRIV_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/list.h"
#include "mcp/mcp_link_http.h"
#include "model/sse.h"

struct http_call;
struct mcp_http_headers;
struct loop_timer;
struct mcp_http;

enum {
	MCP_HTTP_EXCHANGES = 512,        /* requests in progress or held at a time */
	MCP_HTTP_TRIES = 3,              /* attempts of initialize while the server is overloaded */
	MCP_HTTP_RETRY_MS = 500,         /* pause before the second of them; doubled each time */
	MCP_HTTP_RECONNECT_MS = 1000,    /* pause before a stream is continued, unless the server sets one */
	MCP_HTTP_RECONNECT_MIN_MS = 100, /* bounds of the pause that a server sets */
	MCP_HTTP_RECONNECT_MAX_MS = 60 * 60 * 1000,
	MCP_HTTP_RECONNECTS = 5,       /* streams without an event after which no other one is opened */
	MCP_HTTP_REDIRECTS = 3,        /* redirects of one request */
	MCP_HTTP_TOKEN = 4096,         /* bytes of a session's or an event's id */
	MCP_HTTP_EARLY_MS = 20 * 1000, /* headers that expire so soon are obtained again */
	MCP_HTTP_REASON = 256,         /* bytes of an error response that are quoted */
};

/* One HTTP request: a message, or the stream that receives messages without a request. */
struct mcp_exchange {
	struct list link; /* in active or held of the link */
	struct mcp_http *http;
	uint64_t request;        /* or MCP_NO_REQUEST */
	struct str body;         /* the message, owned; empty for the stream */
	bool is_listen;          /* the stream */
	bool is_handshake;       /* initialize, repeated for a new session */
	bool is_answered;        /* the response to the request has arrived */
	bool is_resumed;         /* the rest of the answer is fetched by GET */
	bool is_repeated;        /* sent again in a new session */
	bool is_reauthorized;    /* sent again with new headers of auth */
	unsigned session_number; /* the session in which it was sent */
	unsigned auth_number;    /* the headers of auth that were sent */
	unsigned attempts, redirects;
	char *url; /* of a redirect that applies to this exchange only, owned; NULL: that of the link */
	struct http_call *call;
	struct loop_timer *timer;
	/* the answer */
	int status;
	bool is_sse, is_json;
	struct buf text; /* of an answer that is no stream */
	struct sse sse;
	struct error sse_error;
	struct str last_id;   /* of the latest event, owned */
	struct str location;  /* owned */
	struct str challenge; /* WWW-Authenticate, owned */
};

struct mcp_http {
	struct mcp_link link;
	struct loop *loop;
	struct http_client *client;
	struct arena arena; /* name, headers */
	const char *name;
	char *url; /* changed by a redirect that is permanent, or of initialize */
	const struct str *headers;
	size_t header_count;
	bool has_authorization;
	struct mcp_http_auth *auth;             /* or NULL */
	const struct mcp_http_headers *granted; /* its latest headers, or NULL */
	unsigned auth_number;                   /* of the latest headers */
	bool is_asking;                         /* auth is asked: exchanges are held */
	bool is_refused;                        /* because the server has refused its headers */
	struct list active, held;
	size_t exchange_count;
	struct str initialize; /* the message that opened the session, owned */
	struct str session;    /* owned; STR_NONE: the server uses none */
	struct str version;    /* the answered revision, owned; STR_NONE before */
	unsigned session_number;
	bool is_reopening; /* a new session is being opened: exchanges are held */
	bool is_deaf;      /* the server offers no stream, or it is no longer opened */
	struct mcp_exchange *listen;
	struct loop_timer *opened; /* reports on_open */
	unsigned depth;            /* callbacks in progress */
	bool is_closed;            /* freed when the outermost callback returns */
};

/* ---- mcp_link_http_exchange.c: one HTTP request ---- */

struct mcp_exchange *mcp_exchange_create(struct mcp_http *http, struct str body, uint64_t request);
void mcp_exchange_destroy(struct mcp_exchange *exchange);
/* Sends the request, or sends it again. */
void mcp_exchange_start(struct mcp_exchange *exchange);
/* As mcp_exchange_start, after a pause. */
void mcp_exchange_start_later(struct mcp_exchange *exchange, uint64_t delay_ms);
/* Follows a redirect to a path or a URL of the same origin, which later requests do, too, if it is permanent or applies
 * to the session. False: the answer has no such redirect. */
bool mcp_exchange_follow(struct mcp_exchange *exchange);
/* Sends what ends the session, without waiting for the answer. */
void mcp_exchange_send_delete(struct mcp_http *http);

/* ---- mcp_link_http.c ---- */

/* True if the exchange opens a session. */
bool mcp_exchange_is_opening(const struct mcp_exchange *exchange);
/* Passes a message of the server on. */
void mcp_http_deliver(struct mcp_exchange *exchange, struct str json);
/* The HTTP request has ended: its answer is complete, or err. */
void mcp_http_ended(struct mcp_exchange *exchange, const struct error *err);
/* Surround each callback: the link is freed in the last leave after it was closed. */
void mcp_http_enter(struct mcp_http *http);
void mcp_http_leave(struct mcp_http *http);

/* ---- mcp_link_http_error.c ---- */

/* Describes an answer that contains no response. ERR_denied: the user must log in. */
void mcp_http_describe_status(const struct mcp_exchange *exchange, struct error *err);
/* Describes a failure to obtain the headers of auth; a refused refresh means that the user must log in. */
void mcp_http_describe_auth(const struct mcp_http *http, const struct error *err, struct error *ret);

#endif
