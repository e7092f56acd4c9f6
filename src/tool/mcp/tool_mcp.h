/* tool_mcp.h — calls of the tools of MCP servers. Loop thread only. */
#ifndef TOOL_TOOL_MCP_H
#define TOOL_TOOL_MCP_H

struct mcp_offered;
struct tool_call;

/* Makes the call one of this tool. Borrows offered until the call is destroyed. */
void tool_mcp_bind(struct tool_call *call, const struct mcp_offered *offered);

#endif
