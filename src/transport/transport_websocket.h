/* transport_websocket.h — a connection over a WebSocket, with one text message per frame.
 *
 * Owns: the descriptor. Binary messages are ignored. A message over LIMIT_WEBSOCKET_MESSAGE closes the connection
 * with code 1009. After on_end nothing can be sent. */
#ifndef TRANSPORT_TRANSPORT_WEBSOCKET_H
#define TRANSPORT_TRANSPORT_WEBSOCKET_H

#include "base/error.h"
#include "net/websocket.h"
#include "transport/transport.h"

struct loop;

/* fd: a connected socket after the handshake; the transport owns it even on failure (NULL and err: wslay is not
 * installed). rest: bytes after the handshake that were already read. */
must_check struct transport *transport_websocket_open(struct loop *loop, int fd, struct str rest,
                                                      enum websocket_role role, const struct transport_events *events,
                                                      void *self, struct error *err);

#endif
