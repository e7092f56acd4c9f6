/* Restores the subagents of a resumed root from its rollout. The rollout of each subagent that was active shows how its
 * work ended; without that it counts as canceled. The model reads the results with the next Task: a resume alone starts
 * none. */
#include "agent/agent_restore.h"
#include "agent/agent_watchdog.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/agents_priv.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "protocol/record/types.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_reader.h"

static bool is_about_agents(const struct rollout_record *record)
{
	return rollout_tells_of_agents(record->type, record->payload);
}

static void replay(struct agent_tree *tree, struct str payload)
{
	auto_arena struct arena arena = {0};
	struct event_msg event;
	const struct json *json = json_parse(&arena, payload, NULL);
	if (!json || union_decode(&union_event_msg, json, &arena, &event, NULL) != 0)
		return;
	if (event.tag == EV_subagent_lifecycle)
		agent_restore_lifecycle(tree, event.subagent_lifecycle);
	else if (event.tag == EV_agent_inbox)
		agent_restore_inbox(tree, event.agent_inbox);
}

/* ---- watchdogs: restored from the calls that set them and the outputs of these ---- */

static void rearm(struct agent_tree *tree, const struct json *answer)
{
	enum agent_watchdog_action action;
	struct str word = json_get_str(answer, "action"), message = json_get_str(answer, "message");
	int64_t interval_s = json_get_i64(answer, "interval_s", 0), id = json_get_i64(answer, "agent_id", -1);
	struct agent *target = id < 0 ? NULL : agent_tree_find(tree, (uint64_t)id);
	if (!target)
		return;
	if (str_is(word, "canceled"))
		agent_watchdog_cancel(tree->root, target);
	else if ((str_is(word, "started") || str_is(word, "replaced")) && interval_s > 0 && message.len)
		best_effort(agent_watchdog_start(tree->root, target, (uint64_t)interval_s, message, &action, NULL));
}

static void restore_watchdogs(struct agent_tree *tree, const struct rollout_reader *reader)
{
	auto_arena struct arena arena = {0};
	VEC(struct str) calls = {0};
	vec_for_each(item, &reader->history) {
		bool is_call = str_find(*item, STR("\"subagent_watchdog\"")) >= 0;
		if (!is_call && (!calls.count || str_find(*item, STR("interval_s")) < 0))
			continue;
		const struct json *json = json_parse(&arena, *item, NULL);
		struct str id = json_get_str(json, "call_id");
		if (is_call && str_is(json_get_str(json, "name"), "subagent_watchdog"))
			vec_push(&calls, id);
		vec_for_each(call, &calls) {
			if (str_eq(*call, id) && json_get(json, "output"))
				rearm(tree, json_parse(&arena, json_get_str(json, "output"), NULL));
		}
	}
	vec_finish(&calls);
}

void agents_restore(struct session *session, const struct rollout_reader *reader)
{
	struct codex *codex = codex_of(session);
	bool has_any = false;
	vec_for_each(record, &reader->records)
		has_any |= is_about_agents(record);
	if (codex->env.agent || !has_any || !agents_self(session))
		return;
	vec_for_each(record, &reader->records) {
		if (is_about_agents(record))
			replay(codex->agents, record->payload);
	}
	restore_watchdogs(codex->agents, reader);
}

/* ---- agents that were active ---- */

/* False: its last turn did not end, or its rollout cannot be read. */
static bool read_end(const struct agent *agent, const char *home, struct arena *arena, struct str *ret_message)
{
	auto_free char *path = rollout_list_find_id(home, str_of(agent->session_id), NULL);
	struct rollout_reader *reader = path ? rollout_reader_create(path, NULL) : NULL;
	bool has_ended = false;
	for (size_t i = reader && !reader->is_turn_open ? reader->records.count : 0; i > 0 && !has_ended; i--) {
		struct str payload = reader->records.items[i - 1].payload;
		if (!str_has_prefix(payload, "{\"type\":\"task_complete\""))
			continue;
		const struct json *json = json_parse_copy(arena, payload, NULL);
		*ret_message = json_get_str(json, "last_agent_message");
		has_ended = json;
	}
	rollout_reader_destroy(reader);
	return has_ended;
}

static void settle(struct agent *agent, const char *home)
{
	auto_arena struct arena arena = {0};
	struct str message = STR_NONE;
	if (agent->status == subagent_status_ready)
		agent_set_status(agent, subagent_status_idle);
	else if (read_end(agent, home, &arena, &message))
		agent_end(agent, agent_outcome_completed, message);
	else
		agent_end(agent, agent_outcome_canceled, STR("interrupted"));
}

void agents_settle_restored(struct session *session)
{
	struct codex *codex = codex_of(session);
	struct agent *agent;
	if (!codex->agents)
		return;
	codex->is_quiet = true;
	list_for_each(agent, &codex->agents->agents, link) {
		if (agent->parent && agent_is_active(agent))
			settle(agent, config_home(codex->env.config));
	}
	codex->is_quiet = false;
}
