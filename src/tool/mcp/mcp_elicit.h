/* mcp_elicit.h — the questions that a server asks the user during a call (elicitation/create).
 *
 * Each becomes a request of the call (tool_host.h). If the approval policy or the front end does not allow questions,
 * the server hears "decline". Loop thread only. */
#ifndef TOOL_MCP_ELICIT_H
#define TOOL_MCP_ELICIT_H

#include "base/list.h"
#include "base/str.h"
#include "tool/tool_host.h"

struct mcp_elicitation;

/* The open questions of one call, part of its state. */
struct mcp_elicits {
	struct list open;
};

void mcp_elicits_init(struct mcp_elicits *elicits);
/* Forgets the questions; the request that they belong to closes them. */
void mcp_elicits_finish(struct mcp_elicits *elicits);

/* Asks the user; on_answer must call mcp_elicits_answer. */
void mcp_elicits_ask(struct mcp_elicits *elicits, struct mcp_elicitation *elicitation, struct tool_call *call,
                     struct str server, tool_answer_fn on_answer);
/* Passes the user's answer to the server. */
void mcp_elicits_answer(struct mcp_elicits *elicits, const struct op_resolve_elicitation *answer);
/* The server no longer expects an answer. */
void mcp_elicits_withdraw(struct mcp_elicits *elicits, struct mcp_elicitation *elicitation, struct tool_call *call);

#endif
