/* mcp_offer.h — the tools of MCP servers under the names by which the model calls them.
 *
 * A server is the namespace mcp__SERVER. A character outside of [A-Za-z0-9_] becomes `_`. Names that become equal, and
 * names that are too long, end in `_` and 12 digits of a hash of the original name. Built when a request to the model
 * is; immutable. Owns references to the clients and catalogs. Loop thread only. */
#ifndef TOOL_MCP_OFFER_H
#define TOOL_MCP_OFFER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/json.h"
#include "base/str.h"

struct mcp_catalog;
struct mcp_client;
struct mcp_offer;
struct mcp_server;
struct mcp_tool;

/* A server of the session. */
struct mcp_offer_source {
	const struct mcp_server *server; /* borrowed for the life of the offer */
	struct mcp_client *client;
	struct mcp_catalog *catalog;
};

struct mcp_offered {
	struct str namespace, name;
	const struct mcp_tool *tool;
	const struct mcp_server *server;
	struct mcp_client *client;
};

struct mcp_offer *mcp_offer_create(const struct mcp_offer_source *sources, size_t count);
void mcp_offer_destroy(struct mcp_offer *offer); /* NULL is fine */

/* Returns the tool with these names; NULL if it does not exist, or offer is NULL. */
const struct mcp_offered *mcp_offer_find(const struct mcp_offer *offer, struct str namespace, struct str name);
/* Returns the tools, sorted by namespace and name. */
const struct mcp_offered *mcp_offer_tools(const struct mcp_offer *offer, size_t *ret_count);
/* Returns the servers, also those without tools. offer may be NULL. */
const struct mcp_offer_source *mcp_offer_sources(const struct mcp_offer *offer, size_t *ret_count);
/* Writes elements of a request's tools array. Returns the number of tools that are left out, because all would have
 * more than LIMIT_MCP_OFFER bytes. */
size_t mcp_offer_write(const struct mcp_offer *offer, struct json_writer *w);

/* Writes the namespaces that contain these tools, each once, in the order of its first one; tools are indexes of
 * mcp_offer_tools. The tools are marked as found by a search. */
void mcp_offer_write_found(const struct mcp_offer *offer, const size_t *tools, size_t count, struct json_writer *w);

#endif
