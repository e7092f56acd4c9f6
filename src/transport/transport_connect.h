/* transport_connect.h — connects to a listener of transport_listen.h.
 *
 * Addresses: unix://PATH, tcp://HOST:PORT, tcp://[IPv6]:PORT. Blocks for at most LIMIT_CONNECT_MS for each address
 * that a host name resolves to. Any thread. */
#ifndef TRANSPORT_TRANSPORT_CONNECT_H
#define TRANSPORT_TRANSPORT_CONNECT_H

#include "base/error.h"

/* Returns a descriptor, owned by the caller; or a negative code and err (ERR_usage for an invalid address, else
 * ERR_connect). */
must_check int transport_connect(const char *address, struct error *err);

#endif
