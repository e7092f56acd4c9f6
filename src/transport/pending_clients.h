/* pending_clients.h — the connections of one listener, and which of them goes when room is short: the one that has
 * waited longest without showing who it is.
 *
 * A connection is pending until its client has identified itself; it counts until it has ended. Room is short when
 * `limit` connections are open, or when fewer than LIMIT_RESERVED_DESCRIPTORS (a quarter of them, if there are few) are
 * left to the process: commands and files of the clients that are served need some. Where nobody is pending, the
 * newcomer is closed.
 * Owns: what it counts with, no descriptor. Loop thread only. */
#ifndef TRANSPORT_PENDING_CLIENTS_H
#define TRANSPORT_PENDING_CLIENTS_H

#include <stddef.h>

struct pending_client;
struct pending_clients;

/* Closes the connection at once, with its descriptor, and calls pending_client_destroy. */
typedef void (*pending_client_evict_fn)(void *self);

struct pending_clients *pending_clients_create(size_t limit);
/* Clients that it counts may outlive it. NULL is fine. */
void pending_clients_destroy(struct pending_clients *clients);

/* Makes room for a connected descriptor, which is the callee's. Returns the descriptor to go on with, which may be
 * another number; -1: there is no room, it is closed. */
int pending_clients_make_room(struct pending_clients *clients, int fd);

/* Counts one that has come. */
struct pending_client *pending_client_create(struct pending_clients *clients, pending_client_evict_fn evict,
                                             void *self);
/* Another owner takes over; it keeps its place. */
void pending_client_hand_over(struct pending_client *client, pending_client_evict_fn evict, void *self);
/* It has identified itself: it is not evicted any more. NULL is fine. */
void pending_client_admit(struct pending_client *client);
/* Its connection has ended. NULL is fine. */
void pending_client_destroy(struct pending_client *client);

#endif
