/* The list is short (one entry per call that waits), so looking through it beats any index. */
#include "engine/session/approval.h"

#include "base/mem.h"
#include "tool/tool.h"

struct approval {
	struct list link;
	struct str call_id; /* owned */
	struct str sub_id;  /* owned */
	struct tool_call *call;
	tool_answer_fn answer;
};

static void approval_destroy(struct approval *approval)
{
	list_remove(&approval->link);
	str_free(&approval->call_id);
	str_free(&approval->sub_id);
	free(approval);
}

void approvals_init(struct approvals *approvals)
{
	*approvals = (struct approvals){0};
	list_init(&approvals->waiting);
}

void approvals_finish(struct approvals *approvals)
{
	struct approval *it;
	while ((it = list_first(&approvals->waiting, struct approval, link)))
		approval_destroy(it);
	vec_for_each(key, &approvals->allowed)
		free(*key);
	vec_finish(&approvals->allowed);
}

void approvals_add(struct approvals *approvals, struct str call_id, struct str sub_id, struct tool_call *call,
                   tool_answer_fn answer)
{
	struct approval *approval = xnew(struct approval);
	*approval = (struct approval){
		.call_id = str_copy(call_id), .sub_id = str_copy(sub_id), .call = call, .answer = answer};
	list_append(&approvals->waiting, &approval->link);
}

static struct approval *approval_find(struct approvals *approvals, struct str id)
{
	struct approval *it;
	list_for_each(it, &approvals->waiting, link) {
		if (str_eq(it->call_id, id))
			return it;
	}
	list_for_each(it, &approvals->waiting, link) {
		if (str_eq(it->sub_id, id))
			return it;
	}
	return NULL;
}

bool approvals_has(struct approvals *approvals, struct str id)
{
	return approval_find(approvals, id) != NULL;
}

struct str approvals_call_id(struct approvals *approvals, struct str id)
{
	const struct approval *approval = approval_find(approvals, id);
	return approval ? approval->call_id : STR_NONE;
}

bool approvals_answer(struct approvals *approvals, struct str id, const struct review_decision *decision)
{
	struct approval *approval = approval_find(approvals, id);
	if (!approval)
		return false;
	struct tool_call *call = approval->call;
	tool_answer_fn answer = approval->answer;
	approval_destroy(approval);
	answer(call, decision);
	return true;
}

void approvals_drop(struct approvals *approvals, const struct tool_call *call)
{
	struct approval *it;
	list_for_each(it, &approvals->waiting, link) {
		if (it->call == call)
			approval_destroy(it);
	}
}

bool approvals_waiting(const struct approvals *approvals)
{
	return !list_empty(&approvals->waiting);
}

bool approvals_is_allowed(const struct approvals *approvals, struct str key)
{
	vec_for_each(it, &approvals->allowed) {
		if (str_is(key, *it))
			return true;
	}
	return false;
}

void approvals_allow(struct approvals *approvals, struct str key)
{
	if (!approvals_is_allowed(approvals, key))
		vec_push(&approvals->allowed, str_dup(key));
}
