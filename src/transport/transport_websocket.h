/* transport_websocket.h — a peer at a WebSocket: a frame is a text message.
 *
 * Owns: the descriptor. Binary messages are passed over (app-server-wire 17). A message beyond LIMIT_WEBSOCKET_MESSAGE
 * is not passed over but ends it with code 1009, which tells the peer more. After on_end nothing can be sent. */
#ifndef TRANSPORT_TRANSPORT_WEBSOCKET_H
#define TRANSPORT_TRANSPORT_WEBSOCKET_H

#include "net/websocket.h"
#include "transport/transport.h"

struct loop;

/* fd: connected, with its handshake over; the transport's from then on, also if it cannot be created (NULL and err:
 * wslay is not installed). rest: what came after the handshake and was read already. */
struct transport *transport_websocket_open(struct loop *loop, int fd, struct str rest, enum websocket_role role,
                                           const struct transport_events *events, void *self, struct error *err);

#endif
