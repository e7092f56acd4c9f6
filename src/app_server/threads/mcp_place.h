/* mcp_place.h — the configuration and folder that a request about MCP servers is about: those of its thread, so that
 * the pool gives it the servers that the thread uses, or those of the process. Loop thread only. */
#ifndef APP_SERVER_MCP_PLACE_H
#define APP_SERVER_MCP_PLACE_H

#include "app_server/rpc/rpc_request.h"

struct config;

struct mcp_place {
	struct config *config; /* borrowed */
	const char *cwd;       /* in the request's arena */
};

/* Returns NULL, or the error for an unknown thread. id: STR_NONE means the process. */
must_check const struct rpc_error *mcp_place_find(struct rpc_request *request, struct str id, struct mcp_place *ret);

#endif
