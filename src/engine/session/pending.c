/* A linear list: it has one entry per waiting call, at most LIMIT_TOOLS_RUNNING. */
#include "engine/session/pending.h"

#include "base/mem.h"
#include "tool/tool.h"

struct pending_request {
	struct list link;
	enum pending_kind kind;
	struct tool_call *call;
	tool_answer_fn answer;
};

static void request_destroy(struct pending_request *request)
{
	list_remove(&request->link);
	free(request);
}

void pending_init(struct pending *pending)
{
	list_init(&pending->requests);
}

void pending_finish(struct pending *pending)
{
	struct pending_request *it;
	list_for_each(it, &pending->requests, link)
		request_destroy(it);
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

void pending_add(struct pending *pending, enum pending_kind kind, struct tool_call *call, tool_answer_fn answer)
{
	struct pending_request *request = xnew(struct pending_request);
	*request = (struct pending_request){.kind = kind, .call = call, .answer = answer};
	list_append(&pending->requests, &request->link);
}

static struct pending_request *find_request(const struct pending *pending, enum pending_kind kind, struct str id)
{
	struct pending_request *it;
	list_for_each(it, &pending->requests, link) {
		if (it->kind == kind && str_eq(it->call->call_id, id))
			return it;
	}
	list_for_each(it, &pending->requests, link) {
		if (it->kind == kind && kind != PENDING_client_tool && str_eq(it->call->turn_id, id))
			return it;
	}
	return NULL;
}

const struct tool_call *pending_find(const struct pending *pending, enum pending_kind kind, struct str id)
{
	const struct pending_request *request = find_request(pending, kind, id);
	return request ? request->call : NULL;
}

bool pending_answer(struct pending *pending, enum pending_kind kind, struct str id, const void *answer)
{
	struct pending_request *request = find_request(pending, kind, id);
	if (!request)
		return false;
	struct tool_call *call = request->call;
	tool_answer_fn on_answer = request->answer;
	request_destroy(request);
	on_answer(call, answer);
	return true;
}

void pending_drop(struct pending *pending, const struct tool_call *call)
{
	struct pending_request *it;
	list_for_each(it, &pending->requests, link) {
		if (it->call == call)
			request_destroy(it);
	}
}

bool pending_is_empty(const struct pending *pending)
{
	return list_empty(&pending->requests);
}
