/* wait_agent waits for agents, not for messages: an agent that has already completed ends the wait at once, even if
 * it was returned before. */
#include "agent/agent_wait.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "tool/agent/collab_event.h"
#include "tool/agent/tool_agent.h"
#include "tool/agent/tool_collab.h"
#include "tool/tool_impl.h"

enum { WAIT_DEFAULT_MS = 30 * 1000, WAIT_MIN_MS = 10 * 1000, WAIT_MAX_MS = 3600 * 1000 };

static bool is_done(const struct agent *agent)
{
	return !agent || agent->is_shut || !agent_is_active(agent);
}

/* Answers {"status":{id:…},"timed_out":…} with the completed agents. Their final messages count as delivered. */
static void answer(struct tool_call *call, struct agent *self, bool timed_out)
{
	const struct args_wait_agent *args = call->args;
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_key(&w, "status");
	jw_object(&w);
	for (size_t i = 0; i < args->targets_count; i++) {
		struct agent *agent = agent_tree_find_session(self->tree, args->targets[i]);
		if (!is_done(agent))
			continue;
		jw_key_str(&w, args->targets[i]);
		tool_agent_write_status(agent, &w);
		struct agent_news heard = {.about = agent};
		if (agent)
			agent_take_news(self, &heard);
		agent_news_finish(&heard);
	}
	jw_object_end(&w);
	jw_member_bool(&w, "timed_out", timed_out);
	jw_object_end(&w);
	tool_call_finish_output(call, !timed_out);
}

static struct agent *find_done(struct agent *waiter, void *self)
{
	const struct tool_collab_wait *wait = self;
	const struct args_wait_agent *args = wait->call->args;
	for (size_t i = 0; i < args->targets_count; i++) {
		struct agent *agent = agent_tree_find_session(waiter->tree, args->targets[i]);
		if (is_done(agent))
			return agent ? agent : waiter;
	}
	return NULL;
}

static void answer_wait(struct tool_collab_wait *wait, enum agent_wake wake)
{
	if (wake == AGENT_WAKE_user)
		tool_call_finish(wait->call, false, STR("interrupted by user"));
	else
		answer(wait->call, wait->self, wake == AGENT_WAKE_timeout);
}

static bool check_targets(struct tool_call *call)
{
	const struct args_wait_agent *args = call->args;
	if (args->targets_count == 0) {
		tool_call_finish(call, false, STR("agent ids must be non-empty"));
		return false;
	}
	for (size_t i = 0; i < args->targets_count; i++) {
		struct str id = args->targets[i];
		if (uuid_is_valid(id))
			continue;
		tool_call_finishf(call, false, "invalid agent id %.*s: expected the id that spawn_agent returned",
		                  STR_ARG(id));
		return false;
	}
	return true;
}

/* ---- the wait of both namespaces ---- */

static void stop(struct tool_call *call)
{
	struct tool_collab_wait *wait = call->state;
	agent_wait_destroy(wait->wait);
	free(wait);
	call->state = NULL;
}

static void on_wait_end(enum agent_wake wake, struct agent *about, void *self)
{
	struct tool_collab_wait *wait = self;
	struct tool_call *call = wait->call;
	(void)about;
	wait->wait = NULL;
	collab_emit_wait_ids_end(call, wait->self, wait->targets, wait->target_count);
	wait->answer(wait, wake);
	stop(call);
}

void tool_collab_wait(const struct tool_collab_wait *with, agent_find_fn find, bool has_timeout_ms, int64_t timeout_ms)
{
	struct tool_collab_wait *wait = xnew(struct tool_collab_wait);
	*wait = *with;
	wait->call->state = wait;
	wait->call->stop = stop;
	if (!has_timeout_ms)
		timeout_ms = WAIT_DEFAULT_MS;
	timeout_ms = timeout_ms < WAIT_MIN_MS ? WAIT_MIN_MS : timeout_ms > WAIT_MAX_MS ? WAIT_MAX_MS : timeout_ms;
	collab_emit_wait_ids_begin(wait->call, wait->self, wait->targets, wait->target_count);
	struct agent_wait_options options = {
		.waiter = wait->self,
		.find = find,
		.timeout_ms = (uint64_t)timeout_ms,
		.on_end = on_wait_end,
		.self = wait,
	};
	wait->wait = agent_wait_start(&options);
}

/* ---- wait_agent ---- */

void tool_wait_agent_start(struct tool_call *call)
{
	const struct args_wait_agent *args = call->args;
	const struct tool_collab_wait wait = {.call = call,
	                                      .self = tool_collab_self(call),
	                                      .targets = args->targets,
	                                      .target_count = args->targets_count,
	                                      .answer = answer_wait};
	if (wait.self && check_targets(call))
		tool_collab_wait(&wait, find_done, args->has_timeout_ms, args->timeout_ms);
}

/* wait is wait_agent as it was in early 2026. */
void tool_wait_start(struct tool_call *call)
{
	const struct args_wait *args = call->args;
	struct args_wait_agent *same = arena_new(&call->arena, struct args_wait_agent);
	*same = (struct args_wait_agent){args->ids, args->ids_count, args->has_timeout_ms, args->timeout_ms};
	call->args = same;
	tool_wait_agent_start(call);
}
