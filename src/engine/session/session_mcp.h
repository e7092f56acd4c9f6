/* session_mcp.h — the MCP servers of a Session: their start, and the tools that they offer to its model.
 *
 * The servers belong to the process (mcp/mcp_pool.h) and start when the first Session that uses them is opened, except
 * programs whose tools are known from an earlier process (mcp/mcp_cache.h): a call starts those. The first request to
 * the model waits for required servers, and for others whose tools are unknown only if mcp_optional_startup_grace_ms
 * is set. The request names those that are still starting, and calls can wait for them (tool/mcp/mcp_await.h). The
 * tools of a server that is ready later are offered in the next request. Private to engine/. Loop thread only. */
#ifndef ENGINE_SESSION_MCP_H
#define ENGINE_SESSION_MCP_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"
#include "loop/loop.h"

struct buf;
struct config;
struct json_writer;
struct session;
struct session_mcp;

/* Completes the session's host, starts the configured servers and emits the events of their start, at once and later.
 */
void session_mcp_open(struct session *session);
/* Uses the servers of this config from the next Task on, or at once if no Task runs. Servers with the same settings
 * continue to run. */
void session_mcp_reload(struct session *session, struct config *config);
/* The Session ends: reports the servers that are still starting as cancelled. NULL is fine. */
void session_mcp_cancel(struct session_mcp *mcp);
/* A Task begins: carries out a reload. */
void session_mcp_begin_task(struct session *session);
/* Returns the config whose servers the Session uses, borrowed. */
struct config *session_mcp_config(const struct session_mcp *mcp);
void session_mcp_destroy(struct session_mcp *mcp); /* NULL is fine */

/* False if a request to the model can be made now. Otherwise calls ready(self) when it can, unless session_mcp_forget
 * is called before. At most one request of a Session waits. */
bool session_mcp_wait(struct session_mcp *mcp, loop_run_fn ready, void *self);
void session_mcp_forget(struct session_mcp *mcp);

/* True if a server is configured. */
bool session_mcp_has_servers(const struct session_mcp *mcp);
/* Appends the names of the servers that are starting and whose tools are unknown. */
void session_mcp_write_starting(const struct session_mcp *mcp, struct buf *out);
/* Writes elements of a request's tools array: the tools, or the tool that searches for them. They are callable under
 * these names until the next call. */
void session_mcp_write_tools(struct session_mcp *mcp, bool is_searched, struct json_writer *w);

#endif
