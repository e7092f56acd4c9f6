/* transport_connect.h — the other side of transport_listen.h: a connected socket.
 *
 * Addresses: unix://PATH, tcp://HOST:PORT, tcp://[IPv6]:PORT. Waits, at most LIMIT_CONNECT_MS for each address that a
 * host name stands for: for programs that have nothing else to do yet. Any thread. */
#ifndef TRANSPORT_TRANSPORT_CONNECT_H
#define TRANSPORT_TRANSPORT_CONNECT_H

struct error;

/* A descriptor, the caller's; or a negative code and err (ERR_usage for what is no address, else ERR_connect). */
int transport_connect(const char *address, struct error *err);

#endif
