/* mcp_schema.h — the schema of a tool's arguments as the model gets it. */
#ifndef TOOL_MCP_SCHEMA_H
#define TOOL_MCP_SCHEMA_H

#include <stddef.h>

struct json;
struct json_writer;

/* Writes a schema, an object or NULL, in at most max bytes as far as leaving out details achieves it; 0: no limit. */
void mcp_schema_write(const struct json *schema, size_t max, struct json_writer *w);

#endif
