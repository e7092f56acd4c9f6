/* The event is created when the request is made, because its body is borrowed from the tool during that call only. */
#include "engine/session/session_permission.h"

#include "base/list.h"
#include "base/mem.h"
#include "engine/session/guardian.h"
#include "engine/session/pending.h"
#include "engine/session/session.h"
#include "engine/session/session_hooks.h"
#include "engine/session/tool_hook.h"

struct permission {
	struct list link;
	struct session *session;
	struct tool_call *call;
	struct event *event;
	tool_answer_fn answer;
	struct hook_batch *batch;
};

static void permission_destroy(struct permission *it)
{
	list_remove(&it->link);
	hook_batch_cancel(it->batch);
	event_destroy(it->event);
	free(it);
}

static void write_request(struct json_writer *w, const void *arg)
{
	tool_hook_write_input(arg, w);
}

static void ask_user(const struct permission *it)
{
	struct session *session = it->session;
	const struct event *event = it->event;
	if (guardian_start(session, it->call, event->msg.tag, event->msg.body, it->answer))
		return;
	pending_add(&session->requests, event->msg.tag, event->msg.body, it->call, it->answer);
	session_push(session, it->call->turn_id, event->msg.tag, event->msg.body, NULL); /* it is recorded */
}

static void on_done(const struct hook_result *result, void *self)
{
	struct permission *it = self;
	struct tool_call *call = it->call;
	struct review_decision decision = {.tag = result->permission == HOOK_PERMISSION_allow ? review_decision_approved
	                                                                                      : review_decision_denied};
	tool_answer_fn answer = it->answer;
	it->batch = NULL;
	if (result->permission == HOOK_PERMISSION_none) {
		ask_user(it);
		permission_destroy(it);
		return;
	}
	if (result->permission == HOOK_PERMISSION_deny) {
		struct str message = result->permission_message;
		call->denial =
			arena_str(&call->arena, message.len ? message : STR("denied by a PermissionRequest hook"));
	}
	session_record_decision(it->session, call, &decision, "Config");
	loop_defer(&it->session->asked);
	permission_destroy(it);
	answer(call, &decision);
}

/* The alternative to an event of a client or of another tool would be unsafe: only commands and patches are decided. */
static bool ask_hooks(struct session *session, struct tool_call *call, enum event_tag tag, const void *body,
                      tool_answer_fn answer)
{
	auto_arena struct arena arena = {0};
	bool is_approval = tag == EV_exec_approval_request || tag == EV_apply_patch_approval_request;
	if (!is_approval || !session_hooks_has(session, hook_event_permission_request))
		return false;
	struct tool_hook_view view = tool_hook_view(call, &arena);
	struct permission *it = xnew(struct permission);
	const struct session_hook hook = {
		.event = hook_event_permission_request,
		.turn_id = call->turn_id,
		.settings = session->settings,
		.subject = {view.name.ptr, view.aliases},
		.tag = call->call_id.ptr,
		.write = write_request,
		.arg = call,
	};
	*it = (struct permission){.session = session, .call = call, .answer = answer};
	list_init(&it->link);
	it->event = event_create(call->turn_id, tag, body);
	it->batch = session_hooks_start(session, &hook, on_done, it);
	bool is_started = it->batch != NULL;
	if (is_started)
		list_append(&session->permissions, &it->link);
	else
		permission_destroy(it);
	return is_started;
}

static bool start(struct session *session, struct tool_call *call, enum event_tag tag, const void *body,
                  tool_answer_fn answer)
{
	return ask_hooks(session, call, tag, body, answer) || guardian_start(session, call, tag, body, answer);
}

static void drop(struct session *session, const struct tool_call *call)
{
	struct permission *it;
	list_for_each(it, &session->permissions, link)
		if (!call || it->call == call)
			permission_destroy(it);
	guardian_drop(session, call);
}

void session_permission_init(struct session *session)
{
	static const struct session_permission_ops ops = {start, drop};
	session->permission_ops = &ops;
	list_init(&session->permissions);
	list_init(&session->reviews);
}
