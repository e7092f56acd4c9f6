/* http_client_priv.h — shared by http_client.c (connections, the loop), http_client_call.c (one request) and
 * http_client_error.c (its errors). */
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

/* curl->easy_init is curl_easy_init, and so on. */
struct http_curl {
#define CURL(name) __typeof__(&curl_##name) name;
#include "net/http_curl.def"
#undef CURL
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
	struct loop_deferred proceed; /* does to the calls what their flags ask for */
	size_t burst;                 /* bytes of answers since libcurl was last let act */
	struct list calls;
	VEC(curl_socket_t) sockets; /* that are open, in use or kept */
};

/* A call is in `multi` iff easy is non-NULL. Flags set by the user's calls are acted upon by client->proceed. */
struct http_call {
	struct list link;
	struct http_client *client;
	const struct http_handler *handler;
	void *self;
	struct http_request request; /* what it points to lives in arena, save the bytes of the body */
	struct arena arena;
	struct http_url url;

	CURL *easy;
	struct curl_slist *headers;
	char detail[CURL_ERROR_SIZE]; /* libcurl's own words */
	size_t segment;               /* position in the body */
	size_t segment_offset;
	struct buf head;
	size_t head_total; /* bytes of all heads, interim ones included */
	bool has_head;     /* on_head has been called */
	bool is_cancelled;
	bool is_paused;
	bool wants_resume;
	bool is_retried;
	bool is_stale;      /* the kept connection was found dead, or had bytes that nobody had asked for */
	uint64_t active_at; /* loop time at which a byte last moved */
	struct loop_timer *idle;
	struct error failure; /* code is not ERR_none iff the call was ended by us */
};

/* http_client.c */
void http_client_proceed_soon(struct http_client *client);

/* http_client_call.c */
/* Hands the call to libcurl, or ends it with what is wrong with it. */
void http_call_begin(struct http_call *call);
void http_call_continue(struct http_call *call);
/* libcurl is through with it: tells the owner and frees it, or tries again. */
void http_call_complete(struct http_call *call, CURLcode result);
/* Tells the owner and frees it. */
void http_call_end(struct http_call *call, const struct error *err);
void http_call_destroy(struct http_call *call);

/* http_client_connection.c */
void http_call_set_connection(struct http_call *call);
/* Called with the head of the answer: if bytes follow the answer directly, its connection is not used again. */
void http_call_watch_excess(struct http_call *call);
/* True if the call failed because its kept connection ended before the server saw anything of it: one retry is safe. */
bool http_call_is_stale(const struct http_call *call, CURLcode result);

/* http_client_error.c */
/* Fills err with what a result other than CURLE_OK means. */
void http_call_explain(const struct http_call *call, CURLcode result, struct error *err);

#endif
