/* tool_hook.h — a call as hooks see it: the name of its tool, its input and its output, in the form that hooks of other
 * programs know.
 *
 * Commands are `Bash` with {"command": LINE}, whichever tool runs them; patches are `apply_patch` with {"command":
 * PATCH}, and also answer to `Edit` and `Write`. All other tools have their own names and arguments. Private to
 * engine/. Any thread. */
#ifndef ENGINE_TOOL_HOOK_H
#define ENGINE_TOOL_HOOK_H

#include "base/json.h"
#include "tool/tool.h"

struct tool_hook_view {
	struct str name;            /* "Bash", "apply_patch", "mcp__SERVER__TOOL", … */
	const char *const *aliases; /* ends with NULL; or NULL */
	struct str command;         /* the line or the patch; STR_NONE for other tools */
};

/* Texts are allocated in the arena. */
struct tool_hook_view tool_hook_view(const struct tool_call *call, struct arena *arena);
/* Write the members tool_name, tool_input, tool_use_id; and tool_response. */
void tool_hook_write_input(const struct tool_call *call, struct json_writer *w);
void tool_hook_write_response(const struct tool_call *call, struct json_writer *w);
/* Replaces the arguments of a call that has not started by those that a hook gives, in the form of
 * tool_hook_write_input. False if they do not fit. */
must_check bool tool_hook_replace(struct tool_call *call, struct str updated);
/* Writes the output of a call that a hook has blocked. */
void tool_hook_refusal(const struct tool_call *call, struct str reason, struct buf *out);

#endif
