/* acp_event.h — translates the engine's events to updates, requests and responses: one handler for each row SENDS of
 * acp_event.def.
 *
 * By file: acp_event.c (tasks, messages, plans, usage), acp_event_tool.c (commands, patches, MCP and other tools,
 * subagents), acp_event_ask.c (approvals and questions), acp_elicit.c (those of MCP). Owns: nothing. Loop thread only.
 */
#ifndef ACP_ACP_EVENT_H
#define ACP_ACP_EVENT_H

#include "protocol/message/message.h"

struct acp_session;

/* The event is borrowed. While files are read for another one, it waits. */
void acp_event(struct acp_session *session, const struct event *event);

#define SENDS(tag) void on_acp_event_##tag(struct acp_session *session, const struct event *event);
#define SILENT(tag, why)
#include "acp/acp_event.def"
#undef SENDS
#undef SILENT

#endif
