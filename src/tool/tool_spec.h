/* tool_spec.h — the tools in the form of the Responses API: {"type":"function",…}. */
#ifndef TOOL_TOOL_SPEC_H
#define TOOL_TOOL_SPEC_H

#include <stdbool.h>

#include "tool/tool.h"

struct json_writer;

/* The tools that identify agents by thread id: one entry of type "namespace". */
void tool_spec_write_agents(struct json_writer *w);

/* One tool. freeform: as a custom tool with a grammar, for tools flagged so. */
void tool_spec_write(const struct tool_type *type, bool freeform, struct json_writer *w);

#endif
