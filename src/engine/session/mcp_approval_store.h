/* mcp_approval_store.h — approvals of MCP tools "always", which are stored in the user's configuration.
 *
 * A worker writes the file, because another process may hold its lock; it may outlive the Session. Loop thread only. */
#ifndef ENGINE_MCP_APPROVAL_STORE_H
#define ENGINE_MCP_APPROVAL_STORE_H

struct session;

/* Completes the session's host: a tool's approval_mode becomes "approve", and a failure is a warning. */
void mcp_approvals_attach(struct session *session);
/* The Session ends: the work continues without it. */
void mcp_approvals_detach(struct session *session);

#endif
