/* tool_hook.h — a call as hooks see it: the name of its tool, its input and its output, in the form that hooks of other
 * programs know.
 *
 * Commands are `Bash` with {"command": LINE}, whichever tool runs them; patches are `apply_patch` with {"command":
 * PATCH}, and also answer to `Edit` and `Write`. All other tools have their own names and arguments. Private to
 * engine/. Loop thread only. */
#ifndef ENGINE_TOOL_HOOK_H
#define ENGINE_TOOL_HOOK_H

#include "base/json.h"
#include "hook/hook_batch.h"
#include "tool/tool.h"

struct session;
struct settings;

struct tool_hook_view {
	struct str name;            /* "Bash", "apply_patch", "mcp__SERVER__TOOL", … */
	const char *const *aliases; /* ends with NULL; or NULL */
	struct str command;         /* the line or the patch; STR_NONE for other tools */
};

/* Texts are allocated in the arena. */
struct tool_hook_view tool_hook_view(const struct tool_call *call, struct arena *arena);
/* Writes the members tool_name, tool_input, tool_use_id. */
void tool_hook_write_input(const struct tool_call *call, struct json_writer *w);
/* Starts the hooks before a call, or after it. NULL: no hook runs, and the caller continues. */
struct hook_batch *tool_hook_start(struct session *session, const struct settings *settings, struct tool_call *call,
                                   enum hook_event event, hook_done_fn done, void *self);
/* Starts a call after its hooks, with the arguments that they give; or finishes it with their refusal. */
void tool_hook_begin(struct tool_call *call, const struct hook_result *result);
/* Replaces the output of a call by this reason, or by words of its own if that is empty. */
void tool_hook_withhold(struct tool_call *call, struct str reason);

#endif
