/* tool_spec.h — the tools as the Responses API wants them told: {"type":"function",…} (core 1.5, 4.1). */
#ifndef TOOL_TOOL_SPEC_H
#define TOOL_TOOL_SPEC_H

#include <stdbool.h>

#include "tool/tool.h"

struct json_writer;

/* The tools that name agents by their threads: one entry, of type "namespace" (subagents 8.1). */
void tool_spec_write_agents(struct json_writer *w);

/* One tool. freeform: as a custom tool with a grammar, for tools flagged so. */
void tool_spec_write(const struct tool_type *type, bool freeform, struct json_writer *w);

#endif
