/* Addresses are compared as numbers: 127.1 is no address here, and ::1 has many spellings. */
#include "net/http_host.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>

/* Cuts ":PORT" off. False if what is there is no port. */
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

/* An address in digits, IPv4 as its mapped form. */
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
