/* nested_hooks.h — the hooks of calls that scripts make: the same as those of the model's calls, which the turn runs.
 * Private to engine/. Loop thread only. */
#ifndef ENGINE_NESTED_HOOKS_H
#define ENGINE_NESTED_HOOKS_H

struct session;

/* Completes the session's host (start_nested and so on in struct tool_host). */
void nested_hooks_init(struct session *session);

#endif
