/* mcp_cache.h — what MCP servers announced to earlier processes, so that a session can offer a server's tools before,
 * or without, starting it.
 *
 * One file per server below CODEX_HOME/cache/mcp, named by a hash of the server's settings. An entry is valid for a
 * day; entries that are older or damaged are ignored. Catalogs that are longer than LIMIT_MCP_OFFER as JSON are not
 * stored. Loop thread only. */
#ifndef MCP_MCP_CACHE_H
#define MCP_MCP_CACHE_H

#include "base/str.h"

struct loop;
struct mcp_catalog;

/* Returns the stored catalog with one reference, or NULL. key: the settings of the server. */
struct mcp_catalog *mcp_cache_read(const char *home, struct str key);
/* Stores the catalog on a worker thread, which also removes old entries. A failure has no effect but that the server is
 * started earlier the next time. */
void mcp_cache_write(struct loop *loop, const char *home, struct str key, const struct mcp_catalog *catalog);

#endif
