/* mcp_search.h — the search for tools of MCP servers, for models that do not have all of them in each request. */
#ifndef TOOL_MCP_SEARCH_H
#define TOOL_MCP_SEARCH_H

#include "base/str.h"

struct json_writer;
struct mcp_offer;

/* Writes the tool tool_search, whose description names the servers, if the offer has a tool or servers are starting.
 * offer may be NULL. starting: the names of the latter; a search waits for them. */
void mcp_search_write(const struct mcp_offer *offer, struct str starting, struct json_writer *w);

#endif
