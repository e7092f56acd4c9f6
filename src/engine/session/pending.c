/* An answer names its request by the id of the call. Clients that know only the task may name that instead: their
 * answer goes to the oldest request of the kind. */
#include "engine/session/pending.h"

#include "base/mem.h"

struct pending {
	struct list link;
	enum pending_kind kind;
	struct tool_call *call;
	tool_answer_fn answer;
};

static void pending_destroy(struct pending *pending)
{
	list_remove(&pending->link);
	free(pending);
}

enum pending_kind pending_kind_of(enum event_tag event)
{
	switch (event) {
	case EV_request_user_input:
		return PENDING_question;
	case EV_dynamic_tool_call_request:
		return PENDING_client_tool;
	default:
		return PENDING_approval;
	}
}

void pending_add(struct list *requests, enum event_tag event, struct tool_call *call, tool_answer_fn answer)
{
	struct pending *pending = xnew(struct pending);
	*pending = (struct pending){.kind = pending_kind_of(event), .call = call, .answer = answer};
	list_append(requests, &pending->link);
}

/* An id of a call wins over that of its task. The call of a client's tool is found by its own id only, because a task
 * may have several at once. */
static struct pending *find(const struct list *requests, enum pending_kind kind, struct str id)
{
	struct pending *it;
	list_for_each(it, requests, link) {
		if (it->kind == kind && str_eq(it->call->call_id, id))
			return it;
	}
	list_for_each(it, requests, link) {
		if (it->kind == kind && kind != PENDING_client_tool && str_eq(it->call->turn_id, id))
			return it;
	}
	return NULL;
}

const struct tool_call *pending_find(const struct list *requests, enum pending_kind kind, struct str id)
{
	const struct pending *pending = find(requests, kind, id);
	return pending ? pending->call : NULL;
}

bool pending_answer(struct list *requests, enum pending_kind kind, struct str id, const void *answer)
{
	struct pending *pending = find(requests, kind, id);
	if (!pending)
		return false;
	struct tool_call *call = pending->call;
	tool_answer_fn on_answer = pending->answer;
	pending_destroy(pending); /* first, because the answer may start another request of the call */
	on_answer(call, answer);
	return true;
}

void pending_drop(struct list *requests, const struct tool_call *call)
{
	struct pending *it;
	list_for_each(it, requests, link) {
		if (!call || it->call == call)
			pending_destroy(it);
	}
}
