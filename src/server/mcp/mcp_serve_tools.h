/* mcp_serve_tools.h — the tools of mcp_serve_tool.def: their list for the client, and the arguments of a call. */
#ifndef SERVER_MCP_SERVE_TOOLS_H
#define SERVER_MCP_SERVE_TOOLS_H

#include "base/error.h"
#include "base/json.h"

enum mcp_serve_tool {
#define TOOL(id, name, title, doc) MCP_SERVE_TOOL_##id,
#include "server/mcp/mcp_serve_tool.def"
	MCP_SERVE_TOOL_count
};

/* The index of each argument of all tools. */
enum mcp_serve_argument {
#define ARGUMENT(tool, id, name, kind, words, doc) MCP_SERVE_##tool##_##id,
#include "server/mcp/mcp_serve_tool.def"
	MCP_SERVE_ARGUMENT_count
};

/* The arguments of a call, borrowed from its JSON; NULL where absent or null. */
struct mcp_serve_arguments {
	const struct json *values[MCP_SERVE_ARGUMENT_count];
};

/* Writes the array `tools`. */
void mcp_serve_tools_write(struct json_writer *w);
/* Returns the tool, or MCP_SERVE_TOOL_count. */
enum mcp_serve_tool mcp_serve_tool_find(struct str name);
/* Checks the arguments (NULL: none) of a call. Errors are sentences for the client. */
must_check int mcp_serve_arguments_read(enum mcp_serve_tool tool, const struct json *json,
                                        struct mcp_serve_arguments *ret, struct error *err);

/* Returns a text argument as a slice of the JSON, or STR_NONE. */
struct str mcp_serve_text(const struct mcp_serve_arguments *arguments, enum mcp_serve_argument index);

#endif
