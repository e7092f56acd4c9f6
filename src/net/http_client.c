/* libcurl's multi_socket interface reports the descriptors that it waits for and its next deadline: each descriptor
 * gets a uv_poll_t, the deadline a timer. Neither is active while no call runs, even if connections are kept.
 *
 * libcurl must not be re-entered from its callbacks, and callers must not be called from inside their calls. The public
 * functions therefore only set flags; on_proceed acts on them from the loop. */
#include "net/http_client.h"

#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/stand_in.h"
#include "loop/loop.h"
#include "net/http_client_priv.h"

struct http_load {
	struct http_client *client; /* NULL once destroyed */
	const struct http_curl *curl;
	struct error err;
};

struct http_watch {
	uv_poll_t uv;
	struct http_client *client;
	curl_socket_t fd;
};

/* --- libcurl's sockets and timer --------------------------------------------------------------------------- */

static void end_completed(struct http_client *client)
{
	CURLMsg *message;
	int left;
	while ((message = client->curl->multi_info_read(client->multi, &left))) {
		struct http_call *call = NULL;
		if (message->msg != CURLMSG_DONE)
			continue;
		CURLcode result = message->data.result;
		client->curl->easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&call);
		http_call_complete(call, result);
	}
}

static void act(struct http_client *client, curl_socket_t fd, int events)
{
	int running;
	client->curl->multi_socket_action(client->multi, fd, events, &running);
	end_completed(client);
}

static void on_poll(uv_poll_t *uv, int status, int events)
{
	struct http_watch *watch = container_of(uv, struct http_watch, uv);
	int flags = 0;
	if (status < 0)
		flags |= CURL_CSELECT_ERR;
	if (events & UV_READABLE)
		flags |= CURL_CSELECT_IN;
	if (events & UV_WRITABLE)
		flags |= CURL_CSELECT_OUT;
	act(watch->client, watch->fd, flags);
}

static void on_poll_closed(uv_handle_t *handle)
{
	free(container_of(handle, struct http_watch, uv));
}

static struct http_watch *watch_create(struct http_client *client, curl_socket_t fd)
{
	struct http_watch *watch = xnew(struct http_watch);
	watch->client = client;
	watch->fd = fd;
	if (uv_poll_init_socket(loop_uv(client->loop), &watch->uv, fd) != 0) {
		free(watch);
		return NULL;
	}
	return watch;
}

void http_watch_destroy(struct http_watch *watch)
{
	if (!watch)
		return;
	uv_poll_stop(&watch->uv);
	uv_close((uv_handle_t *)&watch->uv, on_poll_closed);
}

/* A connection keeps its watch until it is closed: the next request would otherwise register it again. libcurl's other
 * descriptors, those of its resolver, have one as long as libcurl waits for them. */
static int on_curl_socket(CURL *easy, curl_socket_t fd, int what, void *self, void *resolver_watch)
{
	struct http_client *client = self;
	struct http_socket *socket = http_client_socket(client, fd);
	struct http_watch *watch = socket ? socket->watch : resolver_watch;
	(void)easy;
	if (what == CURL_POLL_REMOVE && socket) {
		if (watch)
			uv_poll_stop(&watch->uv);
		return 0;
	}
	if (what == CURL_POLL_REMOVE) {
		client->curl->multi_assign(client->multi, fd, NULL);
		http_watch_destroy(watch);
		return 0;
	}
	if (!watch)
		watch = watch_create(client, fd);
	if (!watch)
		return -1;
	if (socket)
		socket->watch = watch;
	else
		client->curl->multi_assign(client->multi, fd, watch);
	int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
	return uv_poll_start(&watch->uv, events, on_poll);
}

static void on_timer(void *self)
{
	act(self, CURL_SOCKET_TIMEOUT, 0);
}

static int on_curl_timer(CURLM *multi, long timeout_ms, void *self)
{
	struct http_client *client = self;
	(void)multi;
	if (timeout_ms < 0)
		loop_timer_stop(client->timer);
	else
		loop_timer_start(client->timer, (uint64_t)timeout_ms);
	return 0;
}

/* --- loading ----------------------------------------------------------------------------------------------- */

/* libcurl is loaded with the first request: it and its libraries take 2 ms and 4 MB, twice that with those that no
 * request uses. */
static struct http_curl library;

static const char *const names[] = {
#define CURL(name) "curl_" #name,
#include "net/http_curl.def"
#undef CURL
};

static int initialise(struct error *err)
{
	if (library.global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK)
		return 0;
	return error_set(err, ERR_unsupported, "the installed libcurl cannot be initialised: reinstall libcurl4");
}

LIBRARY(libcurl, library, names, LIBRARY_ROW(libcurl), .purpose = "libcurl, which implements HTTP",
        .on_loaded = initialise, .open = stand_in_open);

static const struct http_curl *curl_load(struct error *err)
{
	return library_load(&libcurl, err) == 0 ? &library : NULL;
}

static void client_open(struct http_client *client)
{
	const struct http_curl *curl = client->curl;
	client->timer = loop_timer_create(client->loop, on_timer, client);
	client->multi = curl->multi_init();
	client->share = curl->share_init();
	curl->share_setopt(client->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION);
	curl->multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_curl_socket);
	curl->multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
	curl->multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_curl_timer);
	curl->multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
	curl->multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)LIMIT_HTTP_KEPT_CONNECTIONS);
}

static void on_load(void *self)
{
	struct http_load *load = self;
	load->curl = curl_load(&load->err);
}

static void on_loaded(void *self)
{
	struct http_load *load = self;
	struct http_client *client = load->client;
	if (client) {
		client->load = NULL;
		client->curl = load->curl;
		if (client->curl)
			client_open(client);
		else
			client->load_error = load->err;
		http_client_proceed_soon(client);
	}
	free(load);
}

bool http_client_is_preloaded(const struct http_client *client)
{
	return client->load || client->curl || client->load_error.code != ERR_none;
}

void http_client_preload(struct http_client *client)
{
	if (http_client_is_preloaded(client))
		return;
	client->load = xnew(struct http_load);
	client->load->client = client;
	worker_run(client->loop, on_load, on_loaded, client->load);
}

/* --- the client -------------------------------------------------------------------------------------------- */

static void on_proceed(void *self)
{
	struct http_client *client = self;
	struct http_call *call;
	client->burst = 0;
	list_for_each(call, &client->calls, link) {
		if (call->is_cancelled)
			http_call_destroy(call);
		else if (client->load_error.code != ERR_none)
			http_call_end(call, &client->load_error);
		else if (!call->easy && call->failure.code != ERR_none)
			http_call_end(call, &call->failure);
		else if (client->curl && !call->easy && !http_call_waits(call))
			http_call_begin(call);
		else if (call->easy && call->wants_resume && client->burst < LIMIT_HTTP_BURST)
			http_call_continue(call);
	}
}

void http_client_proceed_soon(struct http_client *client)
{
	loop_defer(&client->proceed);
}

/* Ends the calls that are still there, and the client. */
static void on_left(void *self)
{
	struct http_client *client = self;
	struct http_call *call;
	struct error err;
	error_set(&err, ERR_timeout, "the program ends");
	list_for_each(call, &client->calls, link)
		http_call_end(call, &err);
	http_client_destroy(client);
}

struct http_client *http_client_create(struct loop *loop, const struct http_client_options *options)
{
	struct http_client *client = xnew(struct http_client);
	client->loop = loop;
	if (options && options->ca_file)
		client->ca_file = xstrdup(options->ca_file);
	list_init(&client->calls);
	list_init(&client->tunnels);
	loop_deferred_init(&client->proceed, loop, on_proceed, client);
	loop_deferred_init(&client->leave, loop, on_left, client);
	return client;
}

void http_client_destroy(struct http_client *client)
{
	if (!client)
		return;
	struct http_call *call;
	struct http_tunnel *tunnel;
	while ((tunnel = http_tunnel_first(client)))
		http_tunnel_destroy(tunnel);
	list_for_each(call, &client->calls, link)
		http_call_destroy(call);
	if (client->load)
		client->load->client = NULL;
	if (client->curl) {
		client->curl->multi_cleanup(client->multi);
		client->curl->share_cleanup(client->share);
		loop_timer_destroy(client->timer);
	}
	http_client_forget_sockets(client);
	loop_deferred_finish(&client->proceed);
	loop_deferred_finish(&client->leave);
	loop_timer_destroy(client->last);
	free(client->ca_file);
	free(client);
}

void http_client_leave(struct http_client *client)
{
	struct http_call *call;
	struct http_tunnel *tunnel;
	while ((tunnel = http_tunnel_first(client)))
		http_tunnel_destroy(tunnel);
	list_for_each(call, &client->calls, link) {
		if (!call->request.is_farewell || call->is_cancelled)
			http_call_destroy(call);
	}
	if (list_empty(&client->calls)) {
		http_client_destroy(client);
		return;
	}
	client->last = loop_timer_create(client->loop, on_left, client);
	loop_timer_start(client->last, LIMIT_FAREWELL_MS);
}
