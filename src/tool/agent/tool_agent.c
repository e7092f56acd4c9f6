/* Starts agents and sends them messages. Every output contains the state of the agent after the call, so that a
 * model does not need subagent_list to see the effect. */
#include "tool/agent/tool_agent.h"

#include <ctype.h>

#include "agent/agent_json.h"
#include "base/error.h"
#include "base/limits.h"
#include "sandbox/sandbox.h"
#include "protocol/record/enum.h"
#include "tool/agent/collab_event.h"
#include "tool/tool_impl.h"

struct agent *tool_agent_self(struct tool_call *call)
{
	struct agent *self = call->host->agent(call->host, false);
	if (!self)
		tool_call_finishf(call, false, "unsupported call: %.*s", STR_ARG(call->name));
	return self;
}

struct agent *tool_agent_find(struct tool_call *call, const struct agent *self, int64_t id)
{
	struct agent *agent = id < 0 ? NULL : agent_tree_find(self->tree, (uint64_t)id);
	if (!agent)
		tool_call_finishf(call, false, "agent_id %lld not found; refresh subagent_list", (long long)id);
	return agent;
}

/* ---- sandbox_mode ---- */

static const struct sandbox_word {
	const char *word;
	enum sandbox_mode mode;
} sandbox_words[] = {
	{"read", sandbox_mode_read_only},
	{"readonly", sandbox_mode_read_only},
	{"workspace", sandbox_mode_workspace_write},
	{"workspacewrite", sandbox_mode_workspace_write},
	{"danger", sandbox_mode_danger_full_access},
	{"fullaccess", sandbox_mode_danger_full_access},
	{"dangerfullaccess", sandbox_mode_danger_full_access},
};

/* Accepts "Workspace Write" and "workspace_write" for "workspace-write": ignores case, spaces, - and _. */
static bool parse_sandbox(struct str text, enum sandbox_mode *ret)
{
	char word[32];
	size_t len = 0;
	for (size_t i = 0; i < text.len && len < sizeof(word) - 1; i++) {
		if (!strchr(" _-", text.ptr[i]))
			word[len++] = (char)tolower((unsigned char)text.ptr[i]);
	}
	word[len] = '\0';
	for (size_t i = 0; i < sizeof(sandbox_words) / sizeof(*sandbox_words); i++) {
		if (strcmp(word, sandbox_words[i].word) == 0) {
			*ret = sandbox_words[i].mode;
			return true;
		}
	}
	return false;
}

static int rank_of(enum sandbox_mode mode)
{
	return mode == sandbox_mode_read_only ? 1 : mode == sandbox_mode_workspace_write ? 2 : 3;
}

static int read_sandbox(const struct tool_call *call, struct str text, struct agent_launch *launch, struct error *err)
{
	enum sandbox_mode own = call->host->settings_sandbox->mode; /* its children have no grants */
	if (str_is_blank(text))
		return 0;
	if (!parse_sandbox(text, &launch->sandbox))
		return error_set(err, ERR_invalid,
		                 "unknown sandbox_mode '%.*s'; expected one of read-only, workspace-write, "
		                 "danger-full-access",
		                 STR_ARG(text));
	launch->has_sandbox = rank_of(launch->sandbox) != rank_of(own);
	if (rank_of(launch->sandbox) > rank_of(own))
		return error_set(err, ERR_denied, "sandbox_mode %s not permitted; parent session runs in %s",
		                 enum_wire(&enum_sandbox_mode, (int)launch->sandbox),
		                 enum_wire(&enum_sandbox_mode, (int)own));
	return 0;
}

/* ---- spawn and fork ---- */

static void answer_spawn(struct tool_call *call, const struct agent *child, const struct agent_launch *launch)
{
	struct json_writer w = json_writer(&call->output);
	agent_write_head(child, &w);
	jw_member_str(&w, "model", launch->model.len ? launch->model : STR_NONE);
	if (launch->origin == subagent_origin_fork) {
		jw_key(&w, "payload");
		jw_object(&w);
		jw_member_cstr(&w, "role", "parent");
		jw_member_cstr(&w, "child_session_id", child->session_id);
		jw_member_cstr(&w, "parent_session_id", child->parent->session_id);
		jw_member_cstr(&w, "label", child->label);
		jw_member_cstr(&w, "summary", child->summary);
		jw_member_str(&w, "prompt", launch->prompt);
		jw_object_end(&w);
	}
	agent_write_tail(child, &w);
	tool_call_finish_output(call, true);
}

static void launch_child(struct tool_call *call, struct agent_launch *launch, struct str sandbox_mode)
{
	struct error err;
	struct agent *self = tool_agent_self(call);
	if (!self)
		return;
	collab_emit_spawn_begin(call, launch);
	struct agent *child = NULL;
	if (read_sandbox(call, sandbox_mode, launch, &err) == 0)
		child = agent_launch(self, launch, &err);
	collab_emit_spawn_end(call, child, launch);
	if (child)
		answer_spawn(call, child, launch);
	else
		tool_call_finishf(call, false, "%s", err.text);
}

void tool_subagent_spawn_start(struct tool_call *call)
{
	const struct args_subagent_spawn *args = call->args;
	struct agent_launch launch = {
		.origin = subagent_origin_spawn,
		.prompt = args->prompt,
		.label = args->label,
		.model = args->model,
	};
	launch_child(call, &launch, args->sandbox_mode);
}

void tool_subagent_fork_start(struct tool_call *call)
{
	const struct args_subagent_fork *args = call->args;
	struct agent_launch launch = {
		.origin = subagent_origin_fork,
		.prompt = args->prompt,
		.label = args->label,
		.model = args->model,
		.shares_history = true,
		.tells_role = true,
		.call_id = call->call_id,
		.arguments = call->input,
	};
	launch_child(call, &launch, args->sandbox_mode);
}

/* ---- send_message ---- */

/* Sends a message to the root: it adds an entry to the inbox and has no other effect. */
static void send_to_root(struct tool_call *call, struct agent *self, struct agent *root)
{
	struct error err;
	const struct args_subagent_send_message *args = call->args;
	if (!self->parent) {
		tool_call_finish(call, false,
		                 STR("root agent cannot target agent 0; send a normal user message instead"));
	} else if (args->interrupt) {
		tool_call_finish(call, false, STR("cannot send an interrupt to agent 0 (the root UI thread)"));
	} else if (!str_is_blank(args->prompt) && agent_post(root, self->id, false, args->prompt, &err) != 0) {
		tool_call_finishf(call, false, "%s", err.text);
	} else {
		struct json_writer w = json_writer(&call->output);
		jw_object(&w);
		jw_member_cstr(&w, "session_id", root->session_id);
		jw_member_i64(&w, "agent_id", 0);
		jw_member_cstr(&w, "label", self->label);
		jw_member_cstr(&w, "summary", self->summary);
		jw_object_end(&w);
		tool_call_finish_output(call, true);
	}
}

static int check_target(const struct agent *self, const struct agent *to, bool is_interrupt, struct error *err)
{
	unsigned long long id = to->id;
	if (to == self)
		return error_set(err, ERR_invalid, "agent_id %llu is you; an agent cannot send itself messages", id);
	if (is_interrupt && !agent_is_below(to, self))
		return error_set(err, ERR_denied, "agent_id %llu is not below you; send it a message without interrupt",
		                 id);
	return 0;
}

static int deliver(struct agent *self, struct agent *to, const struct args_subagent_send_message *args,
                   struct error *err)
{
	if (agent_wake(to, err) != 0)
		return -(int)err->code;
	if (str_is_blank(args->prompt)) {
		if (args->interrupt)
			agent_pause(to);
		else if (!agent_is_active(to))
			agent_set_status(to, subagent_status_ready);
		return 0;
	}
	if (agent_post(to, self->id, args->interrupt, args->prompt, err) != 0)
		return -(int)err->code;
	agent_set_summary(to, args->prompt);
	agent_begin(to);
	return 0;
}

void tool_subagent_send_message_start(struct tool_call *call)
{
	struct error err;
	const struct args_subagent_send_message *args = call->args;
	struct agent *self = tool_agent_self(call);
	struct agent *to = self ? tool_agent_find(call, self, args->agent_id) : NULL;
	if (!to)
		return;
	if (!to->parent) {
		send_to_root(call, self, to);
		return;
	}
	if (check_target(self, to, args->interrupt, &err) != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	collab_emit_message_begin(call, to, args->prompt);
	agent_set_label(to, args->label);
	int status = deliver(self, to, args, &err);
	collab_emit_message_end(call, to, args->prompt);
	if (status != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	struct json_writer w = json_writer(&call->output);
	agent_write_head(to, &w);
	agent_write_tail(to, &w);
	tool_call_finish_output(call, true);
}

/* ---- list ---- */

void tool_subagent_list_start(struct tool_call *call)
{
	struct agent *self = tool_agent_self(call), *agent;
	if (!self)
		return;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "sessions");
	jw_array(&w);
	list_for_each(agent, &self->tree->agents, link) {
		if (agent->parent == self)
			agent_write_listed(agent, &w);
	}
	jw_array_end(&w);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}
