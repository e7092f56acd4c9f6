/* The tools of features.multi_agent_v2: agents have names, a path of names identifies one, and any two of a session can
 * exchange messages. The session reads messages at the end of a turn (agents_hear.c); wait_agent only waits. */
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "tool/agent/collab_event.h"
#include "tool/agent/tool_agent.h"
#include "tool/agent/tool_collab.h"
#include "tool/tool_impl.h"

/* ---- paths ---- */

static struct str path_of(struct tool_call *call, const struct agent *agent)
{
	auto_buf struct buf path;
	buf_init(&path, LIMIT_LINE);
	agent_write_path(agent, &path);
	return arena_str(&call->arena, buf_str(&path));
}

/* Completes a name to a path: it is relative to the caller. */
static struct str full_path(struct tool_call *call, const struct agent *self, struct str name)
{
	if (str_has_prefix(name, "/"))
		return name;
	struct str own = path_of(call, self);
	return str_of(arena_printf(&call->arena, "%.*s/%.*s", STR_ARG(own), STR_ARG(name)));
}

static struct agent *find_path(struct tool_call *call, const struct agent *self, struct str path)
{
	struct agent *agent;
	list_for_each(agent, &self->tree->agents, link) {
		if (!agent->is_shut && str_eq(path_of(call, agent), path))
			return agent;
	}
	return NULL;
}

/* NULL: the call is finished. */
static struct agent *find(struct tool_call *call, const struct agent *self, struct str target)
{
	struct str path = full_path(call, self, target);
	struct agent *agent = agent_tree_find_session(self->tree, target);
	if (!agent)
		agent = find_path(call, self, path);
	if (!agent)
		tool_call_finishf(call, false, "live agent path `%.*s` not found", STR_ARG(path));
	return agent;
}

static bool is_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= '0' && c <= '9') && c != '_')
			return false;
	}
	return name.len && name.len <= LIMIT_AGENT_NICKNAME;
}

static bool has_words(struct tool_call *call, struct str message)
{
	if (str_trim(message).len)
		return true;
	tool_call_finish(call, false, STR("Empty message can't be sent to an agent"));
	return false;
}

/* ---- spawn ---- */

/* True for `all` and for no value; *is_known is false for another one than these and `none`. */
static bool forks(const struct args_team_spawn *args, bool *is_known)
{
	struct str turns = str_trim(args->fork_turns);
	bool is_none = turns.len == 4 && strncasecmp(turns.ptr, "none", 4) == 0;
	*is_known = is_none || !turns.len || (turns.len == 3 && strncasecmp(turns.ptr, "all", 3) == 0);
	return !is_none;
}

static bool check_spawn(struct tool_call *call, const struct agent *self)
{
	const struct args_team_spawn *args = call->args;
	bool is_known, is_fork = forks(args, &is_known);
	bool has_own = str_trim(args->agent_type).len || args->model.len || args->reasoning_effort.len;
	struct str path = full_path(call, self, args->task_name);
	if (!is_name(args->task_name))
		tool_call_finish(call, false,
		                 STR("agent_name must use only lowercase letters, digits, and underscores"));
	else if (find_path(call, self, path))
		tool_call_finishf(call, false, "agent path `%.*s` already exists", STR_ARG(path));
	else if (!is_known)
		tool_call_finish(call, false, STR("fork_turns must be `none` or `all`"));
	else if (is_fork && has_own)
		tool_call_finish(call, false,
		                 STR("A fork with the history keeps the role, model and effort of its parent: omit "
		                     "agent_type, model and reasoning_effort, or set fork_turns to none"));
	else
		return has_words(call, args->message);
	return false;
}

void tool_team_spawn_start(struct tool_call *call)
{
	const struct args_team_spawn *args = call->args;
	struct agent *self = tool_collab_self(call);
	if (!self || !check_spawn(call, self))
		return;
	bool is_known, is_fork = forks(args, &is_known);
	struct agent_launch wish = {
		.origin = is_fork ? subagent_origin_fork : subagent_origin_spawn,
		.prompt = args->message,
		.label = args->task_name,
		.role = str_trim(args->agent_type).len ? args->agent_type : STR_NONE,
		.has_own_label = true,
		.model = args->model,
		.effort = args->reasoning_effort,
		.shares_history = is_fork,
		.call_id = call->call_id,
		.tool = "spawn_agent",
	};
	const struct agent *child = tool_collab_launch(call, self, &wish, NULL);
	if (!child)
		return;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_member_str(&w, "task_name", path_of(call, child));
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

/* ---- messages ---- */

static int deliver(struct agent *to, const struct agent *self, struct str text, bool is_task, struct error *err)
{
	if (!is_task)
		return agent_post_quiet(to, self->id, text, err);
	if (agent_wake(to, err) != 0 || agent_post(to, self->id, false, text, err) != 0)
		return -(int)err->code;
	agent_begin(to);
	return 0;
}

static void send_text(struct tool_call *call, bool is_task)
{
	struct error err;
	const struct args_team_message *args = call->args;
	struct agent *self = tool_collab_self(call);
	if (!self || !has_words(call, args->message))
		return;
	struct agent *to = find(call, self, args->target);
	if (!to)
		return;
	if (is_task && (!to->parent || to == self)) {
		tool_call_finish(call, false,
		                 to->parent ? STR("an agent cannot give itself a task")
		                            : STR("Follow-up tasks can't target the root agent"));
		return;
	}
	collab_emit_message_begin(call, to, args->message);
	int status = deliver(to, self, args->message, is_task, &err);
	collab_emit_message_end(call, to, args->message);
	if (status == 0)
		tool_call_finish(call, true, STR(""));
	else
		tool_call_finishf(call, false, "%s", err.text);
}

void tool_team_message_start(struct tool_call *call)
{
	send_text(call, false);
}

void tool_team_follow_up_start(struct tool_call *call)
{
	send_text(call, true);
}

/* ---- interrupt and list ---- */

void tool_team_interrupt_start(struct tool_call *call)
{
	const struct args_team_target *args = call->args;
	struct agent *self = tool_collab_self(call);
	struct agent *agent = self ? find(call, self, args->target) : NULL;
	if (!agent)
		return;
	if (agent == self || !agent_is_below(agent, self)) {
		tool_call_finish(call, false,
		                 agent->parent ? STR("an agent can interrupt only the agents below it")
		                               : STR("root is not a spawned agent"));
		return;
	}
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "previous_status");
	tool_agent_write_status(agent, &w);
	jw_object_end(&w);
	agent_cancel(agent); /* a paused agent would count towards max_active, and no tool of the team closes one */
	tool_call_finish_output(call, true);
}

void tool_team_list_start(struct tool_call *call)
{
	const struct args_team_list *args = call->args;
	const struct agent *self = tool_collab_self(call), *agent;
	if (!self)
		return;
	const char *above =
		args->path_prefix.len ? arena_cstr(&call->arena, full_path(call, self, args->path_prefix)) : "";
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "agents");
	jw_array(&w);
	list_for_each(agent, &self->tree->agents, link) {
		struct str path = path_of(call, agent), rest = path;
		bool is_below = !above[0] || (str_cut_prefix(&rest, above) && (!rest.len || rest.ptr[0] == '/'));
		if (agent->is_shut || !is_below)
			continue;
		jw_object(&w);
		jw_member_str(&w, "agent_name", path);
		jw_key(&w, "agent_status");
		tool_agent_write_status(agent, &w);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

/* ---- wait ---- */

static struct agent *find_any(struct agent *waiter, void *self)
{
	(void)self;
	return agent_inbox_is_empty(&waiter->inbox) ? NULL : waiter;
}

static void answer_wait(struct tool_collab_wait *wait, enum agent_wake wake)
{
	struct tool_call *call = wait->call;
	bool timed_out = wake == AGENT_WAKE_timeout;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_member_cstr(&w, "message",
	               timed_out                 ? "Wait timed out."
	               : wake == AGENT_WAKE_user ? "Wait interrupted by new input."
	                                         : "Wait completed.");
	jw_member_bool(&w, "timed_out", timed_out);
	jw_object_end(&w);
	tool_call_finish_output(call, !timed_out);
}

void tool_team_wait_start(struct tool_call *call)
{
	const struct args_team_wait *args = call->args;
	const struct tool_collab_wait wait = {.call = call, .self = tool_collab_self(call), .answer = answer_wait};
	if (wait.self)
		tool_collab_wait(&wait, find_any, args->has_timeout_ms, args->timeout_ms);
}
