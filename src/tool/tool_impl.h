/* tool_impl.h — declares the start function of each row of tool.def. Private to tool/. */
#ifndef TOOL_TOOL_IMPL_H
#define TOOL_TOOL_IMPL_H

struct tool_call;

/* Calls a tool of the client, named by call->dynamic. The call fails if the client does not answer within
 * LIMIT_DYNAMIC_CALL_MS. */
void tool_dynamic_start(struct tool_call *call);

#define TOOL(name, wire, args, flags) void tool_##name##_start(struct tool_call *call);
#include "tool/tool.def"
#undef TOOL

#endif
