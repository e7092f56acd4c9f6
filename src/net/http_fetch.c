/* An answer that exceeds its limit ends the request at once, so that a server cannot keep it busy. */
#include "net/http_fetch.h"

#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/http_client.h"

struct http_fetch {
	struct http_call *call;
	http_fetch_fn on_done;
	bool (*on_head)(int status, const struct http_head *head, void *self);
	void *self;
	int status;
	char *sent;
	struct str body; /* of the request */
	struct buf answer;
};

static void wipe_buf(struct buf *buf)
{
	if (buf->data)
		explicit_bzero(buf->data, buf->len);
	buf_finish(buf);
}

static void fetch_destroy(struct http_fetch *fetch)
{
	http_call_cancel(fetch->call);
	explicit_bzero(fetch->sent, fetch->body.len);
	free(fetch->sent);
	wipe_buf(&fetch->answer);
	free(fetch);
}

static bool on_head(int status, const struct http_head *head, void *self)
{
	struct http_fetch *fetch = self;
	fetch->status = status;
	return !fetch->on_head || fetch->on_head(status, head, fetch->self);
}

static void end(struct http_fetch *fetch, const struct error *err)
{
	fetch->on_done(fetch->status, buf_str(&fetch->answer), err, fetch->self);
	fetch_destroy(fetch);
}

static void on_data(struct str bytes, void *self)
{
	struct http_fetch *fetch = self;
	struct error err;
	buf_append_str(&fetch->answer, bytes);
	if (!fetch->answer.over)
		return;
	http_call_cancel(steal(fetch->call));
	error_set(&err, ERR_limit, "the answer is longer than %zu bytes", fetch->answer.max);
	end(fetch, &err);
}

static void on_done(const struct error *err, void *self)
{
	struct http_fetch *fetch = self;
	fetch->call = NULL;
	end(fetch, err);
}

struct http_fetch *http_fetch_start(struct http_client *client, const struct http_fetch_request *request,
                                    http_fetch_fn on_fetched, void *self)
{
	static const struct http_handler handler = {on_head, on_data, on_done};
	struct http_fetch *fetch = xnew(struct http_fetch);
	fetch->on_done = on_fetched;
	fetch->on_head = request->on_head;
	fetch->self = self;
	fetch->sent = str_dup(request->body);
	fetch->body = str_n(fetch->sent, request->body.len);
	buf_init(&fetch->answer, request->max);
	struct http_request http = {
		.method = request->method,
		.url = request->url,
		.headers = request->headers,
		.header_count = request->header_count,
		.body = request->body.len ? &fetch->body : NULL,
		.body_count = request->body.len ? 1 : 0,
		.is_farewell = request->is_farewell,
		.connect_timeout_ms = request->timeout_ms,
		.idle_timeout_ms = request->timeout_ms,
	};
	fetch->call = http_call_start(client, &http, &handler, fetch);
	return fetch;
}

void http_fetch_cancel(struct http_fetch *fetch)
{
	if (fetch)
		fetch_destroy(fetch);
}
