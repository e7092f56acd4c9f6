/* An answer names its request by the id of the call. Clients that know only the task may name that instead: their
 * answer goes to the oldest request of the kind. */
#include "engine/session/pending.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

struct pending {
	struct list link;
	enum pending_kind kind;
	struct tool_call *call;
	tool_answer_fn answer;
	char *id; /* of an elicitation; else NULL, and the call's id is used */
};

static void pending_destroy(struct pending *pending)
{
	list_remove(&pending->link);
	free(pending->id);
	free(pending);
}

enum pending_kind pending_kind_of(enum event_tag event)
{
	switch (event) {
	case EV_request_user_input:
		return PENDING_question;
	case EV_dynamic_tool_call_request:
		return PENDING_client_tool;
	case EV_elicitation_request:
		return PENDING_elicitation;
	default:
		return PENDING_approval;
	}
}

static char *read_id(const struct ev_elicitation_request *event)
{
	auto_arena struct arena arena = {0};
	struct str id = STR_NONE;
	json_to_str(json_parse(&arena, event->id, NULL), &id);
	return str_dup(id);
}

void pending_add(struct list *requests, enum event_tag event, const void *body, struct tool_call *call,
                 tool_answer_fn answer)
{
	struct pending *pending = xnew(struct pending);
	*pending = (struct pending){.kind = pending_kind_of(event), .call = call, .answer = answer};
	if (event == EV_elicitation_request)
		pending->id = read_id(body);
	list_append(requests, &pending->link);
}

static struct str id_of(const struct pending *pending)
{
	return pending->id ? str_of(pending->id) : pending->call->call_id;
}

/* An id of a call wins over that of its task. The call of a client's tool and an elicitation are found by their own ids
 * only, because a task may have several at once. */
static struct pending *find(const struct list *requests, enum pending_kind kind, struct str id)
{
	struct pending *it;
	list_for_each(it, requests, link) {
		if (it->kind == kind && str_eq(id_of(it), id))
			return it;
	}
	bool has_own_id = kind == PENDING_client_tool || kind == PENDING_elicitation;
	list_for_each(it, requests, link) {
		if (it->kind == kind && !has_own_id && str_eq(it->call->turn_id, id))
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

void pending_withdraw(struct list *requests, struct str id)
{
	struct pending *pending = find(requests, PENDING_elicitation, id);
	if (pending)
		pending_destroy(pending);
}

/* The id is that of the event, where that of an elicitation is JSON. */
static void report_dropped(const struct pending *pending, pending_dropped_fn on_dropped, void *self)
{
	auto_buf struct buf quoted;
	struct ev_request_user_input_expired event = {.call_id = id_of(pending), .turn_id = pending->call->turn_id};
	buf_init(&quoted, LIMIT_CALL_ID * 8);
	if (pending->kind == PENDING_elicitation) {
		json_quote(&quoted, event.call_id);
		event.call_id = buf_str(&quoted);
	}
	on_dropped(&event, self);
}

void pending_drop(struct list *requests, const struct tool_call *call, pending_dropped_fn on_dropped, void *self)
{
	struct pending *it;
	list_for_each(it, requests, link) {
		if (call && it->call != call)
			continue;
		if (on_dropped && it->kind != PENDING_client_tool)
			report_dropped(it, on_dropped, self);
		pending_destroy(it);
	}
}
