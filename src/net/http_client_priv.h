/* http_client_priv.h — shared by http_client.c (loop, loading), http_client_call.c (one request),
 * http_client_connection.c (kept connections), http_client_tunnel.c (connections for other protocols) and
 * http_client_error.c (errors). */
#ifndef NET_HTTP_CLIENT_PRIV_H
#define NET_HTTP_CLIENT_PRIV_H

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/list.h"
#include "base/vec.h"
#include "loop/loop.h"
#include "net/http_client.h"
#include "net/http_url.h"

#define HTTP_SYSTEM_CA_FILE "/etc/ssl/certs/ca-certificates.crt"
#define HTTP_SYSTEM_CA_DIR "/etc/ssl/certs"

struct http_load;
struct http_tunnel;
struct http_watch;

/* curl->easy_init is curl_easy_init, and so on. */
struct http_curl {
#define CURL(name) __typeof__(&curl_##name) name;
#include "net/http_curl.def"
#undef CURL
};

struct http_socket {
	curl_socket_t fd;
	int local_port;           /* 0 until a request reuses one of the client's connections */
	struct http_watch *watch; /* owned; NULL until libcurl first waits for it */
	bool is_warm;             /* opened ahead of its first request */
};

struct http_client {
	struct loop *loop;
	char *ca_file;                /* or NULL */
	const struct http_curl *curl; /* NULL until loaded */
	struct http_load *load;       /* non-NULL iff loading */
	struct error load_error;      /* code is ERR_none unless loading has failed */
	CURLM *multi;
	CURLSH *share; /* TLS sessions, for cheap reconnects */
	struct loop_timer *timer;
	struct loop_deferred proceed; /* runs soon and acts on the flags of the calls */
	size_t burst;                 /* bytes received since libcurl last ran */
	struct list calls;
	struct loop_deferred leave; /* destroys a client that was left, after its last call */
	struct loop_timer *last;    /* the same, at the latest; NULL: it was not left */
	struct list tunnels;
	VEC(struct http_socket) sockets; /* in use, kept, or of an abandoned connect and closed */
};

/* A call is in `multi` iff easy is non-NULL. Public functions only set flags; client->proceed acts on them. */
struct http_call {
	struct list link;
	struct http_client *client;
	const struct http_handler *handler;
	void *self;
	struct http_request request; /* its data is in arena, except the bytes of the body */
	struct arena arena;
	struct http_url url;

	struct http_tunnel *tunnel; /* that only needs a connection; NULL: this is a request */
	CURL *easy;
	struct curl_slist *headers;
	char detail[CURL_ERROR_SIZE]; /* libcurl's message */
	size_t segment;               /* position in the body */
	size_t segment_offset;
	struct buf head;
	size_t head_total; /* bytes of all heads, including interim ones */
	bool has_head;     /* on_head has been called */
	bool is_cancelled;
	bool is_warm_up; /* opens a connection and sends no request */
	bool is_paused;
	bool wants_resume;
	bool is_retried;
	bool is_stale;      /* the kept connection was closed, or had unsolicited bytes */
	uint64_t active_at; /* loop time of the last traffic */
	struct loop_timer *idle;
	struct error failure; /* code is not ERR_none iff this module ended the call */
};

/* Defined in http_client.c. */
void http_client_proceed_soon(struct http_client *client);
/* Stops watching a descriptor that is about to be closed. watch may be NULL. */
void http_watch_destroy(struct http_watch *watch);

/* Defined in http_client_call.c. */
/* Passes the call to libcurl, or ends it with an error. */
void http_call_begin(struct http_call *call);
void http_call_continue(struct http_call *call);
/* Handles the result of libcurl: ends the call, or retries it on a new connection. */
void http_call_complete(struct http_call *call, CURLcode result);
/* Reports the end to the owner and frees the call. */
void http_call_end(struct http_call *call, const struct error *err);
void http_call_destroy(struct http_call *call);

/* Defined in http_client_tunnel.c. */
/* Takes the connection of its call, which is destroyed. */
void http_tunnel_connected(struct http_tunnel *tunnel);
void http_tunnel_destroy(struct http_tunnel *tunnel);
/* NULL: the client has no tunnel. */
struct http_tunnel *http_tunnel_first(struct http_client *client);

/* Defined in http_client_connection.c. */
/* True if a connection to the host of this URL is being opened ahead. */
bool http_client_is_warming_up(const struct http_client *client, const char *url);
/* True if the call has to wait for the warm-up of a connection to its host. */
bool http_call_waits(struct http_call *call);
/* Sets the failure of the calls that wait for a warm-up, which has failed. */
void http_call_fail_waiting(struct http_call *warm_up, const struct error *err);
void http_call_set_connection(struct http_call *call);
/* NULL if the client has not opened fd as a connection. Valid until the next connection is opened or closed. */
struct http_socket *http_client_socket(struct http_client *client, curl_socket_t fd);
/* Ends the watches of the sockets that libcurl closed without a report. Called after libcurl's cleanup. */
void http_client_forget_sockets(struct http_client *client);
/* Called with the head of an answer: its connection is not reused if bytes follow the answer directly. */
void http_call_watch_excess(struct http_call *call);
/* True if the call failed because its kept connection ended before the server saw any of it, so that one retry is
 * safe. */
bool http_call_is_stale(const struct http_call *call, CURLcode result);

/* Defined in http_client_error.c. */
/* Describes a result other than CURLE_OK in err. */
void http_call_explain(const struct http_call *call, CURLcode result, struct error *err);

#endif
