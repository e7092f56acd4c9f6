/* pending_clients.h — the connections of one listener; evicts the one that has been pending longest when room is short.
 *
 * A connection is pending until its client has identified itself; it counts until it has ended. Room is short when
 * `limit` connections are open, or when the process has fewer than LIMIT_RESERVED_DESCRIPTORS left (a quarter of them,
 * if there are few), which commands and files of admitted clients need. If no connection is pending, the new one is
 * closed. Owns: its bookkeeping, no descriptor. Loop thread only. */
#ifndef TRANSPORT_PENDING_CLIENTS_H
#define TRANSPORT_PENDING_CLIENTS_H

#include <stddef.h>

#include "base/error.h"

struct pending_client;
struct pending_clients;

/* Closes the connection at once, with its descriptor, and calls pending_client_destroy. */
typedef void (*pending_client_evict_fn)(void *self);

struct pending_clients *pending_clients_create(size_t limit);
/* Clients may outlive this call: the memory is freed with the last one. NULL is fine. */
void pending_clients_destroy(struct pending_clients *clients);

/* Makes room for a connected descriptor, whose ownership it takes. Returns the descriptor to use, which may have
 * another number, or -1 if there is no room and it was closed. */
must_check int pending_clients_make_room(struct pending_clients *clients, int fd);

/* Registers a new connection. */
struct pending_client *pending_client_create(struct pending_clients *clients, pending_client_evict_fn evict,
                                             void *self);
/* Changes the owner; the position in the queue stays. */
void pending_client_hand_over(struct pending_client *client, pending_client_evict_fn evict, void *self);
/* The client has identified itself and is never evicted from now on. NULL is fine. */
void pending_client_admit(struct pending_client *client);
/* The connection has ended. NULL is fine. */
void pending_client_destroy(struct pending_client *client);

#endif
