/* libcurl checks a kept connection at most once a second before reuse. Without the exact checks here, the end of a
 * connection, or bytes that follow an answer, could be taken for part of the next answer. */
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <unistd.h>

#include "base/host.h"
#include "base/mem.h"
#include "net/http_client_priv.h"

/* --- sockets ------------------------------------------------------------------------------------------------ */

static void forget(struct http_client *client, curl_socket_t fd)
{
	struct http_socket *socket = http_client_socket(client, fd);
	if (!socket)
		return;
	http_watch_destroy(socket->watch);
	*socket = client->sockets.items[--client->sockets.count];
}

/* Makes the socket close-on-exec, which libcurl does not, so that commands do not inherit the socket. libcurl 7.88
 * closes the socket of a connect that it abandons without a call of on_curl_close: the descriptor can be in the list
 * when the system gives it out again. */
static curl_socket_t on_curl_open(void *self, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_client *client = self;
	(void)purpose;
	curl_socket_t fd = host_socket(address->family, address->socktype, address->protocol);
	if (fd == CURL_SOCKET_BAD)
		return fd;
	forget(client, fd);
	vec_push(&client->sockets, ((struct http_socket){.fd = fd}));
	return fd;
}

void http_client_forget_sockets(struct http_client *client)
{
	while (client->sockets.count)
		forget(client, client->sockets.items[0].fd);
	vec_finish(&client->sockets);
}

struct http_socket *http_client_socket(struct http_client *client, curl_socket_t fd)
{
	vec_for_each(it, &client->sockets)
		if (it->fd == fd)
			return it;
	return NULL;
}

static int on_curl_close(void *self, curl_socket_t fd)
{
	forget(self, fd);
	return close(fd);
}

/* --- kept connections --------------------------------------------------------------------------------------- */

static int local_port_of(curl_socket_t fd)
{
	struct sockaddr_storage address;
	socklen_t len = sizeof(address);
	if (getsockname(fd, (struct sockaddr *)&address, &len) != 0)
		return 0;
	return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
	                                           : ((struct sockaddr_in *)&address)->sin_port);
}

/* Returns the socket with a local port, because libcurl reports only that of the connection that it has chosen. A
 * connected socket keeps its port. */
static curl_socket_t socket_at(struct http_client *client, int local_port)
{
	vec_for_each(it, &client->sockets) {
		if (it->local_port == 0)
			it->local_port = local_port_of(it->fd);
		if (it->local_port != 0 && it->local_port == local_port)
			return it->fd;
	}
	return CURL_SOCKET_BAD;
}

/* True if no other call runs. Calls can share an HTTP/2 connection, on which the server may send at any time. */
static bool is_alone(const struct http_call *call)
{
	const struct list *calls = &call->client->calls;
	return calls->next == &call->link && calls->prev == &call->link;
}

/* ---- connections that are opened ahead ---- */

static bool has_same_host(const struct http_call *a, const char *url)
{
	struct http_url first, second;
	return http_url_parse(str_of(a->request.url), &first) && http_url_parse(str_of(url), &second) &&
	       first.is_https == second.is_https && str_eq(first.host, second.host) && str_eq(first.port, second.port);
}

bool http_client_is_warming_up(const struct http_client *client, const char *url)
{
	struct http_call *call;
	list_for_each(call, &client->calls, link)
		if (call->is_warm_up && !call->is_cancelled && has_same_host(call, url))
			return true;
	return false;
}

bool http_call_waits(struct http_call *call)
{
	struct http_call *other;
	list_for_each(other, &call->client->calls, link)
		if (other->is_warm_up && !other->is_cancelled && other != call &&
		    has_same_host(other, call->request.url))
			return !call->is_warm_up || other->easy;
	return false;
}

void http_call_fail_waiting(struct http_call *warm_up, const struct error *err)
{
	struct http_call *call;
	list_for_each(call, &warm_up->client->calls, link)
		if (!call->easy && !call->is_warm_up && !call->is_cancelled &&
		    has_same_host(call, warm_up->request.url))
			call->failure = *err;
}

/* Lets the transfer end here, where the connection is ready. libcurl then keeps it for other requests: only one that
 * was marked before it was opened is reserved for its own handle. */
static int end_warm_up(struct http_call *call, int local_port)
{
	struct http_client *client = call->client;
	struct http_socket *socket = http_client_socket(client, socket_at(client, local_port));
	long connects = 0;
	client->curl->easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (socket && connects)
		socket->is_warm = true;
	client->curl->easy_setopt(call->easy, CURLOPT_CONNECT_ONLY, 1L);
	return CURL_PREREQFUNC_OK;
}

/* True for the first request on a connection with TLS that was opened ahead. */
static bool is_first_on_warm(struct http_call *call, curl_socket_t fd)
{
	struct http_socket *socket = http_client_socket(call->client, fd);
	bool is_warm = socket && socket->is_warm;
	if (is_warm)
		socket->is_warm = false;
	return is_warm && call->url.is_https;
}

/* True if the peer has ended the connection or, unless it may send unasked, has sent something. */
static bool is_spoilt(curl_socket_t fd, bool may_send)
{
	struct pollfd state = {.fd = fd, .events = POLLRDHUP};
	char byte;
	if (may_send)
		return poll(&state, 1, 0) != 0;
	return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
}

/* Called before a request is sent. A kept connection must have nothing to read: neither the peer's end nor bytes that
 * would be taken for the answer. Before the first request, a peer with TLS may have sent tickets or settings. */
static int on_curl_ready(void *self, char *peer, char *local, int peer_port, int local_port)
{
	struct http_call *call = self;
	long connects = 1;
	(void)peer, (void)local, (void)peer_port;
	if (call->is_warm_up)
		return end_warm_up(call, local_port);
	call->client->curl->easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &connects);
	curl_socket_t fd = connects ? CURL_SOCKET_BAD : socket_at(call->client, local_port);
	if (fd == CURL_SOCKET_BAD)
		return CURL_PREREQFUNC_OK;
	bool is_first = is_first_on_warm(call, fd);
	if (call->url.is_https && !is_alone(call))
		return CURL_PREREQFUNC_OK;
	call->is_stale = is_spoilt(fd, is_first);
	return call->is_stale ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* True if the server may have closed a kept connection before it saw anything of this request. */
bool http_call_is_stale(const struct http_call *call, CURLcode result)
{
	long connects = 1;
	if (call->is_retried || call->head_total)
		return false;
	if (call->is_stale) /* nothing was sent */
		return true;
	if (call->request.is_once)
		return false;
	if (result != CURLE_SEND_ERROR && result != CURLE_RECV_ERROR && result != CURLE_GOT_NOTHING &&
	    result != CURLE_PARTIAL_FILE && result != CURLE_HTTP2 && result != CURLE_HTTP2_STREAM)
		return false;
	call->client->curl->easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &connects);
	return connects == 0;
}

/* libcurl drops bytes that arrive in the same read as the end of an answer, and keeps the connection. Only its messages
 * reveal them. */
static int on_curl_message(CURL *easy, curl_infotype type, char *text, size_t len, void *self)
{
	static const char *const signs[] = {"Leftovers after chunking", "Excess found"};
	struct http_call *call = self;
	for (size_t i = 0; type == CURLINFO_TEXT && i < countof(signs); i++) {
		if (str_has_prefix(str_n(text, len), signs[i]))
			call->client->curl->easy_setopt(easy, CURLOPT_FORBID_REUSE, 1L);
	}
	return 0;
}

void http_call_watch_excess(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	curl->easy_setopt(call->easy, CURLOPT_DEBUGFUNCTION, on_curl_message);
	curl->easy_setopt(call->easy, CURLOPT_DEBUGDATA, (void *)call);
	curl->easy_setopt(call->easy, CURLOPT_VERBOSE, 1L);
}

void http_call_set_connection(struct http_call *call)
{
	const struct http_curl *curl = call->client->curl;
	curl->easy_setopt(call->easy, CURLOPT_OPENSOCKETFUNCTION, on_curl_open);
	curl->easy_setopt(call->easy, CURLOPT_OPENSOCKETDATA, (void *)call->client);
	curl->easy_setopt(call->easy, CURLOPT_CLOSESOCKETFUNCTION, on_curl_close);
	curl->easy_setopt(call->easy, CURLOPT_CLOSESOCKETDATA, (void *)call->client);
	curl->easy_setopt(call->easy, CURLOPT_PREREQFUNCTION, on_curl_ready);
	curl->easy_setopt(call->easy, CURLOPT_PREREQDATA, (void *)call);
}
