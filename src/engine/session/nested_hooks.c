/* A script outlives turns, so these hooks belong to the session. */
#include "engine/session/nested_hooks.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/history/history_item.h"
#include "engine/session/session.h"
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

static void on_done(const struct hook_result *result, void *self)
{
	struct nested_hook hook = *(struct nested_hook *)self;
	list_remove(&((struct nested_hook *)self)->link);
	free(self);
	add_contexts(&hook.session->host, result);
	if (!hook.then) {
		tool_hook_begin(hook.call, result);
		return;
	}
	if (result->is_blocked || result->is_stopped) { /* the reason becomes the text of an exception */
		tool_hook_withhold(hook.call, result->reason);
		hook.call->is_blocked = true;
	}
	hook.then(hook.call, hook.self);
}

/* True if hooks run now. */
static bool run(struct tool_host *host, struct tool_call *call, tool_ended_fn then, void *self)
{
	struct session *session = session_of(host);
	enum hook_event event = then ? hook_event_post_tool_use : hook_event_pre_tool_use;
	struct nested_hook *it = xnew(struct nested_hook);
	*it = (struct nested_hook){.session = session, .call = call, .then = then, .self = self};
	list_init(&it->link);
	it->batch = tool_hook_start(session, session->settings, call, event, on_done, it);
	if (!it->batch) {
		free(it);
		return false;
	}
	list_append(&session->nested_hooks, &it->link);
	return true;
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
