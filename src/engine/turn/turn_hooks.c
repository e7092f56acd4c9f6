/* A call that waits for hooks counts as running: it takes its place among the concurrent calls, and an interrupt
 * records an output for it. */
#include "engine/turn/turn.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation.h"
#include "engine/session/session.h"
#include "engine/session/session_hooks.h"
#include "tool/tool.h"
#include "engine/session/tool_hook.h"

struct call_hook {
	struct list link;
	struct turn *turn;
	struct tool_call *call;
	struct hook_batch *batch;
	void (*then)(struct turn *turn);
};

void turn_hooks_init(struct turn_hooks *hooks)
{
	list_init(&hooks->calls);
	buf_init(&hooks->contexts, LIMIT_USER_ITEM);
}

static void drop_calls(struct turn_hooks *hooks)
{
	struct call_hook *it;
	list_for_each(it, &hooks->calls, link) {
		hook_batch_cancel(it->batch);
		list_remove(&it->link);
		free(it);
	}
}

void turn_hooks_finish(struct turn_hooks *hooks)
{
	hook_batch_cancel(steal(hooks->request));
	drop_calls(hooks);
	buf_finish(&hooks->contexts);
}

void turn_hooks_drop_calls(struct turn *turn)
{
	drop_calls(&turn->hooks);
}

/* ---- the request ---- */

static void write_usage(const struct token_usage *usage, struct json_writer *w)
{
	jw_key(w, "token_usage");
	jw_object(w);
	jw_member_i64(w, "input_tokens", usage->input_tokens);
	jw_member_i64(w, "cached_input_tokens", usage->cached_input_tokens);
	jw_member_i64(w, "cache_write_input_tokens", 0);
	jw_member_i64(w, "output_tokens", usage->output_tokens);
	jw_member_i64(w, "reasoning_output_tokens", usage->reasoning_output_tokens);
	jw_member_i64(w, "total_tokens", usage->total_tokens);
	jw_object_end(w);
}

static void write_response(struct json_writer *w, const void *arg)
{
	const struct turn *turn = arg;
	jw_member_cstr(w, "status", turn->failure ? "failed" : "completed");
	jw_member_cstr(w, "error", turn->failure);
	write_usage(&turn->env->conversation->usage_last, w);
}

static void on_request_hooks(const struct hook_result *result, void *self)
{
	struct turn *turn = self;
	turn->hooks.request = NULL;
	turn->hooks.is_stopped |= result->is_stopped;
	turn->after_hooks(turn);
}

static bool run(struct turn *turn, enum hook_event event, void (*then)(void *turn))
{
	const struct turn_env *env = turn->env;
	const struct session_hook hook = {
		.event = event,
		.turn_id = env->id,
		.settings = env->settings,
		.write = event == hook_event_post_model_request ? write_response : NULL,
		.arg = turn,
	};
	turn->after_hooks = then;
	turn->hooks.request = session_hooks_start(env->session, &hook, on_request_hooks, turn);
	return turn->hooks.request != NULL;
}

bool turn_hooks_before_request(struct turn *turn, void (*then)(void *turn))
{
	if (turn->hooks.has_asked)
		return false;
	turn->hooks.has_asked = true;
	return run(turn, hook_event_pre_model_request, then);
}

bool turn_hooks_after_request(struct turn *turn, void (*then)(void *turn))
{
	if (turn->hooks.has_ended || turn->hooks.is_stopped)
		return false;
	turn->hooks.has_ended = true;
	return run(turn, hook_event_post_model_request, then);
}

/* ---- calls ---- */

/* Returns true if hooks of the call run now. */
static bool run_call(struct turn *turn, struct tool_call *call, enum hook_event event, hook_done_fn done,
                     void (*then)(struct turn *turn))
{
	const struct turn_env *env = turn->env;
	struct call_hook *it = xnew(struct call_hook);
	*it = (struct call_hook){.turn = turn, .call = call, .then = then};
	it->batch = tool_hook_start(env->session, env->settings, call, event, done, it);
	if (!it->batch) {
		free(it);
		return false;
	}
	list_append(&turn->hooks.calls, &it->link);
	return true;
}

static void keep_contexts(struct turn *turn, const struct hook_result *result)
{
	vec_for_each(text, &result->contexts) {
		size_t before = turn->hooks.contexts.len;
		text_message_write(&turn->hooks.contexts, "developer", *text);
		buf_append_char(&turn->hooks.contexts, '\n');
		if (turn->hooks.contexts.over)
			buf_truncate(&turn->hooks.contexts, before);
	}
}

static void on_before_call(const struct hook_result *result, void *self)
{
	struct call_hook *it = self;
	struct turn *turn = it->turn;
	struct tool_call *call = it->call;
	list_remove(&it->link);
	free(it);
	keep_contexts(turn, result);
	tool_hook_begin(call, result);
}

bool turn_hooks_before_call(struct turn *turn, struct tool_call *call)
{
	return run_call(turn, call, hook_event_pre_tool_use, on_before_call, NULL);
}

static void on_after_call(const struct hook_result *result, void *self)
{
	struct call_hook *it = self;
	struct turn *turn = it->turn;
	struct tool_call *call = it->call;
	void (*then)(struct turn *) = it->then;
	list_remove(&it->link);
	free(it);
	keep_contexts(turn, result);
	if (result->is_blocked || result->is_stopped)
		tool_hook_withhold(call, result->reason);
	then(turn);
}

void turn_hooks_end_call(struct turn *turn, struct tool_call *call, void (*then)(struct turn *turn))
{
	if (call->denial.ptr)
		tool_hook_withhold(call, call->denial);
	if (call->is_blocked || call->denial.ptr ||
	    !run_call(turn, call, hook_event_post_tool_use, on_after_call, then))
		then(turn);
}

void turn_hooks_record(struct turn *turn)
{
	struct str rest = buf_str(&turn->hooks.contexts), line;
	while (str_next_line(&rest, &line))
		conversation_add(turn->env->conversation, line);
	buf_clear(&turn->hooks.contexts);
}
