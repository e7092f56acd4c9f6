/* A script outlives turns, so these hooks belong to the session. */
#include "engine/session/nested_hooks.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
#include "engine/session/session_hooks.h"
#include "engine/session/tool_hook.h"

struct nested_hook {
	struct list link;
	struct session *session;
	struct tool_call *call;
	struct hook_batch *batch;
	tool_ended_fn then; /* NULL: the hooks before the call */
	void *self;
};

static struct session *session_of(struct tool_host *host)
{
	return container_of(host, struct session, host);
}

static void write_call(struct json_writer *w, const void *arg)
{
	tool_hook_write_input(arg, w);
}

static void write_ended_call(struct json_writer *w, const void *arg)
{
	tool_hook_write_input(arg, w);
	tool_hook_write_response(arg, w);
}

static void add_contexts(struct tool_host *host, const struct hook_result *result)
{
	vec_for_each(text, &result->contexts) {
		auto_buf struct buf item;
		buf_init(&item, LIMIT_USER_ITEM);
		text_message_write(&item, "developer", *text);
		if (!item.over)
			host->add_item(host, buf_str(&item));
	}
}

static void refuse(struct tool_call *call, struct str reason)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	tool_hook_refusal(call, reason, &text);
	call->is_blocked = true;
	tool_call_finish(call, false, buf_str(&text));
}

static void end_before(struct tool_call *call, const struct hook_result *result)
{
	if (result->is_blocked)
		refuse(call, result->reason);
	else if (result->updated_input.len && !tool_hook_replace(call, result->updated_input))
		refuse(call, STR("its updatedInput does not fit this tool"));
	else
		tool_call_start(call);
}

/* An output that a hook withholds becomes the text of an exception. */
static void end_after(struct tool_call *call, const struct hook_result *result)
{
	if (!result->is_blocked && !result->is_stopped)
		return;
	buf_clear(&call->value);
	buf_clear(&call->parts);
	buf_clear(&call->output);
	buf_append_str(&call->output,
	               result->reason.len ? result->reason : STR("The output was withheld by a PostToolUse hook."));
	call->is_blocked = true;
}

static void on_done(const struct hook_result *result, void *self)
{
	struct nested_hook hook = *(struct nested_hook *)self;
	list_remove(&((struct nested_hook *)self)->link);
	free(self);
	add_contexts(&hook.session->host, result);
	if (!hook.then) {
		end_before(hook.call, result);
		return;
	}
	end_after(hook.call, result);
	hook.then(hook.call, hook.self);
}

/* True if hooks run now. */
static bool run(struct tool_host *host, struct tool_call *call, tool_ended_fn then, void *self)
{
	auto_arena struct arena arena = {0};
	struct session *session = session_of(host);
	enum hook_event event = then ? hook_event_post_tool_use : hook_event_pre_tool_use;
	bool is_known = call->type || call->dynamic || call->mcp.start;
	if (!is_known || !session_hooks_has(session, event))
		return false;
	struct tool_hook_view view = tool_hook_view(call, &arena);
	struct nested_hook *it = xnew(struct nested_hook);
	*it = (struct nested_hook){.session = session, .call = call, .then = then, .self = self};
	const struct session_hook hook = {
		.event = event,
		.turn_id = call->turn_id,
		.settings = session->settings,
		.subject = {view.name.ptr, view.aliases},
		.tag = call->call_id.ptr,
		.write = then ? write_ended_call : write_call,
		.arg = call,
	};
	list_append(&session->nested_hooks, &it->link);
	it->batch = session_hooks_start(session, &hook, on_done, it);
	if (it->batch)
		return true;
	list_remove(&it->link);
	free(it);
	return false;
}

static void start(struct tool_host *host, struct tool_call *call)
{
	if (!run(host, call, NULL, NULL))
		tool_call_start(call);
}

static void end(struct tool_host *host, struct tool_call *call, tool_ended_fn then, void *self)
{
	if (call->is_blocked || call->denial.ptr || !run(host, call, then, self))
		then(call, self);
}

static void drop(struct tool_host *host, struct tool_call *call)
{
	struct session *session = session_of(host);
	struct nested_hook *it;
	list_for_each(it, &session->nested_hooks, link) {
		if (it->call != call)
			continue;
		hook_batch_cancel(it->batch);
		list_remove(&it->link);
		free(it);
	}
	session_drop_requests(session, call);
}

void nested_hooks_init(struct session *session)
{
	list_init(&session->nested_hooks);
	session->host.start_nested = start;
	session->host.end_nested = end;
	session->host.drop_nested = drop;
}
