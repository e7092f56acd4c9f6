/* mcp_catalog.h — what an MCP server has announced: its name, its abilities and its tools.
 *
 * Built from the answers to initialize and tools/list; immutable once it is published (mcp_client.h).
 * Reference-counted: a session keeps the catalog that it offers while the server already has a newer one. Owns copies
 * of everything. */
#ifndef MCP_MCP_CATALOG_H
#define MCP_MCP_CATALOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "base/vec.h"

struct mcp_tool {
	/* read-only */
	struct str name; /* as the server spells it */
	struct str title;
	struct str description;
	const struct json *schema; /* inputSchema; NULL: none */
	struct str json;           /* the whole tool */
	struct str annotations;    /* JSON; STR_NONE: none */
	bool is_read_only;
	/* The hints of the annotations; absent ones have the default of the protocol, which is true. */
	bool is_destructive;
	bool is_open_world;
};

struct mcp_catalog {
	/* read-only */
	struct str version;      /* the protocol revision */
	struct str info;         /* serverInfo as JSON; STR_NONE: none */
	struct str capabilities; /* as JSON */
	struct str instructions; /* STR_NONE: none */
	bool has_tools, has_resources;
	VEC(struct mcp_tool) tools; /* each name once, in the server's order */
	size_t omitted;             /* tools beyond LIMIT_MCP_TOOLS */
	/* private */
	VEC(uint32_t) order; /* indexes of the tools, sorted by name */
	struct arena arena;
	unsigned refs;
	size_t bytes; /* size of the tools as JSON */
};

/* Reads the result of initialize. NULL and err if it is not one. */
must_check struct mcp_catalog *mcp_catalog_create(const struct json *result, struct error *err);
/* Returns a catalog without tools that otherwise equals this one. */
struct mcp_catalog *mcp_catalog_copy_head(const struct mcp_catalog *catalog);
/* Adds a page: the result of tools/list. Tools without a usable name are skipped. */
must_check int mcp_catalog_add_page(struct mcp_catalog *catalog, const struct json *result, struct error *err);
struct mcp_catalog *mcp_catalog_ref(struct mcp_catalog *catalog);
void mcp_catalog_unref(struct mcp_catalog *catalog); /* NULL is fine */

const struct mcp_tool *mcp_catalog_find(const struct mcp_catalog *catalog, struct str name);

#endif
