/* Restores the subagents of a resumed root from its rollout. The rollout of each subagent that was active shows how its
 * work ended; without that it counts as canceled. The model reads the results with the next Task: a resume alone starts
 * none. */
#include <string.h>

#include "agent/agent_restore.h"
#include "agent/agent_watchdog.h"
#include "base/json.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/agents.h"
#include "engine/codex/agents_priv.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "loop/loop.h"
#include "protocol/record/types.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_reader.h"

static bool is_about_agents(const struct rollout_record *record)
{
	return rollout_is_about_agents(record->type, record->payload);
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

/* How one agent's work has ended, according to its rollout. */
struct settle_entry {
	uint64_t id;
	char session_id[UUID_TEXT_SIZE];
	bool has_ended; /* false: its last turn did not end, or its rollout cannot be read */
	struct str message;
};

/* May outlive a root that is closed before the worker has finished. */
struct settle_job {
	struct codex *root; /* NULL: the root was closed */
	char *home;
	VEC(struct settle_entry) entries;
	struct arena arena; /* holds the messages */
};

static void read_end(struct settle_job *job, struct settle_entry *entry)
{
	auto_free char *path = rollout_list_find_id(job->home, str_of(entry->session_id), NULL);
	struct rollout_reader *reader = path ? rollout_reader_create(path, NULL) : NULL;
	for (size_t i = reader && !reader->is_turn_open ? reader->records.count : 0; i > 0 && !entry->has_ended; i--) {
		struct str payload = reader->records.items[i - 1].payload;
		if (!str_has_prefix(payload, "{\"type\":\"task_complete\""))
			continue;
		const struct json *json = json_parse_copy(&job->arena, payload, NULL);
		entry->message = json_get_str(json, "last_agent_message");
		entry->has_ended = json;
	}
	rollout_reader_destroy(reader);
}

static void on_read(void *self)
{
	struct settle_job *job = self;
	vec_for_each(entry, &job->entries)
		read_end(job, entry);
}

/* Continues work that a lost process has left; false if it cannot be continued. */
static bool resume_work(struct agent *agent, const struct codex *root)
{
	const struct unfinished *work = root->env.unfinished;
	for (size_t i = 0; work && i < work->agent_count; i++) {
		if (str_is(str_of(work->agents[i].thread_id), agent->session_id))
			return agents_continue(agent, root, &work->agents[i], NULL) == 0;
	}
	return false;
}

static void settle(const struct codex *root, const struct settle_entry *entry)
{
	struct agent *agent = agent_tree_find(root->agents, entry->id);
	if (!agent || !agent_is_active(agent))
		return;
	if (agent->status == subagent_status_ready)
		agent_set_status(agent, subagent_status_idle);
	else if (entry->has_ended)
		agent_end(agent, agent_outcome_completed, entry->message);
	else if (!resume_work(agent, root))
		agent_end(agent, agent_outcome_canceled, STR("interrupted"));
}

static void job_destroy(struct settle_job *job)
{
	arena_finish(&job->arena);
	vec_finish(&job->entries);
	free(job->home);
	free(job);
}

static void on_settled(void *self)
{
	struct settle_job *job = self;
	struct codex *root = job->root;
	if (root) {
		root->settling = NULL;
		root->is_quiet = true;
		vec_for_each(entry, &job->entries)
			settle(root, entry);
		root->is_quiet = false;
	}
	job_destroy(job);
	if (!root)
		return;
	root->ops->carry_out(root);
	loop_defer(&root->eq.wake);
}

static struct settle_job *job_create(struct codex *root)
{
	const struct agent *agent;
	struct settle_job *job = xnew(struct settle_job);
	job->root = root;
	job->home = xstrdup(session_env_rollouts(&root->env));
	list_for_each(agent, &root->agents->agents, link) {
		struct settle_entry entry = {.id = agent->id};
		if (!agent->parent || !agent_is_active(agent))
			continue;
		memcpy(entry.session_id, agent->session_id, UUID_TEXT_SIZE);
		vec_push(&job->entries, entry);
	}
	return job;
}

void agents_settle_restored(struct codex *root)
{
	if (!root->agents)
		return;
	struct settle_job *job = job_create(root);
	if (job->entries.count) {
		root->settling = job;
		worker_run(root->env.loop, on_read, on_settled, job);
	} else {
		job_destroy(job);
	}
}

void agents_settle_cancel(struct codex *root)
{
	if (root->settling)
		root->settling->root = NULL;
	root->settling = NULL;
}

void agents_on_configure_failed(struct codex *codex, const struct error *err)
{
	const struct agent *agent = codex->env.agent;
	if (!agent || !agent->parent)
		return;
	free(codex->reopen_failure);
	codex->reopen_failure =
		xasprintf("agent_id %llu cannot be resumed: %s", (unsigned long long)agent->id, err->text);
	loop_defer(&codex->hear);
}
