/* mcp_link.h — the transport to one MCP server: JSON-RPC messages in both directions.
 *
 * A link is a struct that a transport embeds at the start of its own (mcp_link_stdio.c, mcp_link_http.c). It reports
 * every event from the loop, never inside a call of its operations. After on_closed it reports nothing more; its owner
 * closes it then, too. Loop thread only. */
#ifndef MCP_MCP_LINK_H
#define MCP_MCP_LINK_H

#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct mcp_link;

/* The id of a message that is not a request of the client: a notification, or the answer to a request of the server. */
#define MCP_NO_REQUEST ((uint64_t)0)

struct mcp_link_events {
	/* The link can send: the process was executed, or the first request can be made. */
	void (*on_open)(void *self);
	/* One JSON value as the server sent it, borrowed during the call. It is not validated. */
	void (*on_message)(struct str json, void *self);
	/* This request will not be answered, for example because its HTTP request failed; the link stays open. */
	void (*on_request_failed)(uint64_t request, const struct error *err, void *self);
	/* The connection has ended. err->text is a phrase that names the reason. */
	void (*on_closed)(const struct error *err, void *self);
};

struct mcp_link_ops {
	/* Sends one message, copied. request: the id that the client has given it, 1 or higher, or MCP_NO_REQUEST.
	 * ERR_limit: too much is unsent; the message is dropped. */
	int (*send)(struct mcp_link *link, struct str json, uint64_t request, struct error *err);
	/* The client no longer waits for this request. NULL: the transport does not need to know. */
	void (*forget)(struct mcp_link *link, uint64_t request);
	/* The server has answered initialize with this revision. NULL: the transport does not need to know. */
	void (*set_version)(struct mcp_link *link, struct str version);
	/* Ends the connection and frees the link; no event is reported any more. */
	void (*close)(struct mcp_link *link);
};

struct mcp_link {
	const struct mcp_link_ops *ops;
	const struct mcp_link_events *events;
	void *self; /* passed to the events */
};

#endif
