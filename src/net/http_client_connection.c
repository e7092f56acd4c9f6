/* libcurl checks a kept connection at most once a second before reuse. Without the exact checks here, the end of a
 * connection, or bytes that follow an answer, could be taken for part of the next answer. */
#include <errno.h>
#include <netinet/in.h>
#include <unistd.h>

#include "base/host.h"
#include "base/mem.h"
#include "net/http_client_priv.h"

/* --- sockets ------------------------------------------------------------------------------------------------ */

/* Makes the socket close-on-exec, which libcurl does not, so that commands do not inherit the socket. */
static curl_socket_t on_curl_open(void *self, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct http_client *client = self;
	(void)purpose;
	curl_socket_t fd = host_socket(address->family, address->socktype, address->protocol);
	if (fd != CURL_SOCKET_BAD)
		vec_push(&client->sockets, ((struct http_socket){.fd = fd}));
	return fd;
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
	struct http_client *client = self;
	struct http_socket *socket = http_client_socket(client, fd);
	if (socket) {
		http_watch_destroy(socket->watch);
		*socket = client->sockets.items[--client->sockets.count];
	}
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

/* Called before a request is sent. A kept connection must have nothing to read: neither the peer's end nor bytes that
 * would be taken for the answer. */
static int on_curl_ready(void *self, char *peer, char *local, int peer_port, int local_port)
{
	struct http_call *call = self;
	long connects = 1;
	char byte;
	(void)peer, (void)local, (void)peer_port;
	call->client->curl->easy_getinfo(call->easy, CURLINFO_NUM_CONNECTS, &connects);
	curl_socket_t fd = connects ? CURL_SOCKET_BAD : socket_at(call->client, local_port);
	if (fd == CURL_SOCKET_BAD || (call->url.is_https && !is_alone(call)))
		return CURL_PREREQFUNC_OK;
	call->is_stale = recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EINTR);
	return call->is_stale ? CURL_PREREQFUNC_ABORT : CURL_PREREQFUNC_OK;
}

/* True if the server may have closed a kept connection before it saw anything of this request. */
bool http_call_is_stale(const struct http_call *call, CURLcode result)
{
	long connects = 1;
	if (call->request.is_once || call->is_retried || call->head_total)
		return false;
	if (call->is_stale)
		return true;
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
