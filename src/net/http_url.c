/* libcurl parses URLs; this parser only finds the parts that messages show. It omits those that may hold secrets: the
 * user information, and the query, where some providers expect their key. */
#include "net/http_url.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

#include "base/buf.h"

static struct str cut_at_any(struct str s, const char *stops, struct str *ret_rest)
{
	size_t len = 0;
	while (len < s.len && !strchr(stops, s.ptr[len]))
		len++;
	*ret_rest = str_skip(s, len);
	return str_n(s.ptr, len);
}

static bool is_printable(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if ((unsigned char)s.ptr[i] <= 0x20 || s.ptr[i] == 0x7f)
			return false;
	return true;
}

static void split_authority(struct str authority, struct http_url *url)
{
	ptrdiff_t at = str_rfind_char(authority, '@');
	struct str host = str_skip(authority, (size_t)(at + 1));
	ptrdiff_t colon = str_rfind_char(host, ':');
	if (colon < str_rfind_char(host, ']'))
		colon = -1;
	url->host = colon < 0 ? host : str_n(host.ptr, (size_t)colon);
	url->port = colon < 0 ? STR_NONE : str_skip(host, (size_t)colon + 1);
	if (url->port.len == 0)
		url->port = url->is_https ? STR("443") : STR("80");
}

bool http_url_parse(struct str text, struct http_url *ret_url)
{
	struct http_url url = {0};
	ptrdiff_t end = str_find(text, STR("://"));
	if (end < 0 || !is_printable(text))
		return false;
	url.scheme = str_n(text.ptr, (size_t)end);
	url.is_https = str_equal_fold(url.scheme, STR("https"));
	if (!url.is_https && !str_equal_fold(url.scheme, STR("http")))
		return false;
	struct str rest;
	split_authority(cut_at_any(str_skip(text, (size_t)end + 3), "/?#", &rest), &url);
	url.path = cut_at_any(rest, "?#", &rest);
	*ret_url = url;
	return url.host.len > 0;
}

void http_url_append_public(struct buf *out, struct str text)
{
	struct http_url url;
	if (!http_url_parse(text, &url)) {
		buf_append_c(out, "(not an http URL)");
		return;
	}
	buf_append_str(out, url.scheme);
	buf_append_c(out, "://");
	buf_append_str(out, url.host);
	if (!str_is(url.port, url.is_https ? "443" : "80")) {
		buf_append_char(out, ':');
		buf_append_str(out, url.port);
	}
	buf_append_str(out, url.path);
}

/* ---- hosts ---- */

/* Removes ":PORT". False if the port is invalid. */
static bool cut_port(struct str *host)
{
	ptrdiff_t colon = str_rfind_char(*host, ':');
	ptrdiff_t bracket = str_rfind_char(*host, ']');
	if (colon < 0 || colon < bracket)
		return true;
	for (size_t i = (size_t)colon + 1; i < host->len; i++)
		if (host->ptr[i] < '0' || host->ptr[i] > '9')
			return false;
	host->len = (size_t)colon;
	return true;
}

/* Parses a numeric address; IPv4 in its IPv6-mapped form. */
static bool read_address(struct str host, struct in6_addr *ret)
{
	char text[INET6_ADDRSTRLEN + sizeof("::ffff:")];
	bool is_v6 = host.len > 2 && host.ptr[0] == '[' && host.ptr[host.len - 1] == ']';
	if (is_v6)
		host = str_n(host.ptr + 1, host.len - 2);
	if (host.len >= INET6_ADDRSTRLEN || str_find_char(host, '\0') >= 0)
		return false;
	snprintf(text, sizeof(text), "%s%.*s", is_v6 ? "" : "::ffff:", STR_ARG(host));
	return (is_v6 || str_find_char(host, ':') < 0) && inet_pton(AF_INET6, text, ret) == 1;
}

static bool is_loopback(const struct in6_addr *address)
{
	return IN6_IS_ADDR_LOOPBACK(address) || (IN6_IS_ADDR_V4MAPPED(address) && address->s6_addr[12] == 127);
}

static bool is_local(const struct in6_addr *address, const struct sockaddr *local)
{
	struct in6_addr own = {0};
	if (local->sa_family == AF_INET6) {
		own = ((const struct sockaddr_in6 *)(const void *)local)->sin6_addr;
	} else if (local->sa_family == AF_INET) {
		own.s6_addr[10] = own.s6_addr[11] = 0xff;
		memcpy(&own.s6_addr[12], &((const struct sockaddr_in *)(const void *)local)->sin_addr, 4);
	} else {
		return false;
	}
	return memcmp(address, &own, sizeof(own)) == 0;
}

bool http_host_is_allowed(struct str host, const struct sockaddr *local, const char *const *names, size_t name_count)
{
	struct in6_addr address;
	if (!host.ptr || !cut_port(&host))
		return false;
	if (read_address(host, &address))
		return is_loopback(&address) || is_local(&address, local);
	if (str_equal_fold(host, STR("localhost")))
		return true;
	for (size_t i = 0; i < name_count; i++)
		if (host.len && str_equal_fold(host, str_of(names[i])))
			return true;
	return false;
}
