/* transport_listen.h — a Unix or TCP socket that peers connect to.
 *
 * Owns: the listening socket, and the file of a Unix one. Borrows: the loop. Loop thread only. Addresses:
 * unix://PATH (mode 0600), tcp://IP:PORT, tcp://[IP]:PORT, ws:// as tcp://; port 0 takes any that is free; fd://N, a
 * socket that the caller has (inherited_socket.h), which the listener then owns, but not its file. Servers
 * that other machines can connect to must require a token (proto_listen.h, websocket_listen.h). If no descriptor is
 * left, a new connection is closed at once. Errors: ERR_usage for any other address, and the errors of socket calls. */
#ifndef TRANSPORT_TRANSPORT_LISTEN_H
#define TRANSPORT_TRANSPORT_LISTEN_H

#include <stdbool.h>

#include "base/error.h"

struct loop;
struct transport_listener;

/* fd: the connected socket, owned by the callee. */
typedef void (*transport_connect_fn)(int fd, void *self);

must_check struct transport_listener *transport_listener_create(struct loop *loop, const char *address,
                                                                transport_connect_fn on_connect, void *self,
                                                                struct error *err);
/* True for a valid address of TCP. */
bool transport_listener_is_address(const char *address);
/* True if only this machine can reach the address; false for an invalid address. */
bool transport_listener_is_local(const char *address);
/* Returns the address that the listener has, with the actual port. */
const char *transport_listener_address(const struct transport_listener *listener);
void transport_listener_destroy(struct transport_listener *listener); /* NULL is fine */

#endif
