/* Tools that end agents: subagent_cancel stops one that works, subagent_prune removes finished ones. Neither waits
 * for the agent. */
#include "agent/agent_json.h"
#include "agent/agent_tree.h"
#include "base/error.h"
#include "base/vec.h"
#include "tool/agent/collab_event.h"
#include "tool/agent/tool_agent.h"
#include "tool/tool_impl.h"

void tool_subagent_cancel_start(struct tool_call *call)
{
	const struct args_subagent_cancel *args = call->args;
	struct agent *self = tool_agent_self(call);
	struct agent *agent = self ? tool_agent_find(call, self, args->agent_id) : NULL;
	if (!agent)
		return;
	if (agent == self || !agent_is_below(agent, self)) {
		tool_call_finishf(call, false, "agent_id %llu is not below you and cannot be canceled by you",
		                  (unsigned long long)agent->id);
		return;
	}
	auto_arena struct arena arena = {0};
	collab_emit_close_begin(call, agent);
	agent_cancel_children(agent);
	agent_cancel(agent);
	struct agent_status after = collab_status(agent, &arena);
	collab_emit_close_end(call, str_of(agent->session_id), str_of(agent->label), &after);
	struct json_writer w = json_writer(&call->output);
	agent_write_canceled(agent, args->reason, &w);
	tool_call_finish_output(call, true);
}

/* ---- prune ---- */

/* The result of a prune for one agent or number. */
struct pruned {
	int64_t id;
	char session_id[UUID_TEXT_SIZE]; /* "" if the agent did not exist */
};

struct prune {
	VEC(struct pruned) pruned, skipped, unknown;
};

static struct pruned note(const struct agent *agent)
{
	struct pruned noted = {.id = (int64_t)agent->id};
	memcpy(noted.session_id, agent->session_id, sizeof(noted.session_id));
	return noted;
}

static void prune_one(struct prune *prune, struct tool_call *call, struct agent *self, int64_t id)
{
	struct agent *agent = id < 0 ? NULL : agent_tree_find(self->tree, (uint64_t)id);
	if (!agent || agent == self || !agent_is_below(agent, self)) {
		vec_push(&prune->unknown, (struct pruned){.id = id});
	} else if (agent_has_active(agent)) {
		vec_push(&prune->skipped, note(agent));
	} else {
		struct pruned noted = note(agent);
		struct agent_status gone = {.tag = agent_status_shutdown};
		auto_free char *nickname = agent->label ? xstrdup(agent->label) : NULL;
		collab_emit_close_begin(call, agent);
		agent_prune(agent);
		collab_emit_close_end(call, str_of(noted.session_id), str_of(nickname), &gone);
		vec_push(&prune->pruned, noted);
	}
}

/* Prunes all descendants of the caller, parents first, because pruning an agent removes its descendants, too. */
static void prune_all(struct prune *prune, struct tool_call *call, struct agent *self)
{
	VEC(int64_t) ids = {0};
	const struct agent *agent;
	list_for_each(agent, &self->tree->agents, link) {
		if (agent != self && agent_is_below(agent, self))
			vec_push(&ids, (int64_t)agent->id);
	}
	for (size_t i = ids.count; i > 0; i--)
		prune_one(prune, call, self, ids.items[i - 1]);
	vec_finish(&ids);
}

static void write_sessions(struct json_writer *w, const char *key, const struct pruned *items, size_t count)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		if (items[i].session_id[0])
			jw_cstr(w, items[i].session_id);
	}
	jw_array_end(w);
}

static void write_numbers(struct json_writer *w, const char *key, const struct pruned *items, size_t count)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < count; i++)
		jw_i64(w, items[i].id);
	jw_array_end(w);
}

static void write_prune(const struct prune *prune, const struct tool_call *call, struct json_writer *w)
{
	jw_object(w);
	jw_member_raw(w, "request", str_trim(call->input).len ? str_trim(call->input) : STR("{}"));
	write_sessions(w, "pruned", prune->pruned.items, prune->pruned.count);
	write_sessions(w, "skipped_active", prune->skipped.items, prune->skipped.count);
	write_sessions(w, "unknown", prune->unknown.items, prune->unknown.count);
	jw_member_raw(w, "errors", STR("[]"));
	jw_key(w, "counts");
	jw_object(w);
	jw_member_i64(w, "pruned", (int64_t)prune->pruned.count);
	jw_member_i64(w, "skipped_active", (int64_t)prune->skipped.count);
	jw_member_i64(w, "unknown", (int64_t)prune->unknown.count);
	jw_member_i64(w, "errors", 0);
	jw_object_end(w);
	write_numbers(w, "pruned_agent_ids", prune->pruned.items, prune->pruned.count);
	write_numbers(w, "skipped_active_agent_ids", prune->skipped.items, prune->skipped.count);
	write_numbers(w, "unknown_agent_ids", prune->unknown.items, prune->unknown.count);
	jw_object_end(w);
}

static const char *find_fault(const struct args_subagent_prune *args)
{
	if (args->has_completed_only && !args->completed_only)
		return "completed_only must be true or omitted";
	if (args->has_all && args->all)
		return NULL;
	if (!args->agent_ids)
		return "specify session_ids or set all=true";
	return args->agent_ids_count ? NULL : "session_ids list cannot be empty";
}

void tool_subagent_prune_start(struct tool_call *call)
{
	struct prune prune = {0};
	const struct args_subagent_prune *args = call->args;
	struct agent *self = tool_agent_self(call);
	if (!self)
		return;
	const char *fault = find_fault(args);
	if (fault) {
		tool_call_finish(call, false, str_of(fault));
		return;
	}
	if (args->has_all && args->all)
		prune_all(&prune, call, self);
	for (size_t i = 0; i < args->agent_ids_count; i++)
		prune_one(&prune, call, self, args->agent_ids[i]);
	struct json_writer w = json_writer(&call->output);
	write_prune(&prune, call, &w);
	vec_finish(&prune.pruned);
	vec_finish(&prune.skipped);
	vec_finish(&prune.unknown);
	tool_call_finish_output(call, true);
}
