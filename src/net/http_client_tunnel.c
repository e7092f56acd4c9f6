/* libcurl connects (CURLOPT_CONNECT_ONLY) and then leaves the connection to curl_easy_send and curl_easy_recv, which
 * encrypt. It reports no events for such a connection, so the tunnel watches the socket itself. Bytes that libcurl has
 * already decrypted are not announced by the socket, so it reads until libcurl has no more, in bursts, between which
 * other callbacks run. */
#include "net/http_tunnel.h"

#include "base/limits.h"
#include "base/mem.h"
#include "net/http_client_priv.h"

struct http_tunnel {
	struct list link;
	struct http_client *client;
	const struct http_tunnel_handler *handler;
	void *self;
	struct http_call *call; /* non-NULL while connecting */
	CURL *easy;             /* non-NULL once connected */
	uv_poll_t *poll;        /* the same */
	struct buf out;
	size_t sent;               /* bytes of out */
	struct loop_deferred pump; /* sends, reads, and frees a closed tunnel */
	bool is_paused;
	bool is_closed; /* by the owner */
	bool is_over;   /* on_end was called */
};

/* ---- the end ---- */

static void on_poll_closed(uv_handle_t *handle)
{
	free(handle);
}

static void disconnect(struct http_tunnel *tunnel)
{
	const struct http_curl *curl = tunnel->client->curl;
	if (tunnel->poll) {
		uv_poll_stop(tunnel->poll);
		uv_close((uv_handle_t *)steal(tunnel->poll), on_poll_closed);
	}
	if (tunnel->easy) {
		curl->multi_remove_handle(tunnel->client->multi, tunnel->easy);
		curl->easy_cleanup(steal(tunnel->easy));
	}
}

struct http_tunnel *http_tunnel_first(struct http_client *client)
{
	return list_first(&client->tunnels, struct http_tunnel, link);
}

static void end(struct http_tunnel *tunnel, const struct error *err)
{
	disconnect(tunnel);
	if (tunnel->is_over || tunnel->is_closed)
		return;
	tunnel->is_over = true;
	tunnel->handler->on_end(err, tunnel->self);
}

static void end_broken(struct http_tunnel *tunnel, CURLcode result)
{
	struct error err;
	error_set(&err, ERR_transport, "the connection was lost: %s", tunnel->client->curl->easy_strerror(result));
	end(tunnel, &err);
}

/* ---- bytes ---- */

static void send_queued(struct http_tunnel *tunnel)
{
	CURLcode result = CURLE_OK;
	size_t sent = 0;
	while (result == CURLE_OK && tunnel->sent < tunnel->out.len) {
		struct str rest = str_skip(buf_str(&tunnel->out), tunnel->sent);
		result = tunnel->client->curl->easy_send(tunnel->easy, rest.ptr, rest.len, &sent);
		tunnel->sent += result == CURLE_OK ? sent : 0;
	}
	if (tunnel->sent == tunnel->out.len) {
		buf_reuse(&tunnel->out);
		tunnel->sent = 0;
	}
	if (result != CURLE_OK && result != CURLE_AGAIN)
		end_broken(tunnel, result);
}

static void read_burst(struct http_tunnel *tunnel)
{
	char bytes[LIMIT_HTTP_BUFFER];
	size_t got = 0, total = 0;
	CURLcode result = CURLE_OK;
	while (tunnel->easy && !tunnel->is_paused && !tunnel->is_closed && total < LIMIT_HTTP_BURST) {
		result = tunnel->client->curl->easy_recv(tunnel->easy, bytes, sizeof(bytes), &got);
		if (result == CURLE_AGAIN)
			return;
		if (result != CURLE_OK)
			end_broken(tunnel, result);
		else if (got == 0)
			end(tunnel, NULL);
		else
			tunnel->handler->on_bytes(str_n(bytes, got), tunnel->self);
		total += got;
	}
	if (tunnel->easy && !tunnel->is_paused)
		loop_defer(&tunnel->pump);
}

void http_tunnel_destroy(struct http_tunnel *tunnel)
{
	if (tunnel->is_closed && tunnel->easy && tunnel->out.len)
		send_queued(tunnel); /* a close frame, if the peer accepts it at once */
	list_remove(&tunnel->link);
	disconnect(tunnel);
	loop_deferred_finish(&tunnel->pump);
	buf_finish(&tunnel->out);
	free(tunnel);
}

static void on_poll(uv_poll_t *poll, int status, int events);

static void watch(struct http_tunnel *tunnel)
{
	int events = (tunnel->is_paused ? 0 : UV_READABLE) | (tunnel->out.len ? UV_WRITABLE : 0);
	if (!tunnel->poll)
		return;
	if (events)
		uv_poll_start(tunnel->poll, events, on_poll);
	else
		uv_poll_stop(tunnel->poll);
}

static void on_pump(void *self)
{
	struct http_tunnel *tunnel = self;
	struct error err;
	if (tunnel->easy && tunnel->out.over) {
		error_set(&err, ERR_limit, "the peer does not read: more than %d MiB are queued for it",
		          LIMIT_HTTP_TUNNEL_QUEUE / MIB);
		end(tunnel, &err);
	}
	if (tunnel->easy && tunnel->out.len)
		send_queued(tunnel);
	if (tunnel->easy)
		read_burst(tunnel);
	if (tunnel->is_closed)
		http_tunnel_destroy(tunnel);
	else
		watch(tunnel);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events; /* an error shows when the socket is read */
	on_pump(poll->data);
}

/* ---- the start ---- */

static void on_call_done(const struct error *err, void *self)
{
	struct http_tunnel *tunnel = self;
	tunnel->call = NULL;
	end(tunnel, err);
}

static bool watch_socket(struct http_tunnel *tunnel)
{
	curl_socket_t fd = CURL_SOCKET_BAD;
	tunnel->client->curl->easy_getinfo(tunnel->easy, CURLINFO_ACTIVESOCKET, &fd);
	struct http_socket *socket = fd == CURL_SOCKET_BAD ? NULL : http_client_socket(tunnel->client, fd);
	if (!socket)
		return false;
	http_watch_destroy(steal(socket->watch));
	uv_poll_t *poll = xnew(uv_poll_t);
	if (uv_poll_init_socket(loop_uv(tunnel->client->loop), poll, fd) != 0) {
		free(poll);
		return false;
	}
	poll->data = tunnel;
	tunnel->poll = poll;
	return true;
}

void http_tunnel_connected(struct http_tunnel *tunnel)
{
	struct error err;
	const struct http_curl *curl = tunnel->client->curl;
	tunnel->easy = steal(tunnel->call->easy);
	curl->easy_setopt(tunnel->easy, CURLOPT_ERRORBUFFER, NULL);
	http_call_destroy(steal(tunnel->call));
	if (!watch_socket(tunnel)) {
		error_set(&err, ERR_internal, "the connection cannot be watched");
		end(tunnel, &err);
		return;
	}
	tunnel->handler->on_open(tunnel->self);
	on_pump(tunnel);
}

struct http_tunnel *http_tunnel_open(struct http_client *client, const struct http_request *request,
                                     const struct http_tunnel_handler *handler, void *self)
{
	static const struct http_handler call_handler = {.on_done = on_call_done};
	struct http_tunnel *tunnel = xnew(struct http_tunnel);
	struct http_request connect = {
		.method = "GET",
		.url = request->url,
		.client_certificate = request->client_certificate,
		.client_key = request->client_key,
		.connect_timeout_ms = request->connect_timeout_ms,
	};
	tunnel->client = client;
	tunnel->handler = handler;
	tunnel->self = self;
	buf_init(&tunnel->out, LIMIT_HTTP_TUNNEL_QUEUE);
	loop_deferred_init(&tunnel->pump, client->loop, on_pump, tunnel);
	list_append(&client->tunnels, &tunnel->link);
	tunnel->call = http_call_start(client, &connect, &call_handler, tunnel);
	tunnel->call->tunnel = tunnel;
	return tunnel;
}

void http_tunnel_send(struct http_tunnel *tunnel, struct str bytes)
{
	buf_append_str(&tunnel->out, bytes);
	loop_defer(&tunnel->pump);
}

void http_tunnel_pause(struct http_tunnel *tunnel)
{
	tunnel->is_paused = true;
	watch(tunnel);
}

void http_tunnel_resume(struct http_tunnel *tunnel)
{
	if (tunnel->is_paused)
		loop_defer(&tunnel->pump);
	tunnel->is_paused = false;
}

void http_tunnel_close(struct http_tunnel *tunnel)
{
	if (!tunnel || tunnel->is_closed)
		return;
	tunnel->is_closed = true;
	http_call_cancel(steal(tunnel->call));
	loop_defer(&tunnel->pump);
}
