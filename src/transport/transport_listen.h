/* transport_listen.h — a Unix or TCP socket that peers connect to.
 *
 * Owns: the listening socket, and the file of a Unix one. Borrows: the loop. Loop thread only.
 * Addresses: unix://PATH (mode 0600), tcp://IP:PORT, tcp://[IP]:PORT, ws:// as tcp://; port 0 takes any that is free.
 * Who listens where other machines can connect must ask for a token (proto_listen.h, websocket_listen.h).
 * A connection that cannot be had for want of descriptors is closed: the peer learns at once, and nothing spins.
 * Errors: ERR_usage for an address that is none of these, those of sockets. */
#ifndef TRANSPORT_TRANSPORT_LISTEN_H
#define TRANSPORT_TRANSPORT_LISTEN_H

#include <stdbool.h>

struct error;
struct loop;
struct transport_listener;

/* fd: the connected socket, the callee's. */
typedef void (*transport_connect_fn)(int fd, void *self);

struct transport_listener *transport_listener_create(struct loop *loop, const char *address,
                                                     transport_connect_fn on_connect, void *self, struct error *err);
/* True for the form tcp:// or ws:// wants. */
bool transport_listener_is_address(const char *address);
/* True if an address is reached from this machine only; false also if it is no address. */
bool transport_listener_is_local(const char *address);
/* Where it listens, with the port that was taken. */
const char *transport_listener_address(const struct transport_listener *listener);
void transport_listener_destroy(struct transport_listener *listener); /* NULL is fine */

#endif
