/* task_hooks.h — the hooks that a task waits for between its Turns. Private to engine/task.
 *
 * A task waits for one batch at a time; an abort cancels it. Loop thread only. */
#ifndef ENGINE_TASK_HOOKS_H
#define ENGINE_TASK_HOOKS_H

#include "engine/session/session_hooks.h"
#include "engine/task/task.h"

/* Runs the hooks of an event, then calls `then` with their result: at once, and with an empty one, if there are none.
 * subject: what matchers are compared with, or NULL. */
void task_run_hooks(struct task *task, const struct session_hook *hook, task_hooked_fn then);
/* Runs the hooks of the start of the session or of the subagent, unless it has started. */
void task_run_start_hooks(struct task *task, task_hooked_fn then);
/* Runs the hooks of the end of a task. */
void task_run_stop_hooks(struct task *task, bool is_active, task_hooked_fn then);
/* Runs the hooks of a prompt. */
void task_run_prompt_hooks(struct task *task, const struct task_input *input, task_hooked_fn then);
/* Starts the same hooks for input that joins a running task; NULL: there are none. */
struct hook_batch *task_start_prompt_hooks(struct task *task, const struct task_input *input, hook_done_fn done,
                                           void *self);
/* Runs the hooks before or after a compaction. */
void task_run_compact_hooks(struct task *task, enum hook_event event, bool is_manual, task_hooked_fn then);

/* Adds the message with which a Stop hook continues the task. */
void task_add_hook_prompt(struct task *task, const struct hook_result *result);

#endif
