/* Converts approval and sandbox policies between the engine's records and those of the app-server. */
#include "app_server/threads/thread_policy.h"

#include "app_server/settings/config_view.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/json.h"
#include "config/config.h"

static const struct {
	enum app_ask_for_approval_tag wire;
	enum ask_for_approval_tag engine;
} policies[] = {
	{app_ask_for_approval_untrusted, ask_for_approval_untrusted},
	{app_ask_for_approval_on_request, ask_for_approval_on_request},
	{app_ask_for_approval_on_failure, ask_for_approval_on_failure},
	{app_ask_for_approval_never, ask_for_approval_never},
	{app_ask_for_approval_granular, ask_for_approval_granular},
};

/* The enums have the same order. */
_Static_assert((int)approvals_reviewer_count == (int)app_approvals_reviewer_count, "reviewers");

enum approvals_reviewer reviewer_to_engine(enum app_approvals_reviewer reviewer)
{
	return (enum approvals_reviewer)reviewer;
}

enum app_approvals_reviewer reviewer_from_engine(enum approvals_reviewer reviewer)
{
	return (enum app_approvals_reviewer)reviewer;
}

struct ask_for_approval *policy_to_engine(const struct app_ask_for_approval *policy, struct arena *arena)
{
	struct ask_for_approval *ret = arena_new(arena, struct ask_for_approval);
	policy = policy_normalize(policy, arena);
	for (size_t i = 0; i < countof(policies); i++) {
		if (policies[i].wire == policy->tag)
			ret->tag = policies[i].engine;
	}
	if (policy->tag != app_ask_for_approval_granular)
		return ret;
	const struct app_granular_approval *from = policy->granular;
	ret->granular = arena_new(arena, struct granular_approval);
	*ret->granular = (struct granular_approval){
		.sandbox_approval = from->sandbox__approval,
		.rules = from->rules,
		.skill_approval = from->skill__approval,
		.request_permissions = from->request__permissions,
		.mcp_elicitations = from->mcp__elicitations,
	};
	return ret;
}

struct app_ask_for_approval *policy_from_engine(const struct ask_for_approval *policy, struct arena *arena)
{
	struct app_ask_for_approval *ret = arena_new(arena, struct app_ask_for_approval);
	for (size_t i = 0; i < countof(policies); i++) {
		if (policies[i].engine == policy->tag)
			ret->tag = policies[i].wire;
	}
	if (policy->tag != ask_for_approval_granular)
		return ret;
	const struct granular_approval *from = policy->granular;
	ret->granular = arena_new(arena, struct app_granular_approval);
	*ret->granular = (struct app_granular_approval){
		.sandbox__approval = from->sandbox_approval,
		.rules = from->rules,
		.skill__approval = from->skill_approval,
		.request__permissions = from->request_permissions,
		.mcp__elicitations = from->mcp_elicitations,
	};
	return ret;
}

const struct app_ask_for_approval *policy_normalize(const struct app_ask_for_approval *policy, struct arena *arena)
{
	if (policy->tag != app_ask_for_approval_reject)
		return policy;
	struct app_granular_approval *granular = arena_new(arena, struct app_granular_approval);
	struct app_ask_for_approval *ret = arena_new(arena, struct app_ask_for_approval);
	*granular = (struct app_granular_approval){
		.sandbox__approval = !policy->reject->sandbox__approval,
		.rules = !policy->reject->rules,
		.mcp__elicitations = !policy->reject->mcp__elicitations,
	};
	*ret = (struct app_ask_for_approval){.tag = app_ask_for_approval_granular, .granular = granular};
	return ret;
}

/* ---- sandbox ---- */

struct sandbox *sandbox_to_engine(const struct app_sandbox_policy *policy, struct arena *arena)
{
	struct sandbox *ret = arena_new(arena, struct sandbox);
	switch (policy->tag) {
	case app_sandbox_policy_danger_full_access:
		ret->tag = sandbox_danger_full_access;
		break;
	case app_sandbox_policy_external_sandbox:
		ret->tag = sandbox_external_sandbox;
		ret->external_sandbox = arena_new(arena, struct external_sandbox);
		ret->external_sandbox->network_access = policy->external_sandbox->network_access;
		break;
	case app_sandbox_policy_workspace_write:
		ret->tag = sandbox_workspace_write;
		ret->workspace_write = arena_new(arena, struct workspace_write);
		*ret->workspace_write = (struct workspace_write){
			.writable_roots = policy->workspace_write->writable_roots,
			.writable_roots_count = policy->workspace_write->writable_roots_count,
			.network_access = policy->workspace_write->network_access,
			.exclude_tmpdir_env_var = policy->workspace_write->exclude_tmpdir_env_var,
			.exclude_slash_tmp = policy->workspace_write->exclude_slash_tmp,
		};
		break;
	default:
		ret->tag = sandbox_read_only;
	}
	return ret;
}

struct app_sandbox_policy *sandbox_from_engine(const struct sandbox *sandbox, struct arena *arena)
{
	struct app_sandbox_policy *ret = arena_new(arena, struct app_sandbox_policy);
	switch (sandbox->tag) {
	case sandbox_danger_full_access:
		ret->tag = app_sandbox_policy_danger_full_access;
		break;
	case sandbox_external_sandbox:
		ret->tag = app_sandbox_policy_external_sandbox;
		ret->external_sandbox = arena_new(arena, struct app_sandbox_external);
		ret->external_sandbox->network_access = sandbox->external_sandbox->network_access;
		break;
	case sandbox_workspace_write:
		ret->tag = app_sandbox_policy_workspace_write;
		ret->workspace_write = arena_new(arena, struct app_sandbox_policy_workspace_write);
		*ret->workspace_write = (struct app_sandbox_policy_workspace_write){
			.writable_roots = sandbox->workspace_write->writable_roots,
			.writable_roots_count = sandbox->workspace_write->writable_roots_count,
			.network_access = sandbox->workspace_write->network_access,
			.exclude_tmpdir_env_var = sandbox->workspace_write->exclude_tmpdir_env_var,
			.exclude_slash_tmp = sandbox->workspace_write->exclude_slash_tmp,
		};
		break;
	default:
		ret->tag = app_sandbox_policy_read_only;
		ret->read_only = arena_new(arena, struct app_sandbox_read_only);
	}
	return ret;
}

struct app_active_permission_profile *policy_default_profile(const struct config *config, struct arena *arena)
{
	if (config->is_set.sandbox_mode && !config->is_set.default_permissions)
		return NULL;
	struct app_active_permission_profile *ret = arena_new(arena, struct app_active_permission_profile);
	ret->id = config->is_set.default_permissions ? str_of(config->default_permissions)
	                                             : str_of(permission_profile_of(config->sandbox_mode));
	return ret;
}

/* ---- decisions ---- */

/* True if the answer denies a host: a network amendment contains its own decision. */
static bool denies_host(const struct app_command_execution_approval_decision *decision)
{
	auto_arena struct arena arena = {0};
	if (decision->tag != app_command_execution_approval_decision_apply_network_policy_amendment)
		return false;
	struct str text = decision->apply_network_policy_amendment->network__policy__amendment;
	return !str_is(json_get_str(json_parse(&arena, text, NULL), "action"), "allow");
}

struct review_decision policy_decision(const struct app_command_execution_approval_decision *decision,
                                       struct exec_amendment *amendment)
{
	static const enum review_decision_tag tags[] = {
		[app_command_execution_approval_decision_accept] = review_decision_approved,
		[app_command_execution_approval_decision_accept_for_session] = review_decision_approved_for_session,
		[app_command_execution_approval_decision_accept_with_execpolicy_amendment] =
			review_decision_approved_execpolicy_amendment,
		[app_command_execution_approval_decision_apply_network_policy_amendment] = review_decision_approved,
		[app_command_execution_approval_decision_decline] = review_decision_denied,
		[app_command_execution_approval_decision_cancel] = review_decision_abort,
	};
	struct review_decision ret = {.tag = tags[decision->tag]};
	if (denies_host(decision))
		ret.tag = review_decision_denied;
	if (ret.tag == review_decision_approved_execpolicy_amendment) {
		const struct app_exec_policy_change *from = decision->accept_with_execpolicy_amendment;
		*amendment = (struct exec_amendment){from->execpolicy__amendment, from->execpolicy__amendment_count};
		ret.approved_execpolicy_amendment = amendment;
	}
	return ret;
}
