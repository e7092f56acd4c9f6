/* mcp_serve.h — the engine as an MCP server: the tools `codex` and `codex-reply` for one client at a pair of
 * descriptors.
 *
 * Each call of `codex` opens a thread with an engine of its own; calls of different threads run side by side. Owns: its
 * threads and its transport. Borrows: loop, services. Loop thread only. Source: the MCP specification, revisions
 * 2024-11-05 to 2025-11-25, and the behaviour of codex 0.98. */
#ifndef SERVER_MCP_SERVE_H
#define SERVER_MCP_SERVE_H

#include "base/error.h"
#include "server/mcp/mcp_serve_options.h"

struct mcp_serve;

/* NULL and err if the descriptors cannot be used. */
must_check struct mcp_serve *mcp_serve_create(const struct mcp_serve_options *options, struct error *err);
/* Ends all threads and their commands. NULL is fine. */
void mcp_serve_destroy(struct mcp_serve *serve);

#endif
