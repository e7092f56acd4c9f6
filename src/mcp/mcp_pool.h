/* mcp_pool.h — the MCP servers of a process: sessions with the same settings of a server share one.
 *
 * Settings are the same if the program or the URL, the arguments, the environment, the working folder and the time
 * limit of the start are. So a server without a configured cwd is shared by the sessions of one folder only. Loop
 * thread. */
#ifndef MCP_MCP_POOL_H
#define MCP_MCP_POOL_H

#include "base/error.h"
#include "base/str.h"

struct config;
struct accounts;
struct http_client;
struct loop;
struct mcp_client;
struct mcp_server;

struct mcp_pool *mcp_pool_create(struct loop *loop, struct http_client *http, struct accounts *accounts);
/* All clients must have been released. Kills the servers that are still ending. NULL is fine. */
void mcp_pool_destroy(struct mcp_pool *pool);

/* Returns a client of the server, with a reference for the caller; it is not started. server: one of config's. cwd: the
 * folder of a server whose settings name none. NULL and err if the settings cannot be used, for example because a
 * variable of the environment is missing. */
must_check struct mcp_client *mcp_pool_get(struct mcp_pool *pool, struct config *config,
                                           const struct mcp_server *server, const char *cwd, struct error *err);

/* Returns the settings of a server that has a client made with this config and folder, or NULL. They live as long as
 * that client. Reading them from the config again would cost most of a call. */
const struct mcp_server *mcp_pool_find_settings(const struct mcp_pool *pool, const struct config *config,
                                                struct str name, const char *cwd);

/* The user has logged in to this server: starts its clients again that have failed. */
void mcp_pool_retry(struct mcp_pool *pool, struct str name);

#endif
