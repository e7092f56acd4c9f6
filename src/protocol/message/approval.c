/* A client that sends `reject` knows three kinds of approval requests and cannot answer others, so all other kinds
 * are denied as well.
 *
 * approval_copy converts `reject` to `granular`. All stored policies are copies, so the rest of the engine handles
 * only `granular`. */
#include "protocol/message/approval.h"

#include "base/arena.h"
#include "protocol/record/record.h"

bool approval_may_ask(const struct ask_for_approval *policy, enum approval_question question)
{
	if (policy->tag != ask_for_approval_granular)
		return policy->tag != ask_for_approval_never;
	const struct granular_approval *granular = policy->granular;
	const bool may[QUESTION_count] = {
		[QUESTION_sandbox] = granular->sandbox_approval, [QUESTION_rules] = granular->rules,
		[QUESTION_skill] = granular->skill_approval,     [QUESTION_permissions] = granular->request_permissions,
		[QUESTION_mcp] = granular->mcp_elicitations,
	};
	return may[question];
}

const char *approval_name(const struct ask_for_approval *policy)
{
	return union_find_tag(&union_ask_for_approval, (int)policy->tag)->wire;
}

const char *approval_title(const struct ask_for_approval *policy)
{
	static const char *const titles[] = {
		[ask_for_approval_on_request] = "OnRequest",
		[ask_for_approval_untrusted] = "UnlessTrusted",
		[ask_for_approval_on_failure] = "OnFailure",
		[ask_for_approval_never] = "Never",
		[ask_for_approval_granular] = "Granular(sandbox_approval = false)",
	};
	return titles[policy->tag];
}

bool approval_is_same(const struct ask_for_approval *a, const struct ask_for_approval *b)
{
	if (a->tag != b->tag)
		return false;
	for (int question = 0; question < QUESTION_count; question++)
		if (approval_may_ask(a, question) != approval_may_ask(b, question))
			return false;
	return true;
}

struct ask_for_approval *approval_copy(const struct ask_for_approval *policy, struct arena *arena)
{
	struct ask_for_approval *copy = arena_new(arena, struct ask_for_approval);
	if (policy->tag != ask_for_approval_reject) {
		union_copy(&union_ask_for_approval, policy, arena, copy);
		return copy;
	}
	const struct reject_approval *reject = policy->reject;
	copy->tag = ask_for_approval_granular;
	copy->granular = arena_new(arena, struct granular_approval);
	*copy->granular = (struct granular_approval){
		.sandbox_approval = !reject->sandbox_approval,
		.rules = !reject->rules,
		.mcp_elicitations = !reject->mcp_elicitations,
	};
	return copy;
}
