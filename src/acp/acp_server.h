/* acp_server.h — `codex acp`: the Agent Client Protocol, version 1, spoken with one client.
 *
 * Owns: the connection, the sessions. Borrows: loop, services. Loop thread only. See docs/acp.md. */
#ifndef ACP_ACP_SERVER_H
#define ACP_ACP_SERVER_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct acp_server;
struct config;
struct loop;
struct services;

struct acp_options {
	struct loop *loop;
	struct services *services;
	struct config *config;       /* of the folder that the program was started in; the server takes a reference */
	const struct str *overrides; /* key=value texts of -c options, borrowed */
	size_t override_count;
	int in, out;                /* owned by the server */
	void (*on_end)(void *self); /* the client is gone; called on the loop, the server may be destroyed in it */
	void *self;
};

must_check struct acp_server *acp_server_create(const struct acp_options *options, struct error *err);
/* Ends all sessions with their commands. NULL is fine. */
void acp_server_destroy(struct acp_server *server);

#endif
