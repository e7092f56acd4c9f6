/* session_tools.h — the tools that a session offers to its model and to scripts. Private to engine/. Loop thread only.
 */
#ifndef ENGINE_SESSION_TOOLS_H
#define ENGINE_SESSION_TOOLS_H

#include <stdbool.h>

#include "base/str.h"

struct conversation;
struct session;
struct settings;
struct tool_type;

/* Returns the tools offered to the model of the settings, as a JSON array; borrowed until the model changes. */
struct str conversation_tools(struct conversation *conversation, const struct settings *settings);
/* True if the configuration removes this tool, so that a call of it is a call of an unknown tool. */
bool session_lacks_tool(const struct session *session, const struct tool_type *type);
/* True if the model gets the tools that name agents by thread id. */
bool session_offers_agents(const struct session *session);

#endif
