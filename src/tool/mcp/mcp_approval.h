/* mcp_approval.h — the approval of calls of MCP tools: whether it is needed, and the question. Loop thread only. */
#ifndef TOOL_MCP_APPROVAL_H
#define TOOL_MCP_APPROVAL_H

#include <stdbool.h>

#include "tool/tool_host.h"

struct json;
struct mcp_offered;

/* True if a call needs approval. *ret_refusal: why the user cannot be asked, for the model; else NULL. */
bool mcp_approval_is_needed(const struct tool_host *host, const struct mcp_offered *offered, const char **ret_refusal);
/* Asks the user. arguments: an object, or NULL. */
void mcp_approval_ask(struct tool_call *call, const struct mcp_offered *offered, const struct json *arguments,
                      tool_answer_fn on_answer);

#endif
