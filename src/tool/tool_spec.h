/* tool_spec.h — describes the tools for the Responses API: {"type":"function",…}. */
#ifndef TOOL_TOOL_SPEC_H
#define TOOL_TOOL_SPEC_H

#include <stdbool.h>

#include "tool/tool.h"

struct json_writer;

/* Writes the namespace of the clock, with the tool that sleeps. */
void tool_spec_write_clock(struct json_writer *w);
/* Writes the tools that identify agents by thread id, or those of TOOL_TEAM, as one entry of type "namespace". roles:
 * describes the roles of agents; STR_NONE: there is no role, and no argument for one. */
void tool_spec_write_agents(bool is_team, struct str roles, struct json_writer *w);

/* Writes one tool. freeform: as a custom tool with a grammar, if its row has that flag. has_places: with the argument
 * environment_id, if it takes one. */
void tool_spec_write(const struct tool_type *type, bool freeform, bool has_places, struct json_writer *w);
/* Writes one tool with this note at the end of its description. */
void tool_spec_write_noted(const struct tool_type *type, const char *note, bool has_places, struct json_writer *w);

#endif
