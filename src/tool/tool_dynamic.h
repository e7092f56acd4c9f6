/* tool_dynamic.h — a call of a tool that the client provides: asked by an event, answered by an Op. Private to tool/
 * and, for the answer, engine/. Source: app-server-wire 9, protocol-v1 (dynamic_tool_response). */
#ifndef TOOL_TOOL_DYNAMIC_H
#define TOOL_TOOL_DYNAMIC_H

#include "protocol/record/types.h"

struct tool_call;

/* call->dynamic says which. A client that does not answer within LIMIT_DYNAMIC_CALL_MS has failed. */
void tool_dynamic_start(struct tool_call *call);
/* The client's answer; false, and nothing happens, if the call has one. */
bool tool_dynamic_answer(struct tool_call *call, const struct dynamic_tool_answer *answer);

#endif
