/* The tools spawn_agent, send_input, resume_agent and close_agent of codex 0.169: they identify agents by thread id and
 * have outputs of their own. Agents get nicknames because clients show them. */
#include "tool/agent/tool_collab.h"

#include <stdio.h>

#include "agent/agent_json.h"
#include "agent/agent_wait.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "protocol/record/enum.h"
#include "tool/agent/collab_event.h"
#include "tool/agent/tool_agent.h"
#include "tool/tool_impl.h"

static const char *const nicknames[] = {
	"Alder", "Aspen",  "Birch", "Cedar", "Elm",    "Fir",   "Hazel",  "Juniper",
	"Larch", "Linden", "Maple", "Oak",   "Poplar", "Rowan", "Spruce", "Willow",
};

/* ---- ids ---- */

void tool_agent_write_status(const struct agent *agent, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	struct agent_status status = collab_status(agent, &arena);
	union_encode(&union_agent_status, &status, w);
}

struct agent *tool_collab_self(struct tool_call *call)
{
	struct agent *self = call->host->agent(call->host, true);
	if (!self)
		tool_call_finishf(call, false, "unsupported call: %s%.*s",
		                  call->host->has_team ? TOOL_TEAM : TOOL_AGENTS, STR_ARG(call->name));
	return self;
}

struct agent *tool_agent_by_id(struct tool_call *call, const struct agent *self, struct str id)
{
	struct agent *agent = agent_tree_find_session(self->tree, id);
	if (!uuid_is_valid(id))
		tool_call_finishf(call, false, "invalid agent id %.*s: expected the id that spawn_agent returned",
		                  STR_ARG(id));
	else if (!agent || !agent->parent)
		tool_call_finishf(call, false, "agent with id %.*s not found", STR_ARG(id));
	return agent && agent->parent ? agent : NULL;
}

/* Emits the events of a failed call, for an unknown agent. */
static void emit_unknown(struct tool_call *call, struct str id)
{
	struct agent_status unknown = {.tag = agent_status_not_found};
	if (uuid_is_valid(id))
		collab_emit_close_end(call, id, STR_NONE, &unknown);
}

/* ---- what is said: words, or parts ---- */

struct saying {
	struct str words; /* all texts of the input */
	struct user_input *items;
	size_t count;
};

static struct str text_or_empty(struct str text)
{
	return text.ptr ? text : STR("");
}

static int read_item(const struct args_agent_item *from, struct arena *arena, struct user_input *to, struct error *err)
{
	struct str type = from->type.ptr ? from->type : STR("text");
	if (str_is(type, "text")) {
		struct input_text *text = arena_new(arena, struct input_text);
		text->text = text_or_empty(from->text);
		*to = (struct user_input){.tag = user_input_text, .text = text};
	} else if (str_is(type, "image")) {
		struct input_image *image = arena_new(arena, struct input_image);
		image->image_url = text_or_empty(from->image_url);
		*to = (struct user_input){.tag = user_input_image, .image = image};
	} else if (str_is(type, "local_image")) {
		struct input_local_image *image = arena_new(arena, struct input_local_image);
		image->path = text_or_empty(from->path);
		*to = (struct user_input){.tag = user_input_local_image, .local_image = image};
	} else if (str_is(type, "skill")) {
		struct input_skill *skill = arena_new(arena, struct input_skill);
		*skill = (struct input_skill){text_or_empty(from->name), text_or_empty(from->path)};
		*to = (struct user_input){.tag = user_input_skill, .skill = skill};
	} else {
		return error_set(err, ERR_invalid, "items: no kind of input is called `%.*s`", STR_ARG(type));
	}
	return 0;
}

static int read_saying(struct str message, const struct args_agent_item *items, size_t count, struct arena *arena,
                       struct saying *ret, struct error *err)
{
	bool has_words = message.ptr;
	if (has_words && count)
		return error_set(err, ERR_invalid, "Provide either message or items, but not both");
	if (!has_words && !count)
		return error_set(err, ERR_invalid, "Provide one of: message or items");
	if (has_words && !str_trim(message).len)
		return error_set(err, ERR_invalid, "Empty message can't be sent to an agent");
	*ret = (struct saying){.words = message, .items = arena_array(arena, struct user_input, count), .count = count};
	for (size_t i = 0; i < count; i++) {
		if (read_item(&items[i], arena, &ret->items[i], err) != 0)
			return -(int)err->code;
		if (ret->items[i].tag == user_input_text && !ret->words.ptr)
			ret->words = ret->items[i].text->text;
	}
	return 0;
}

/* ---- spawn ---- */

struct agent *tool_collab_launch(struct tool_call *call, struct agent *self, const struct agent_launch *wish,
                                 const char *limit_text)
{
	struct error err;
	collab_emit_spawn_begin(call, wish);
	struct agent *child = agent_launch(self, wish, &err);
	collab_emit_spawn_end(call, child, wish);
	if (!child)
		tool_call_finishf(call, false, "%s", limit_text && err.code == ERR_limit ? limit_text : err.text);
	return child;
}

void tool_spawn_agent_start(struct tool_call *call)
{
	struct error err;
	struct saying saying;
	const struct args_spawn_agent *args = call->args;
	struct agent *self = tool_collab_self(call);
	if (!self)
		return;
	if (read_saying(args->message, args->items, args->items_count, &call->arena, &saying, &err) != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	if (args->fork_context && str_trim(args->agent_type).len) {
		tool_call_finish(call, false,
		                 STR("A fork with the history keeps the role of its parent: omit agent_type, or omit "
		                     "fork_context"));
		return;
	}
	struct agent_launch wish = {
		.role = str_trim(args->agent_type).len ? args->agent_type : STR_NONE,
		.origin = args->fork_context ? subagent_origin_fork : subagent_origin_spawn,
		.prompt = saying.words,
		.items = saying.items,
		.item_count = saying.count,
		.label = str_of(nicknames[self->tree->next_id % (sizeof(nicknames) / sizeof(*nicknames))]),
		.model = args->model,
		.effort = args->reasoning_effort,
		.shares_history = args->fork_context,
		.call_id = call->call_id,
		.tool = "spawn_agent",
	};
	const struct agent *child =
		tool_collab_launch(call, self, &wish, "collab spawn failed: agent thread limit reached");
	if (!child)
		return;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_member_cstr(&w, "agent_id", child->session_id);
	jw_member_cstr(&w, "nickname", child->label);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

/* ---- send_input ---- */

void tool_send_input_start(struct tool_call *call)
{
	struct error err;
	struct saying saying;
	char submission[UUID_TEXT_SIZE];
	const struct args_send_input *args = call->args;
	struct agent *self = tool_collab_self(call);
	struct agent *to = self ? tool_agent_by_id(call, self, args->target) : NULL;
	if (!to)
		return;
	if (read_saying(args->message, args->items, args->items_count, &call->arena, &saying, &err) != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	collab_emit_message_begin(call, to, saying.words);
	int status = agent_wake(to, &err);
	if (status == 0)
		status = agent_post(to, self->id, args->interrupt, saying.words.ptr ? saying.words : STR(""), &err);
	if (status == 0) {
		agent_set_summary(to, saying.words);
		agent_begin(to);
	}
	collab_emit_message_end(call, to, saying.words);
	if (status != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	uuid_v7(submission);
	tool_call_finishf(call, true, "{\"submission_id\":\"%s\"}", submission);
}

/* ---- close and resume ---- */

void tool_close_agent_start(struct tool_call *call)
{
	const struct args_close_agent *args = call->args;
	struct agent *self = tool_collab_self(call);
	struct agent *agent = self ? tool_agent_by_id(call, self, args->target) : NULL;
	if (!self)
		return;
	if (!agent || agent == self || !agent_is_below(agent, self)) {
		emit_unknown(call, args->target);
		if (agent)
			tool_call_finishf(call, false, "agent with id %.*s not found", STR_ARG(args->target));
		return;
	}
	auto_arena struct arena arena = {0};
	struct agent_status before = collab_status(agent, &arena);
	struct json_writer w = json_writer(&call->output);
	collab_emit_close_begin(call, agent);
	agent_shut(agent);
	collab_emit_close_end(call, str_of(agent->session_id), str_of(agent->label), &before);
	jw_object(&w);
	jw_key(&w, "previous_status");
	union_encode(&union_agent_status, &before, &w);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}

void tool_resume_agent_start(struct tool_call *call)
{
	struct error err;
	const struct args_resume_agent *args = call->args;
	struct agent *self = tool_collab_self(call);
	struct agent *agent = self ? tool_agent_by_id(call, self, args->id) : NULL;
	if (!agent)
		return;
	collab_emit_resume_begin(call, agent);
	int status = agent->is_shut ? agent_wake(agent, &err) : 0;
	collab_emit_resume_end(call, agent);
	if (status != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "status");
	tool_agent_write_status(agent, &w);
	jw_object_end(&w);
	tool_call_finish_output(call, true);
}
