/* rollout_tool_item.h — calls of tools as items of item_completed lines (TurnItem of codex 0.169). Private to rollout/.
 *
 * Owns: nothing. Any thread. Each function writes one JSON object. */
#ifndef ROLLOUT_ROLLOUT_TOOL_ITEM_H
#define ROLLOUT_ROLLOUT_TOOL_ITEM_H

#include "base/json.h"
#include "protocol/record/types.h"

void rollout_tool_item_command(const struct ev_exec_end *event, bool is_declined, struct json_writer *w);
/* A command that was not approved. */
void rollout_tool_item_command_asked(const struct ev_exec_approval *event, struct json_writer *w);
void rollout_tool_item_patch(const struct ev_patch_end *event, bool is_declined, struct json_writer *w);
/* Writes a patch whose end is not known. */
void rollout_tool_item_patch_begun(struct str call_id, const struct str *paths, const struct file_change *changes,
                                   size_t count, struct json_writer *w);
void rollout_tool_item_image(const struct ev_view_image *event, struct json_writer *w);
void rollout_tool_item_mcp(const struct ev_mcp_call_end *event, struct json_writer *w);
/* Writes a call of an MCP tool whose end is not known. */
void rollout_tool_item_mcp_begun(const struct ev_mcp_call_begin *event, struct json_writer *w);
/* Writes the answer or the failure of a client tool. */
void rollout_tool_item_dynamic(const struct ev_dynamic_tool_done *event, struct json_writer *w);

#endif
