/* session_mcp_list.h — answers list_mcp_tools: asks the MCP servers of a Session what they offer. Private to engine/.
 * Loop thread only. */
#ifndef ENGINE_SESSION_MCP_LIST_H
#define ENGINE_SESSION_MCP_LIST_H

#include "base/str.h"

struct session;

/* Emits mcp_list_tools_response with this id when all servers have answered. */
void session_mcp_list(struct session *session, struct str sub_id);
/* Ends the lists that wait for servers, without events. */
void session_mcp_lists_destroy(struct session *session);

#endif
