/* transport_stdio.h — a peer at the other end of a pair of descriptors, usually stdin and stdout.
 *
 * Both may be pipes, sockets, files or devices. The transport takes ownership of them. */
#ifndef TRANSPORT_TRANSPORT_STDIO_H
#define TRANSPORT_TRANSPORT_STDIO_H

#include "base/error.h"
#include "transport/transport.h"

struct loop;

must_check struct transport *transport_stdio_create(struct loop *loop, int in, int out,
                                                    const struct transport_events *events, void *self,
                                                    struct error *err);

#endif
