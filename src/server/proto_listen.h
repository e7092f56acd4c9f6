/* proto_listen.h — a socket that any number of clients connect to, each with a Codex of its own.
 *
 * Owns: the socket, and the servers of its clients. Loop thread only.
 * At most LIMIT_PROTO_CLIENTS at a time: then the one is closed that has waited longest without showing its token, or,
 * where none is asked for, without a line; else the newcomer (transport/pending_clients.h). With options->token every
 * client has to pass a token_gate first, and only then may the address be one that other machines reach. */
#ifndef SERVER_PROTO_LISTEN_H
#define SERVER_PROTO_LISTEN_H

#include "server/proto_server.h"

struct proto_listen;

/* options->on_end runs after proto_listen_shut_down, once the last client is served. */
struct proto_listen *proto_listen_create(const struct proto_options *options, const char *address, struct error *err);
const char *proto_listen_address(const struct proto_listen *listen);
/* No new clients; the present ones as if they had sent shutdown. */
void proto_listen_shut_down(struct proto_listen *listen);
void proto_listen_destroy(struct proto_listen *listen); /* NULL is fine */

#endif
