/* transport_stdio.h — a peer at a pair of descriptors, standard input and output as a rule.
 *
 * Both may be pipes, sockets, files or devices. The descriptors are the transport's from then on. */
#ifndef TRANSPORT_TRANSPORT_STDIO_H
#define TRANSPORT_TRANSPORT_STDIO_H

#include "transport/transport.h"

struct loop;

struct transport *transport_stdio_create(struct loop *loop, int in, int out, const struct transport_events *events,
                                         void *self, struct error *err);

#endif
