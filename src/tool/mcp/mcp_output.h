/* mcp_output.h — converts the result of a tools/call for the model and for the clients. */
#ifndef TOOL_MCP_OUTPUT_H
#define TOOL_MCP_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "base/text.h"
#include "protocol/record/types.h"

struct tool_call;

/* The output for the model is either `parts`, a JSON array of texts and images, or `text`; the other one is empty. */
struct mcp_output {
	struct buf *parts, *text;
	struct text_budget budget; /* of all texts together */
	uint64_t wall_ns;
};

/* Converts a CallToolResult. False, and nothing is written, if it is not one. */
bool mcp_output_write(struct mcp_output *output, const struct json *answer);
/* Writes "Wall time: 0.0028 seconds\nOutput:\n" and the text of an error. */
void mcp_output_write_error(struct mcp_output *output, struct str text);
/* Writes the CallToolResult for clients: audio is replaced by a note. */
void mcp_output_write_item(const struct json *answer, struct json_writer *w);

/* ---- events ---- */

void mcp_output_emit_begin(struct tool_call *call, struct mcp_invocation *invocation);
/* These emit the end of a call, with a CallToolResult as JSON, or with the reason of a failure. */
void mcp_output_emit(struct tool_call *call, struct mcp_invocation *invocation, uint64_t wall_ns, struct str answer);
void mcp_output_emit_error(struct tool_call *call, struct mcp_invocation *invocation, uint64_t wall_ns,
                           struct str reason);

#endif
