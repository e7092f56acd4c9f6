/* The arrays are built when they are first needed and cached until the model or the MCP servers change. */
#include "engine/session/session_tools.h"

#include "agent/agent_tree.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/agent_role.h"
#include "config/config.h"
#include "config/model_provider.h"
#include "config/web_search.h"
#include "engine/session/session.h"
#include "engine/session/session_code.h"
#include "engine/session/session_mcp.h"
#include "tool/code/code_tools.h"
#include "tool/dynamic_tools.h"
#include "tool/tool.h"
#include "tool/tool_spec.h"

bool session_lacks_tool(const struct session *session, const struct tool_type *type)
{
	const struct config *config = session->env->config;
	bool views = config->tools.view_image && config->features.view_image && config->features.view_image_tool;
	return (type == tool_get(TOOL_update_plan) && !config->tools.update_plan) ||
	       (type == tool_get(TOOL_view_image) && !views);
}

/* True if subagents are offered. Those at the depth limit cannot start others and get no tools for it. */
static bool offers_subagents(const struct session *session, enum tool_tag tag)
{
	const struct agent *agent = session->env->agent;
	bool starts = tag == TOOL_subagent_spawn || tag == TOOL_subagent_fork;
	return !starts || !agent || agent->depth < agent->tree->options.max_depth;
}

enum { AGENTS_DEPTH = 1 }; /* depth limit for tools that name agents by thread, unless max_depth is configured */

bool session_offers_agents(const struct session *session)
{
	const struct config *config = session->env->config;
	const struct agent *agent = session->env->agent;
	bool is_team = config->features.multi_agent_v2;
	int64_t depth = config->agents.is_set.max_depth || is_team ? config->agents.max_depth : AGENTS_DEPTH;
	return config->agents.enabled && (config->features.multi_agent || config->features.collab || is_team) &&
	       (agent ? agent->depth : 0) < depth + is_team;
}

/* True if the tool is offered. The configuration selects the form of the shell tool. */
static bool is_offered(const struct conversation *conversation, const struct settings *settings, enum tool_tag tag)
{
	const struct session *session = conversation->session;
	const struct config *config = session->env->config;
	bool unified = config->features.unified_exec;
	unsigned flags = tool_get(tag)->flags;
	if (conversation->voice && !(flags & TOOL_IN_REVIEW))
		return false;
	if (!config->features.shell_tool && flags & TOOL_OF_SHELL)
		return false;
	switch (tag) {
	case TOOL_exec_command:
	case TOOL_write_stdin:
		return unified;
	case TOOL_shell_command:
		return !unified;
	case TOOL_shell:
		return false; /* executed for models that call it anyway, but never offered */
	case TOOL_apply_patch:
		return settings->info.patch_form != MODEL_PATCH_none;
	case TOOL_view_image:
		return !session_lacks_tool(session, tool_get(tag)) && settings->info.has_image_input;
	case TOOL_subagent_spawn:
	case TOOL_subagent_fork:
	case TOOL_subagent_send_message:
	case TOOL_subagent_list:
	case TOOL_subagent_await:
	case TOOL_subagent_watchdog:
	case TOOL_subagent_prune:
	case TOOL_subagent_logs:
	case TOOL_subagent_cancel:
		return config->features.subagent_tools && offers_subagents(session, tag);
	case TOOL_request_permissions:
		return config->features.request_permissions_tool && !conversation->voice;
	case TOOL_request_user_input:
		return !session->env->is_unattended;
	case TOOL_wait:
		return !conversation->voice && config->features.collab && session_offers_agents(session);
	case TOOL_spawn_agent: /* these tools are offered in a namespace of their own */
		return false;
	case TOOL_list_mcp_resources:
	case TOOL_list_mcp_resource_templates:
	case TOOL_read_mcp_resource:
		return session_mcp_has_servers(session->mcp);
	case TOOL_get_goal:
	case TOOL_create_goal:
	case TOOL_update_goal:
		return config->features.goals && !(session->env->agent && session->env->agent->parent);
	case TOOL_request_user_input_async:
		return session_has_clock(session, settings) && !session->host.is_unattended &&
		       !session->host.is_subagent;
	case TOOL_clock_curr_time:
		return session_has_clock(session, settings);
	case TOOL_update_plan:
		return !session_lacks_tool(session, tool_get(tag));
	default:
		return false;
	}
}

static struct web_search search_of(const struct session *session)
{
	const struct config *config = session->env->config;
	return (struct web_search){config, config_find(config, "tools.web_search"), config_required(config)};
}

/* A subagent searches no more widely than its parent does, even if its provider and model offer more; not at all while
 * its parent is not loaded. */
static enum web_search_mode search_mode(const struct conversation *conversation, const struct settings *settings)
{
	const struct session *session = conversation->session;
	if (conversation->voice)
		return web_search_mode_disabled;
	const struct model_provider *provider = session->provider;
	bool serves_openai = provider->is_openai ||
	                     (provider->wire == wire_api_responses && !provider->is_local && settings->info.is_known);
	struct web_search search = search_of(session);
	enum web_search_mode mode = web_search_mode_of(&search, serves_openai, settings->sandbox_policy.mode);
	const struct session_env *env = session->env;
	if (!env->agent || !env->agent->parent)
		return mode;
	const struct session *parent = env->ops->parent(env->self);
	enum web_search_mode most =
		parent ? search_mode(&parent->conversation, parent->settings) : web_search_mode_disabled;
	return mode > most ? most : mode;
}

/* True for the name of a built-in tool: a client's tool with this name would be ambiguous. */
static bool is_built_in(struct str name)
{
	const struct tool_type *type = tool_find(name);
	return type && !(type->flags & (TOOL_OF_COLLAB | TOOL_OF_TEAM));
}

static bool is_built_in_collab(struct str name)
{
	return tool_find(name);
}

/* Other wires do not know the items of a search. */
static bool searches_tools(const struct session *session, const struct settings *settings)
{
	return settings->info.has_tool_search && session->provider->wire == wire_api_responses;
}

/* The model learns of MCP servers that are still starting by the tool that can wait for them, and of the function that
 * a script has for a tool by its declaration. */
static void write_tool(const struct session *session, const struct settings *settings, enum tool_tag tag,
                       const struct code_tools *code, struct json_writer *w)
{
	auto_buf struct buf note = {0}, starting = {0};
	const struct code_tool *function = code_tools_find(code, str_of(tool_get(tag)->wire));
	buf_init(&starting, LIMIT_MCP_OFFER);
	buf_init(&note, LIMIT_MCP_OFFER);
	if (tag == TOOL_list_mcp_resources && session->mcp)
		session_mcp_write_starting(session->mcp, &starting);
	if (!starting.len && function && !function->is_custom) {
		buf_printf(&note, "\n\n%.*s", STR_ARG(function->declared));
		tool_spec_write_noted(tool_get(tag), note.over ? "" : buf_str(&note).ptr, settings->further_count, w);
		return;
	}
	if (!starting.len) {
		tool_spec_write(tool_get(tag), settings->info.patch_form == MODEL_PATCH_freeform,
		                settings->further_count, w);
		return;
	}
	buf_printf(
		&note,
		"\n\nServers that are still starting, whose tools are not known yet: %.*s. This call waits for them; "
		"afterwards, their tools can be called.",
		STR_ARG(buf_str(&starting)));
	tool_spec_write_noted(tool_get(tag), note.over ? "" : buf_str(&note).ptr, settings->further_count, w);
}

/* True for tools that scripts do not have. */
static bool is_direct(enum tool_tag tag)
{
	switch (tag) {
	case TOOL_request_user_input:
	case TOOL_request_user_input_async:
	case TOOL_wait:
	case TOOL_subagent_spawn:
	case TOOL_subagent_fork:
	case TOOL_subagent_send_message:
	case TOOL_subagent_list:
	case TOOL_subagent_await:
	case TOOL_subagent_watchdog:
	case TOOL_subagent_prune:
	case TOOL_subagent_logs:
	case TOOL_subagent_cancel:
		return true;
	default:
		return false;
	}
}

/* Writes the tools of the client and of MCP servers. */
static void write_provided(const struct conversation *conversation, bool is_searched, struct json_writer *w)
{
	const struct session *session = conversation->session;
	if (conversation->voice)
		return;
	dynamic_tools_write_specs(session->host.dynamic, session->host.has_collab ? is_built_in_collab : is_built_in,
	                          w);
	session_mcp_write_tools(session->mcp, is_searched, w);
}

static void write_code_tools(struct conversation *conversation, const struct settings *settings)
{
	static const struct code_tools none;
	struct json_writer w = json_writer(&conversation->code_tools);
	jw_array(&w);
	for (int tag = 0; tag < TOOL_count; tag++) {
		if (is_offered(conversation, settings, (enum tool_tag)tag) && !is_direct((enum tool_tag)tag))
			write_tool(conversation->session, settings, (enum tool_tag)tag, &none, &w);
	}
	write_provided(conversation, false, &w);
	jw_array_end(&w);
}

/* Describes the roles of subagents; writes nothing if none is configured. */
static void write_roles(const struct config *config, struct buf *out)
{
	static const struct {
		const char *name, *text;
	} built_in[] = {
		{"default", "An agent like you."},
		{"explorer", "Answers one precise question about the code, without changing it."},
		{"worker", "Carries out a part of the work. Name the files that it owns; others work beside it."},
	};
	const struct agent_roles *roles = config_roles(config);
	vec_for_each(it, roles) {
		buf_printf(out, "%s\n%.*s: {\n%s", out->len ? "" : "\nRoles:", STR_ARG(it->name), it->description);
		if (it->model.len)
			buf_printf(out, "\n- Its model is always `%.*s`.", STR_ARG(it->model));
		if (it->effort.len)
			buf_printf(out, "\n- Its reasoning effort is always `%.*s`.", STR_ARG(it->effort));
		buf_append_c(out, "\n}");
	}
	for (size_t i = 0; out->len && i < countof(built_in); i++)
		if (!agent_role_find(roles, str_of(built_in[i].name)))
			buf_printf(out, "\n%s: {\n%s\n}", built_in[i].name, built_in[i].text);
}

static void write_agents(const struct session *session, struct json_writer *w)
{
	auto_buf struct buf roles;
	buf_init(&roles, LIMIT_AGENT_ROLES_TEXT + LIMIT_AGENT_ROLES * KIB);
	write_roles(session->env->config, &roles);
	tool_spec_write_agents(session->host.has_team, roles.len && !roles.over ? buf_str(&roles) : STR_NONE, w);
}

struct str conversation_tools(struct conversation *conversation, const struct settings *settings)
{
	const struct session *session = conversation->session;
	enum web_search_mode search = search_mode(conversation, settings);
	if (conversation->tools_model && strcmp(conversation->tools_model, settings->model) == 0 &&
	    conversation->tools_search == search && conversation->tools_have_places == (settings->further_count > 0))
		return buf_str(&conversation->tools);
	conversation->tools_search = search;
	conversation->tools_have_places = settings->further_count > 0;
	free(conversation->tools_model);
	conversation->tools_model = xstrdup(settings->model);
	buf_clear(&conversation->tools);
	struct json_writer w = json_writer(&conversation->tools);
	enum code_mode mode = session_code_mode(session, settings);
	struct code_tools code = {0};
	buf_clear(&conversation->code_tools);
	if (mode != CODE_MODE_none) {
		write_code_tools(conversation, settings);
		code_tools_read(&code, buf_str(&conversation->code_tools));
	}
	jw_array(&w);
	if (mode != CODE_MODE_none)
		code_tools_write_exec(&code, &w);
	for (int tag = 0; tag < TOOL_count; tag++) {
		bool is_hidden = mode == CODE_MODE_only && !is_direct((enum tool_tag)tag);
		if (is_offered(conversation, settings, (enum tool_tag)tag) && !is_hidden)
			write_tool(session, settings, (enum tool_tag)tag, &code, &w);
	}
	code_tools_finish(&code);
	if (!conversation->voice && session_offers_agents(session))
		write_agents(session, &w);
	if (is_offered(conversation, settings, TOOL_clock_curr_time))
		tool_spec_write_clock(&w);
	if (mode != CODE_MODE_only)
		write_provided(conversation, searches_tools(session, settings), &w);
	bool is_lite = settings->info.is_lite && session->provider->wire == wire_api_responses;
	struct web_search tool = search_of(session);
	tool.has_images = settings->info.is_known && settings->info.has_image_input;
	if (search != web_search_mode_disabled && !is_lite)
		web_search_write(&tool, search, &w);
	jw_array_end(&w);
	return buf_str(&conversation->tools);
}
