/* exec_oss.h — asks the local server of --oss which model it has, before the first request to the model.
 *
 * Blocks the caller: it runs before the session, on a loop of its own. Prints progress on stderr. */
#ifndef UI_EXEC_OSS_H
#define UI_EXEC_OSS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct config;

struct oss_server {
	char *provider;   /* its id; owned */
	char *model;      /* the model to use; owned; NULL: as configured */
	int64_t window;   /* the context window of the model on this server; 0: unknown */
	bool speaks_chat; /* the server does not know the Responses API */
};

/* Finds the server: the named one, else the first that answers. Fetches a missing model where the server can. model is
 * the chosen one, or NULL. Errors: ERR_config (unknown provider), ERR_connect (no server), ERR_not_found (no model). */
must_check int oss_server_find(const struct config *config, const char *model, struct oss_server *ret_server,
                               struct error *err);
void oss_server_finish(struct oss_server *server);

#endif
