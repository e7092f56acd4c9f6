/* mcp_await.h — calls that wait for MCP servers that are starting and whose tools are unknown.
 *
 * The first request to the model is not delayed by such servers, but names them. A search for tools and a list of
 * resources wait for them, so that the model can reach their tools in the same turn. Loop thread only. */
#ifndef TOOL_MCP_AWAIT_H
#define TOOL_MCP_AWAIT_H

#include <stdbool.h>

#include "base/list.h"
#include "base/str.h"

struct tool_call;

/* Embedded in what waits; list_remove ends the wait. */
struct mcp_await {
	struct list link;
	struct str server; /* STR_NONE: all servers */
	/* Called once, from the loop; the wait is over. */
	void (*on_ready)(struct mcp_await *wait);
};

/* False if the call does not have to wait for this server, or for any if it is STR_NONE. Otherwise calls go(call)
 * later, unless the call is cancelled. */
bool mcp_await_begin(struct tool_call *call, struct str server, void (*go)(struct tool_call *call));
/* Makes a call of an unknown tool one that waits and is then to be repeated: hooks and approvals must see the tool. */
void mcp_await_bind(struct tool_call *call);

#endif
