/* The answers of authorization servers are small, so a limit far below that of MCP messages applies. */
#include "oauth/oauth_fetch.h"

#include <stdatomic.h>

#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "loop/loop.h"
#include "net/http_client.h"
#include "net/http_fetch.h"
#include "net/http_head.h"
#include "net/http_url.h"
#include "oauth/oauth_limits.h"

/* Wakes the loop from another thread. Lives until libuv has closed the handle. */
struct oauth_stop {
	uv_async_t async;
	struct loop *loop;
	atomic_bool is_set;
};

struct fetch {
	struct oauth_fetcher *fetcher;
	struct oauth_reply *reply;
	struct error error;
	bool has_ended;
};

/* ---- the fetcher ---- */

static void on_stop(uv_async_t *async)
{
	struct oauth_stop *stop = async->data;
	loop_stop(stop->loop);
}

static void on_closed(uv_handle_t *handle)
{
	free(handle->data);
}

int oauth_fetcher_init(struct oauth_fetcher *fetcher, struct arena *arena, struct error *err)
{
	const struct http_client_options options = {.ca_file = config_env_ca_file()};
	*fetcher = (struct oauth_fetcher){.arena = arena, .loop = loop_create(err)};
	if (!fetcher->loop)
		return -(int)err->code;
	struct oauth_stop *stop = xnew(struct oauth_stop);
	stop->loop = fetcher->loop;
	stop->async.data = stop;
	int status = uv_async_init(loop_uv(fetcher->loop), &stop->async, on_stop);
	if (status < 0) {
		free(stop);
		loop_destroy(steal(fetcher->loop));
		return error_set(err, ERR_io, "cannot watch for the end of a login: %s", uv_strerror(status));
	}
	uv_unref((uv_handle_t *)&stop->async);
	fetcher->stop = stop;
	fetcher->client = http_client_create(fetcher->loop, &options);
	fetcher->whole_ms = LIMIT_OAUTH_WHOLE_MS;
	return 0;
}

void oauth_fetcher_finish(struct oauth_fetcher *fetcher)
{
	if (!fetcher->loop)
		return;
	http_client_destroy(fetcher->client);
	uv_close((uv_handle_t *)&fetcher->stop->async, on_closed);
	loop_destroy(fetcher->loop);
}

void oauth_fetcher_stop(struct oauth_fetcher *fetcher)
{
	atomic_store(&fetcher->stop->is_set, true);
	best_effort(uv_async_send(&fetcher->stop->async));
}

int oauth_fetcher_wait(struct oauth_fetcher *fetcher, struct error *err)
{
	if (!atomic_load(&fetcher->stop->is_set))
		loop_run(fetcher->loop);
	if (atomic_load(&fetcher->stop->is_set))
		return error_set(err, ERR_cancelled, "the login was cancelled");
	return 0;
}

/* ---- requests ---- */

static bool on_head(int status, const struct http_head *head, void *self)
{
	struct fetch *fetch = self;
	struct str challenge = http_head_get(head, "www-authenticate");
	fetch->reply->status = status;
	fetch->reply->www_authenticate = challenge.ptr ? arena_str(fetch->fetcher->arena, challenge) : STR_NONE;
	/* A server may answer GET with an endless stream. */
	return !str_has_prefix(http_head_get(head, "content-type"), "text/event-stream");
}

static void on_done(int status, struct str body, const struct error *err, void *self)
{
	struct fetch *fetch = self;
	(void)status;
	fetch->has_ended = true;
	if (err && err->code != ERR_cancelled)
		fetch->error = *err;
	else
		fetch->reply->json = json_parse_copy(fetch->fetcher->arena, body, NULL);
	loop_stop(fetch->fetcher->loop);
}

/* A server that sends a byte now and then is never idle. */
static void on_late(void *self)
{
	loop_stop(self);
}

int oauth_fetch(struct oauth_fetcher *fetcher, const char *url, const char *const *headers, const char *body,
                struct oauth_reply *ret, struct error *err)
{
	struct error stopped;
	struct str lines[LIMIT_OAUTH_HEADERS];
	struct fetch fetch = {.fetcher = fetcher, .reply = ret};
	struct http_fetch_request request = {.method = body ? "POST" : "GET",
	                                     .url = url,
	                                     .headers = lines,
	                                     .body = str_of(body),
	                                     .max = LIMIT_OAUTH_BODY,
	                                     .timeout_ms = LIMIT_OAUTH_IDLE_MS,
	                                     .on_head = on_head};
	*ret = (struct oauth_reply){.www_authenticate = STR_NONE};
	while (*headers && request.header_count < LIMIT_OAUTH_HEADERS)
		lines[request.header_count++] = str_of(*headers++);
	struct http_fetch *running = http_fetch_start(fetcher->client, &request, on_done, &fetch);
	struct loop_timer *timer = loop_timer_create(fetcher->loop, on_late, fetcher->loop);
	loop_timer_start(timer, fetcher->whole_ms);
	int status = oauth_fetcher_wait(fetcher, &stopped);
	loop_timer_destroy(timer);
	if (!fetch.has_ended) {
		http_fetch_cancel(running);
		if (status == 0)
			return error_set(err, ERR_timeout, "the server did not complete its answer in %g seconds",
			                 (double)fetcher->whole_ms / 1000);
	}
	if (status != 0)
		return error_set(err, stopped.code, "%s", stopped.text);
	if (fetch.error.code == ERR_none)
		return 0;
	return error_set(err, fetch.error.code, "%s", fetch.error.text);
}

bool oauth_url_is_safe(struct str text)
{
	struct http_url url;
	if (!http_url_parse(text, &url))
		return false;
	return url.is_https || str_is(url.host, "127.0.0.1") || str_is(url.host, "localhost") ||
	       str_is(url.host, "[::1]");
}
