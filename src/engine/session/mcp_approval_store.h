/* mcp_approval_store.h — approvals of MCP tools "always", which are stored in the user's configuration.
 *
 * A worker writes the file, because another process may hold its lock; it may outlive the Session. Loop thread only. */
#ifndef ENGINE_MCP_APPROVAL_STORE_H
#define ENGINE_MCP_APPROVAL_STORE_H

#include "base/list.h"
#include "base/str.h"

struct session;

/* Sets the tool's approval_mode to "approve". jobs: where the work is listed until it is done; a failure is a warning.
 */
void mcp_approval_store(struct session *session, struct list *jobs, struct str server, struct str tool);
/* The Session ends: the work continues without it. */
void mcp_approvals_detach(struct list *jobs);

#endif
