/* mcp_logins.h — logins to MCP servers that clients have started and that have not ended.
 *
 * A login continues when the client that started it disconnects; its end is reported to all clients. Loop thread only.
 */
#ifndef APP_SERVER_MCP_LOGINS_H
#define APP_SERVER_MCP_LOGINS_H

struct mcp_logins;

/* Ends all logins without reports. NULL is fine. */
void mcp_logins_destroy(struct mcp_logins *logins);

#endif
