/* oauth_fetch.h — HTTP requests that block, for commands and worker threads: each fetcher has a loop of its own.
 *
 * No redirect is followed. One thread at a time, except for oauth_fetcher_stop. */
#ifndef OAUTH_OAUTH_FETCH_H
#define OAUTH_OAUTH_FETCH_H

#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"

struct http_client;
struct loop;
struct oauth_stop;

struct oauth_fetcher {
	struct loop *loop;
	struct http_client *client;
	struct oauth_stop *stop;
	struct arena *arena; /* of the caller; answers are copied into it */
	uint64_t whole_ms;   /* for a whole request */
};

struct oauth_reply {
	int status;
	struct str www_authenticate; /* or STR_NONE */
	const struct json *json;     /* NULL if the body is not JSON */
};

must_check int oauth_fetcher_init(struct oauth_fetcher *fetcher, struct arena *arena, struct error *err);
/* A zeroed fetcher is fine. */
void oauth_fetcher_finish(struct oauth_fetcher *fetcher);
/* Ends oauth_fetcher_wait and all later requests with ERR_cancelled. Any thread, until oauth_fetcher_finish. */
void oauth_fetcher_stop(struct oauth_fetcher *fetcher);
/* Runs the fetcher's loop until loop_stop. ERR_cancelled: oauth_fetcher_stop was called. */
must_check int oauth_fetcher_wait(struct oauth_fetcher *fetcher, struct error *err);

/* headers end with NULL. body: NULL for GET. An answer with an error status is no failure; one of more than 1 MiB is
 * ERR_limit, one that takes longer than whole_ms is ERR_timeout. */
must_check int oauth_fetch(struct oauth_fetcher *fetcher, const char *url, const char *const *headers, const char *body,
                           struct oauth_reply *ret, struct error *err);

/* True if credentials may be sent to that URL: https, or a loopback address. */
bool oauth_url_is_safe(struct str url);

#endif
