/* acp_tool.h — builds and sends tool calls.
 *
 * The builders are used for events and for the history of session/load: results live in the arena and borrow from the
 * source. Builders: any thread; the others: loop thread. */
#ifndef ACP_ACP_TOOL_H
#define ACP_ACP_TOOL_H

#include "protocol/message/acp.h"

struct acp_session;
struct app_thread_item;
struct arena;
struct web_search_item;

/* Returns false for an item that is not a tool call. cwd: the session's folder. */
bool acp_tool_of_item(const struct app_thread_item *item, struct str cwd, struct arena *arena,
                      struct acp_tool_call *ret);

/* Returns a content part with this text. */
struct acp_tool_content acp_tool_text(struct str text, struct arena *arena);

/* Sends tool_call and remembers the call; if it was sent before, only what can have changed. */
void acp_tool_begin(struct acp_session *session, const struct acp_tool_call *call);
/* Sends the end of a call, preceded by tool_call if that was not sent yet. */
void acp_tool_end(struct acp_session *session, const struct acp_tool_call *call);
void acp_tool_web_search(struct acp_session *session, const struct web_search_item *item, bool is_complete);

#endif
