/* item_view.h — converts the engine's records to ThreadItems of the wire and to their parts.
 *
 * Owns: nothing; results live in the arena and borrow from the source. Any thread. */
#ifndef APP_SERVER_ITEM_VIEW_H
#define APP_SERVER_ITEM_VIEW_H

#include "base/json.h"
#include "protocol/message/app.h"
#include "protocol/message/message.h"

struct arena;

/* Returns the id of an item of any kind. */
struct str item_view_id(const struct app_thread_item *item);
/* Returns started_at_ms or completed_at_ms of an item of any kind; 0: unknown. */
int64_t item_view_time(const struct app_thread_item *item, const char *name);
/* Sets the times of an item of any kind; 0 leaves a time unchanged. */
void item_view_set_times(struct app_thread_item *item, int64_t started_at_ms, int64_t completed_at_ms);

/* Converts messages, plans, reasoning, searches and compactions. */
struct app_thread_item item_view(const struct turn_item *from, struct arena *arena);
/* Returns the words of a command, quoted for a shell and joined. */
struct str item_view_command_text(const struct str *words, size_t count, struct arena *arena);
/* Returns the parsed actions of a command, with full paths of the files that it reads. */
struct app_command_action *item_view_actions(const struct parsed_command *parsed, size_t count, struct str cwd,
                                             struct arena *arena);
/* Converts a patch, with its files in the given order. */
struct app_item_file_change *item_view_patch(struct str id, const struct str *paths, const struct file_change *changes,
                                             size_t count, struct arena *arena);
/* Sorts the files by path, as clients get them. */
void item_view_sort_changes(struct app_item_file_change *patch);
/* Both. */
struct app_item_file_change *item_view_file_change(struct str id, const struct str *paths,
                                                   const struct file_change *changes, size_t count,
                                                   struct arena *arena);
/* Converts the engine's CodexErrorInfo (JSON); "other" for a value that the wire does not have, NULL for STR_NONE. */
struct app_codex_error_info *item_view_error_info(struct str info, struct arena *arena);
/* Returns the content parts of a client tool's answer that can be decoded. */
struct app_dynamic_tool_call_output_content_item *item_view_dynamic_parts(const struct json *list, struct arena *arena,
                                                                          size_t *ret_count);
/* Set the result and the status of an MCP tool call: from a CallToolResult, or from the text of an error. */
void item_view_mcp_answer(struct app_thread_item_mcp_tool_call *call, const struct json *answer, struct arena *arena);
void item_view_mcp_error(struct app_thread_item_mcp_tool_call *call, struct str message, struct arena *arena);
struct app_collab_agent_state item_view_collab_state(const struct agent_status *status);

#endif
