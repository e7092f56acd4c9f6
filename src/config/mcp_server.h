/* mcp_server.h — [mcp_servers.NAME]: the settings of the MCP servers, checked beyond the types of their keys.
 *
 * config_load refuses a server that is wrong in itself, even if it is disabled. Errors name the server and, if it was
 * read from a file, file and line (ERR_config). Nothing here reads the environment or a file. */
#ifndef CONFIG_MCP_SERVER_H
#define CONFIG_MCP_SERVER_H

#include "base/error.h"
#include "config/config_record.h"

enum mcp_transport {
#define TRANSPORT(kind, name, key) MCP_TRANSPORT_##kind,
#include "config/mcp_server.def"
	MCP_TRANSPORT_count
};

struct mcp_server {
	struct str name;
	enum mcp_transport transport;
	struct config_mcp_server keys;  /* as config.def has them */
	struct config_strings env_vars; /* variables of the environment that a stdio server inherits */
	uint64_t startup_timeout_ms, tool_timeout_ms;
	bool is_excess; /* LIMIT_MCP_SERVERS enabled ones precede it */
};

/* Returns the name of a transport in messages and JSON: "stdio", "streamable_http". */
const char *mcp_transport_name(enum mcp_transport transport);

/* Fails if the server cannot run or be reached from here, because its settings demand something else, or if it is
 * excess. */
must_check int mcp_server_check_place(const struct mcp_server *server, struct error *err);

/* Checks all servers of the table [mcp_servers], which may be NULL. */
must_check int mcp_servers_check(const struct toml *servers, struct error *err);

/* Returns the servers of a checked table, which may be NULL, sorted by name. They are allocated in the binder's arena,
 * and the table must live as long. */
const struct mcp_server *mcp_servers_bind(struct config_binder *binder, const struct toml *servers, size_t *ret_count);

/* True if it is enough to know the tools of the server, which need not run. */
static inline bool mcp_server_waits_for_tools(const struct mcp_server *server)
{
	return !server->keys.required && server->keys.startup_readiness == mcp_readiness_catalog;
}

#endif
