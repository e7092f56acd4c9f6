/* Opens subagents. A new one inherits its parent's current model, folder, sandbox, effort and instructions. A fork also
 * shares its parent's history, in the same memory, up to the call that requested the fork. */
#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/agent_role.h"
#include "config/config.h"
#include "config/config_required.h"
#include "engine/codex/agents.h"
#include "engine/codex/agents_priv.h"
#include "engine/codex/codex_data.h"
#include "engine/session/environment_docs.h"
#include "engine/session/resume_load.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_mcp.h"
#include "engine/session/conversation.h"
#include "model/model_catalog.h"
#include "protocol/record/types.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_reader.h"

/* The roles that exist without configuration; they have no settings. */
static const char *const built_in[] = {"default", "explorer", "worker"};

static bool is_built_in(const char *role)
{
	for (size_t i = 0; i < countof(built_in); i++)
		if (strcmp(role, built_in[i]) == 0)
			return true;
	return false;
}

static int fail_unknown(const struct agent_roles *roles, const char *role, struct error *err)
{
	auto_buf struct buf known;
	buf_init(&known, ERROR_TEXT_MAX / 2);
	vec_for_each(it, roles)
		if (known.len + it->name.len < ERROR_TEXT_MAX / 4)
			buf_printf(&known, "`%.*s`, ", STR_ARG(it->name));
	for (size_t i = 0; i < countof(built_in); i++)
		buf_printf(&known, "%s`%s`", i ? ", " : "", built_in[i]);
	return error_set(err, ERR_invalid,
	                 "unknown agent_type '%s'. Choose a known one (%s), or omit agent_type; a user defines a role "
	                 "as [agents.NAME] in config.toml",
	                 role, known.data);
}

/* Finds the role of the subagent; *ret is NULL for one without settings. */
static int find_role(const struct config *config, const struct agent *agent, const struct agent_role **ret,
                     struct error *err)
{
	*ret = agent->role ? agent_role_find(config_roles(config), str_of(agent->role)) : NULL;
	if (!agent->role || *ret || is_built_in(agent->role))
		return 0;
	return fail_unknown(config_roles(config), agent->role, err);
}

/* Returns the configuration of the subagent, with a reference: the owner's, with the MCP servers of a reload, and with
 * the roles from there down to the subagent. */
static struct config *config_of(const struct codex *owner, const struct agent *agent, struct error *err)
{
	const struct agent_role *role;
	if (agent == owner->env.agent)
		return config_ref(session_mcp_config(owner->session->mcp));
	struct config *above = config_of(owner, agent->parent, err), *config = NULL;
	if (above && find_role(above, agent, &role, err) == 0)
		config = role ? config_with_role(above, role, err) : config_ref(above);
	config_unref(above);
	return config;
}

static struct codex *open_codex(struct codex *parent, struct agent *agent, const struct unfinished *unfinished,
                                struct error *err)
{
	struct config *config = config_of(parent, agent, err);
	if (!config)
		return NULL;
	struct codex_options options = {
		.services = parent->services,
		.config = config,
		.source = parent->env.source,
		.cwd = parent->session->settings->cwd,
		.client = parent->env.client,
		.client_version = parent->env.client_version,
		.sink = parent->env.sink,
		.unfinished = unfinished,
		.ephemeral = parent->env.ephemeral,
		.mutes_output = true,
		.begins_once_allowed = parent->env.begins_once_allowed,
		.reports_refusals = parent->env.reports_refusals,
		.is_interactive = parent->env.is_interactive,
		.reads_record = parent->env.reads_record,
		.is_unattended = parent->env.is_unattended,
		.steers = true,
	};
	struct codex *child = parent->ops->open(&options);
	config_unref(config);
	agents_join(child, agent);
	return child;
}

/* Orders sandboxes from the narrowest, in a mode by the network. Outside of codex only the network is known. */
static int rank_of(const struct sandbox *sandbox)
{
	switch (sandbox->tag) {
	case sandbox_read_only:
		return 0;
	case sandbox_workspace_write:
		return sandbox->workspace_write->network_access ? 2 : 1;
	case sandbox_external_sandbox:
		return sandbox->external_sandbox->network_access == network_access_enabled ? 4 : 3;
	default:
		return 5;
	}
}

/* Returns the parent's sandbox, or the narrower one of the launch. room: holds the parts of the result. Roots and
 * exclusions stay those of the parent. */
static struct sandbox lowered(const struct sandbox *own, const struct agent_launch *launch,
                              struct workspace_write *room)
{
	if (!launch->has_sandbox)
		return *own;
	if (launch->sandbox != sandbox_mode_workspace_write)
		return (struct sandbox){.tag = sandbox_read_only};
	*room = own->tag == sandbox_workspace_write ? *own->workspace_write : (struct workspace_write){0};
	room->network_access = false;
	return (struct sandbox){.tag = sandbox_workspace_write, .workspace_write = room};
}

/* Accepts known models and the parent's own. For any other model the provider's error would come much later. */
static int check_model(const struct codex *parent, const struct agent_launch *launch, struct error *err)
{
	struct model_info info;
	auto_buf struct buf names;
	buf_init(&names, 4 * KIB);
	if (!launch->model.len || launch->has_own_model || str_is(launch->model, parent->session->settings->model) ||
	    model_catalog_get(launch->model).is_known)
		return 0;
	for (size_t i = 0; model_catalog_at(i, &info); i++) {
		if (!info.is_hidden)
			buf_printf(&names, "%s%.*s", names.len ? ", " : "", STR_ARG(info.slug));
	}
	if (launch->tool)
		return error_set(err, ERR_invalid, "Unknown model `%.*s` for %s. Available models: %s",
		                 STR_ARG(launch->model), launch->tool, names.data);
	return error_set(err, ERR_invalid, "invalid model `%.*s`; available models: %s", STR_ARG(launch->model),
	                 names.data);
}

/* Chooses the effort of the launch, else the parent's; it is lowered or dropped if the model does not support it. */
static void choose_effort(struct op_configure_session *op, const struct settings *own,
                          const struct agent_launch *launch)
{
	int effort = (int)own->effort;
	struct model_info info = model_catalog_get(op->model);
	bool is_known = launch->effort.len && enum_parse(&enum_reasoning_effort, launch->effort, &effort);
	if (launch->has_own_effort && !is_known)
		return; /* the subagent's configuration has the word */
	op->model_reasoning_effort = (enum reasoning_effort)effort;
	if (op->model_reasoning_effort == reasoning_effort_xhigh &&
	    !model_info_has_effort(&info, op->model_reasoning_effort))
		op->model_reasoning_effort = reasoning_effort_high;
	op->has_model_reasoning_effort = op->model_reasoning_effort != reasoning_effort_unset &&
	                                 model_info_has_effort(&info, op->model_reasoning_effort);
}

static int configure(struct codex *parent, struct codex *child, const struct agent_launch *launch, struct error *err)
{
	const struct settings *settings = parent->session->settings;
	struct workspace_write room;
	struct sandbox sandbox = lowered(settings->sandbox, launch, &room);
	struct settings_change place = session_environment_change(settings);
	struct op_configure_session op = {
		.model = launch->model.len ? launch->model : str_of(settings->model),
		.cwd = str_of(settings->cwd),
		.approval_policy = (struct ask_for_approval *)(uintptr_t)settings->approval_policy,
		.has_approvals_reviewer = true,
		.approvals_reviewer = settings->reviewer,
		.sandbox_policy = &sandbox,
		.user_instructions = str_of(parent->session->user_instructions),
	};
	auto_free char *model = str_dup(op.model);
	if (config_required_review_for(config_required(child->env.config), model))
		op.approvals_reviewer = approvals_reviewer_auto_review;
	choose_effort(&op, settings, launch);
	if (child->ops->open_session(child, STR(""), &op, err) != 0)
		return -(int)err->code;
	/* the machine itself, since another one may have been registered under its id meanwhile */
	return session_change_settings(child->session, &place, err);
}

/* ---- the history of a fork ---- */

/* Returns the index of the call that requested the fork; the child gets the items before it. */
static size_t find_call(const struct context *context, struct str call_id)
{
	for (size_t i = context->items.count; i > 0; i--) {
		auto_arena struct arena arena = {0};
		struct str text = context_item_text(context, i - 1);
		if (str_find(text, call_id) < 0)
			continue;
		const struct json *item = json_parse(&arena, text, NULL);
		if (str_is(json_get_str(item, "type"), "function_call") &&
		    str_eq(json_get_str(item, "call_id"), call_id))
			return i - 1;
	}
	return context->items.count;
}

static void record_call(struct session *session, const struct agent_launch *launch)
{
	auto_buf struct buf item;
	buf_init(&item, LIMIT_TOOL_ITEM);
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "function_call");
	jw_member_cstr(&w, "name", "subagent_fork");
	jw_member_str(&w, "arguments", launch->arguments);
	jw_member_str(&w, "call_id", launch->call_id);
	jw_object_end(&w);
	conversation_add(&session->conversation, buf_str(&item));
}

/* Answers the copied fork call in the child's history with the payload that the parent got, but with "role":"child".
 */
static void record_role(struct session *session, const struct agent *agent, const struct agent_launch *launch)
{
	auto_buf struct buf role, item;
	buf_init(&role, LIMIT_TOOL_OUTPUT);
	buf_init(&item, LIMIT_TOOL_ITEM);
	struct json_writer w = json_writer(&role);
	jw_object(&w);
	jw_member_cstr(&w, "role", "child");
	jw_member_cstr(&w, "parent_session_id", agent->parent->session_id);
	jw_member_cstr(&w, "child_session_id", agent->session_id);
	jw_member_cstr(&w, "label", agent->label);
	jw_member_cstr(&w, "summary", agent->summary);
	jw_member_str(&w, "prompt", launch->prompt);
	jw_object_end(&w);
	w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "function_call_output");
	jw_member_str(&w, "call_id", launch->call_id);
	jw_member_str(&w, "output", buf_str(&role));
	jw_object_end(&w);
	conversation_add(&session->conversation, buf_str(&item));
}

static void inherit(struct session *parent, struct session *session, struct agent *agent,
                    const struct agent_launch *launch)
{
	const struct conversation *from = parent->task ? parent->task->turn_env.conversation : &parent->conversation;
	size_t count = find_call(&from->context, launch->call_id);
	context_finish(&session->conversation.context);
	context_share(&session->conversation.context, &from->context, count);
	conversation_record_all(&session->conversation);
	conversation_close_calls(&session->conversation);
	agent->initial_messages = count;
	conversation_set_announced(&session->conversation, from->announced);
	session->conversation.docs_number = from->announced && settings_have_remote(from->announced) ? DOCS_RESUMED : 0;
	if (from->counted_items <= count) {
		session->conversation.counted_items = from->counted_items;
		session->conversation.counted_tokens = from->counted_tokens;
	}
	if (launch->tells_role) {
		record_call(session, launch);
		record_role(session, agent, launch);
	}
}

/* ---- open and reopen ---- */

static int submit(struct codex *child, const struct agent_launch *launch, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	struct input_text text = {.text = launch->prompt};
	struct user_input words = {.tag = user_input_text, .text = &text};
	struct op_user_input input = {.items = &words, .items_count = 1};
	if (launch->item_count) {
		input.items = (struct user_input *)(uintptr_t)launch->items;
		input.items_count = launch->item_count;
	} else if (!str_trim(launch->prompt).len) {
		return 0;
	}
	struct op op = {.tag = OP_user_input, .user_input = &input};
	uuid_v7(id);
	return sq_push(&child->sq, str_of(id), &op, err);
}

static void drop(struct agent *agent, struct codex *child)
{
	agent->session = NULL;
	child->ops->close(child);
}

/* The settings of the role, as in the subagent's configuration, take precedence over the call's, and those over the
 * defaults. A copy of the conversation stays with the model that wrote it. */
static struct agent_launch with_defaults(const struct config *config, const struct agent_role *role,
                                         const struct agent_launch *launch)
{
	struct agent_launch full = *launch;
	if (role && role->model.len) {
		full.model = str_of(config->model);
		full.has_own_model = true;
	}
	if (role && role->effort.len) {
		full.effort = str_of(config->model_reasoning_effort);
		full.has_own_effort = true;
	}
	if (!full.model.len && !full.shares_history)
		full.model = str_of(config->agents.default_subagent_model);
	if (!full.effort.len && !full.shares_history)
		full.effort = str_of(config->agents.default_subagent_reasoning_effort);
	return full;
}

/* A role may narrow the sandbox. */
static void narrow_by_role(struct agent_launch *launch, const struct agent_role *role, const struct codex *parent,
                           const struct config *config)
{
	int wanted = config->sandbox_mode == sandbox_mode_workspace_write;
	if (!role || !toml_get(role->settings, "sandbox_mode") ||
	    config->sandbox_mode == sandbox_mode_danger_full_access ||
	    wanted >= rank_of(parent->session->settings->sandbox))
		return;
	launch->has_sandbox = true;
	launch->sandbox = config->sandbox_mode;
}

void agents_name(struct agent *agent, const struct agent_launch *launch)
{
	const struct codex *parent = agent->parent->session;
	struct error ignored;
	const struct agent_role *role;
	if (launch->has_own_label || find_role(parent->env.config, agent, &role, &ignored) != 0 || !role ||
	    !role->nicknames.count)
		return;
	free(agent->label);
	agent->label = str_dup(role->nicknames.items[agent->id % role->nicknames.count]);
}

int agents_open(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err)
{
	struct codex *parent = agent->parent->session;
	const struct agent_role *role;
	(void)self;
	if (find_role(parent->env.config, agent, &role, err) != 0)
		return -(int)err->code;
	struct codex *child = open_codex(parent, agent, NULL, err);
	if (!child)
		return -(int)err->code;
	struct agent_launch full = with_defaults(child->env.config, role, launch);
	narrow_by_role(&full, role, parent, child->env.config);
	launch = &full;
	if (check_model(parent, launch, err) != 0 || configure(parent, child, launch, err) != 0) {
		drop(agent, child);
		return -(int)err->code;
	}
	agent->model = xstrdup(child->session->settings->model);
	agent->effort = settings_shown_effort(child->session->settings);
	agents_announce(child);
	if (launch->shares_history)
		inherit(parent->session, child->session, agent, launch);
	if (submit(child, launch, err) == 0)
		return 0;
	agents_retract(child);
	drop(agent, child);
	return -(int)err->code;
}

static bool has_network(const struct sandbox *sandbox)
{
	int rank = rank_of(sandbox);
	return rank == 2 || rank > 3;
}

/* True for a folder in which the sandbox permits writing. */
static bool may_write(const struct settings *settings, const char *folder)
{
	const struct sandbox_policy *policy = &settings->sandbox_policy;
	if (policy->mode != sandbox_mode_workspace_write)
		return policy->mode != sandbox_mode_read_only;
	bool may = !policy->exclude_cwd && path_is_inside(folder, settings->cwd);
	for (size_t i = 0; i < policy->writable_root_count; i++)
		may |= path_is_inside(folder, policy->writable_roots[i]);
	return may;
}

/* Writes to room what both sandboxes permit; both are of mode workspace-write. roots: has place for those of own. */
static void intersect(const struct workspace_write *own, const struct settings *above, struct str *roots,
                      struct workspace_write *room)
{
	const struct workspace_write *limit = above->sandbox->workspace_write;
	*room = (struct workspace_write){
		.writable_roots = roots,
		.network_access = own->network_access && limit->network_access,
		.exclude_tmpdir_env_var = own->exclude_tmpdir_env_var || limit->exclude_tmpdir_env_var,
		.exclude_slash_tmp = own->exclude_slash_tmp || limit->exclude_slash_tmp,
	};
	for (size_t i = 0; i < own->writable_roots_count; i++) {
		auto_free char *root = str_dup(own->writable_roots[i]);
		if (may_write(above, root))
			roots[room->writable_roots_count++] = own->writable_roots[i];
	}
}

/* Returns the recorded settings of a reopened subagent, with the parent's approval policy and reviewer. Reopening must
 * not widen a sandbox: of two that permit writing in folders, the folders that both permit remain; of others, the
 * narrower one. The network remains if both permit it. The folder is writable, so it is the parent's, unless the parent
 * may write in it. Without a record (it never worked) the sandbox is read-only. */
static int take_settings(struct session *session, const struct settings *above, struct error *err)
{
	static const struct sandbox narrowest = {.tag = sandbox_read_only};
	auto_arena struct arena arena = {0};
	const struct settings *recorded = session->conversation.announced;
	const struct sandbox *own = recorded ? recorded->sandbox : &narrowest;
	const struct settings *from = recorded ? recorded : above;
	struct sandbox both = rank_of(own) > rank_of(above->sandbox) ? *above->sandbox : *own;
	struct workspace_write room;
	struct external_sandbox outside = {network_access_restricted};
	if (own->tag == sandbox_workspace_write && above->sandbox->tag == sandbox_workspace_write)
		intersect(own->workspace_write, above,
		          arena_array(&arena, struct str, own->workspace_write->writable_roots_count + 1), &room);
	else if (both.tag == sandbox_workspace_write)
		room = *both.workspace_write;
	bool has_both = has_network(own) && has_network(above->sandbox);
	if (both.tag == sandbox_workspace_write) {
		room.network_access = has_both;
		both.workspace_write = &room;
	} else if (both.tag == sandbox_external_sandbox && !has_both) {
		both.external_sandbox = &outside;
	}
	bool is_writing = both.tag != sandbox_read_only;
	struct settings_change change = session_environment_change(above);
	change.model = str_of(from->model);
	change.cwd = str_of(is_writing && !may_write(above, from->cwd) ? above->cwd : from->cwd);
	change.approval_policy = above->approval_policy;
	change.has_reviewer = true;
	change.reviewer = above->reviewer;
	change.sandbox = &both;
	return session_change_settings(session, &change, err);
}

/* Returns the Codex of the parent, or that of the root while the parent is not loaded. */
static struct codex *owner_of(const struct agent *agent)
{
	struct codex *parent = agent->parent->session;
	return parent && parent->session ? parent : agent->tree->root->session;
}

/* Submits the resume as an Op of the new Codex: its rollout is read on a worker, and the Op waits for a lock that an
 * exiting process still holds. agents_on_configured or agents_on_configure_failed follows. */
int agents_continue(struct agent *agent, const struct codex *root, const struct unfinished *unfinished,
                    struct error *err)
{
	unsigned long long id = agent->id;
	auto_free char *path = rollout_list_find_id(session_env_rollouts(&root->env), str_of(agent->session_id), err);
	if (!path)
		return error_set(err, ERR_not_found, "agent_id %llu is no longer active; refresh subagent_list", id);
	struct codex *child = open_codex(owner_of(agent), agent, unfinished, err);
	if (!child)
		return error_wrap(err, "agent_id %llu cannot be resumed", id);
	struct op_configure_session resume = {.resume_path = str_of(path)};
	struct op op = {.tag = OP_configure_session, .configure_session = &resume};
	if (sq_push(&child->sq, STR(""), &op, err) == 0)
		return 0;
	drop(agent, child);
	return -(int)err->code;
}

int agents_reopen(struct agent *agent, void *self, struct error *err)
{
	return agents_continue(agent, self, NULL, err);
}

void agents_on_configured(struct codex *codex)
{
	struct error err;
	const struct agent *agent = codex->env.agent;
	if (!agent || !agent->parent) {
		agents_settle_restored(codex);
	} else if (take_settings(codex->session, owner_of(agent)->session->settings, &err) == 0) {
		agents_announce(codex);
		loop_defer(&codex->hear);
	} else {
		agents_on_configure_failed(codex, &err);
	}
}
