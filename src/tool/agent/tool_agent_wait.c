/* subagent_await keeps its call open with one timer, without a thread or polling. The messages that it returns are
 * removed from the inbox, so that they are not delivered twice. */
#include "agent/agent_wait.h"

#include "base/mem.h"
#include "tool/agent/collab_event.h"
#include "tool/agent/tool_agent.h"
#include "tool/tool_impl.h"

enum { AWAIT_MIN_S = 300, AWAIT_MAX_S = 1800 };

struct await {
	struct tool_call *call;
	struct agent *self;
	uint64_t target; /* 0: any agent */
	struct agent_wait *wait;
};

static void stop(struct tool_call *call)
{
	struct await *await = call->state;
	agent_wait_destroy(await->wait);
	free(await);
	call->state = NULL;
}

static void on_wait_end(enum agent_wake wake, struct agent *about, void *self)
{
	struct await *await = self;
	struct tool_call *call = await->call;
	struct agent_news news = {.about = about, .timed_out = wake == AGENT_WAKE_timeout};
	struct agent *target = await->target ? agent_tree_find(await->self->tree, await->target) : NULL;
	await->wait = NULL;
	if (wake == AGENT_WAKE_news)
		agent_take_news(await->self, &news);
	collab_emit_wait_end(call, await->self, target);
	if (wake == AGENT_WAKE_user) {
		tool_call_finish(call, false, STR("interrupted by user"));
	} else if (wake == AGENT_WAKE_gone) {
		tool_call_finishf(call, false, "agent_id %llu not found; refresh subagent_list",
		                  (unsigned long long)await->target);
	} else {
		struct json_writer w = json_writer(&call->output);
		agent_write_news(await->self, &news, &w);
		tool_call_finish_output(call, wake == AGENT_WAKE_news);
	}
	agent_news_finish(&news);
	stop(call);
}

/* False if the call was finished with an error. */
static bool read_timeout(struct tool_call *call, uint64_t *ret_s)
{
	const struct args_subagent_await *args = call->args;
	int64_t seconds = args->has_timeout_s ? args->timeout_s : 0;
	*ret_s = seconds ? (uint64_t)seconds : AWAIT_MAX_S;
	if (seconds < 0)
		tool_call_finish(call, false,
		                 STR("failed to parse subagent_await arguments: timeout_s must not be negative"));
	else if (seconds && seconds < AWAIT_MIN_S)
		tool_call_finishf(call, false,
		                  "subagent_await timeout must be at least %d seconds; use 0 for the longest wait",
		                  AWAIT_MIN_S);
	else if (seconds > AWAIT_MAX_S)
		tool_call_finishf(call, false,
		                  "subagent_await timeout_secs (%llds) exceeds the 30-minute limit (%ds). Wait again "
		                  "if that is not enough.",
		                  (long long)seconds, AWAIT_MAX_S);
	else
		return true;
	return false;
}

static bool has_children(const struct agent *self)
{
	const struct agent *agent;
	list_for_each(agent, &self->tree->agents, link) {
		if (agent->parent == self)
			return true;
	}
	return false;
}

void tool_subagent_await_start(struct tool_call *call)
{
	uint64_t timeout_s;
	const struct args_subagent_await *args = call->args;
	struct agent *self = tool_agent_self(call), *target = NULL;
	if (!self || !read_timeout(call, &timeout_s))
		return;
	if (args->has_agent_id && !(target = tool_agent_find(call, self, args->agent_id)))
		return;
	if (!target && !has_children(self) && agent_inbox_is_empty(&self->inbox)) {
		tool_call_finish(call, false, STR("no active subagents to await; start one with subagent_spawn first"));
		return;
	}
	struct await *await = xnew(struct await);
	*await = (struct await){.call = call, .self = self, .target = target ? target->id : 0};
	call->state = await;
	call->stop = stop;
	collab_emit_wait_begin(call, self, target);
	struct agent_wait_options options = {
		.waiter = self,
		.target = target,
		.timeout_ms = timeout_s * 1000,
		.on_end = on_wait_end,
		.self = await,
	};
	await->wait = agent_wait_start(&options);
}
