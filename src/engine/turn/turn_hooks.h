/* turn_hooks.h — the hooks of a Turn: before and after its request, and before and after each of its tool calls.
 *
 * Without hooks of an event each step goes on at once. Owned by the Turn. Loop thread only. */
#ifndef ENGINE_TURN_HOOKS_H
#define ENGINE_TURN_HOOKS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/list.h"

struct hook_batch;
struct tool_call;
struct turn;

struct turn_hooks {
	struct hook_batch *request; /* the hooks that the request or its end waits for, or NULL */
	struct list calls;          /* struct call_hook: those that calls wait for */
	struct buf contexts;        /* developer messages to add after the outputs: JSON, one per line */
	bool has_asked, has_ended;  /* the hooks of the request and of its end have run */
	bool is_stopped;            /* a hook has stopped the task */
};

void turn_hooks_init(struct turn_hooks *hooks);
void turn_hooks_finish(struct turn_hooks *hooks);
/* Cancels the hooks of calls, which are about to be destroyed. */
void turn_hooks_drop_calls(struct turn *turn);

/* True if hooks run now, and `then` will be called; false to go on at once. */
bool turn_hooks_before_request(struct turn *turn, void (*then)(void *turn));
bool turn_hooks_after_request(struct turn *turn, void (*then)(void *turn));

/* Starts a call after its hooks, unless one of them blocks it. */
void turn_hooks_start_call(struct turn *turn, struct tool_call *call);
/* Runs the hooks of a call that has ended, then `then`. */
void turn_hooks_end_call(struct turn *turn, struct tool_call *call, void (*then)(struct turn *turn));
/* Adds the contexts to the history, after the outputs of the calls. */
void turn_hooks_record(struct turn *turn);

#endif
