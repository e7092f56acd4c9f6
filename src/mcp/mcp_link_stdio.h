/* mcp_link_stdio.h — an MCP server as a child process: one JSON-RPC message per line of its stdin and stdout.
 *
 * The process is started like a command, so it ends with its whole tree however the engine ends. When the link is
 * closed, the server gets the end of its input and SIGTERM, and SIGKILL after LIMIT_KILL_GRACE_MS. Its stderr is
 * drained; the last MCP_STDERR_MAX bytes of it explain a failure. Loop thread only. */
#ifndef MCP_MCP_LINK_STDIO_H
#define MCP_MCP_LINK_STDIO_H

#include "mcp/mcp_link.h"

struct list;
struct loop;

enum { MCP_STDERR_MAX = 2048 }; /* bytes of stderr that are kept for the failure reason */

struct mcp_stdio_spec {
	const char *const *argv; /* ends with NULL; argv[0] is looked up in env's PATH */
	const char *const *env;  /* ends with NULL; the whole environment */
	const char *cwd;         /* absolute */
	/* Closed links wait in this list for the end of their process; mcp_stdio_kill_all ends the wait. */
	struct list *ending;
};

must_check struct mcp_link *mcp_link_stdio_open(struct loop *loop, const struct mcp_stdio_spec *spec,
                                                const struct mcp_link_events *events, void *self, struct error *err);
/* Kills the processes of all closed links of the list. */
void mcp_link_stdio_kill_all(struct list *ending);

#endif
