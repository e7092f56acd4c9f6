/* proto_listen.h — a listening socket that gives each client its own engine.
 *
 * Owns: the socket and the servers of its clients. Loop thread only. At the limit of LIMIT_PROTO_CLIENTS a new
 * connection evicts the client that has waited longest without sending its token (its first line, if no token is
 * required); if no client is waiting, the new connection is closed (transport/pending_clients.h). With
 * options->token each client must pass a token_gate; an address that other machines can reach requires one. */
#ifndef SERVER_PROTO_LISTEN_H
#define SERVER_PROTO_LISTEN_H

#include "base/error.h"
#include "server/proto_server.h"

struct proto_listen;

/* Starts listening. options->on_end runs after proto_listen_shut_down, when the last client has ended. */
must_check struct proto_listen *proto_listen_create(const struct proto_options *options, const char *address,
                                                    struct error *err);
const char *proto_listen_address(const struct proto_listen *listen);
/* Accepts no new clients, and shuts the current ones down as after Op shutdown. */
void proto_listen_shut_down(struct proto_listen *listen);
void proto_listen_destroy(struct proto_listen *listen); /* NULL is fine */

#endif
