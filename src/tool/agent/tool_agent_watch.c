/* Tools: subagent_watchdog, which sends messages to an agent at intervals, and subagent_logs, which lists its recent
 * events. */
#include "agent/agent_watchdog.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/text.h"
#include "tool/agent/tool_agent.h"
#include "tool/tool_impl.h"

enum { WATCHDOG_DEFAULT_S = 300, WATCHDOG_MIN_S = 30, WATCHDOG_MAX_S = 24 * 3600, LOG_DEFAULT = 5 };

#define DEFAULT_PING "Reminder: in a few lines, where are you, what is next, and does anything keep you from going on?"

static void answer(struct tool_call *call, uint64_t id, uint64_t interval_s, struct str message,
                   enum agent_watchdog_action action)
{
	static const char *const words[] = {
		[AGENT_WATCHDOG_started] = "started",
		[AGENT_WATCHDOG_replaced] = "replaced",
		[AGENT_WATCHDOG_canceled] = "canceled",
		[AGENT_WATCHDOG_not_found] = "not_found",
	};
	struct json_writer w = json_writer(&call->output);
	jw_object(&w);
	jw_member_i64(&w, "agent_id", (int64_t)id);
	jw_member_i64(&w, "interval_s", (int64_t)interval_s);
	jw_member_str(&w, "message", message);
	jw_member_cstr(&w, "action", words[action]);
	jw_object_end(&w);
	tool_call_finish_output(call, action != AGENT_WATCHDOG_not_found);
}

static struct str message_of(const struct args_subagent_watchdog *args)
{
	struct str message = str_trim(args->message);
	if (message.len == 0)
		return STR(DEFAULT_PING);
	if (message.len > LIMIT_AGENT_PING)
		message.len = text_floor_boundary(message, LIMIT_AGENT_PING);
	return message;
}

void tool_subagent_watchdog_start(struct tool_call *call)
{
	struct error err;
	enum agent_watchdog_action action;
	const struct args_subagent_watchdog *args = call->args;
	struct agent *self = tool_agent_self(call);
	struct agent *target = self ? tool_agent_find(call, self, args->agent_id) : NULL;
	if (!target)
		return;
	int64_t interval_s = args->has_interval_s ? args->interval_s : WATCHDOG_DEFAULT_S;
	struct str message = message_of(args);
	if (args->has_cancel && args->cancel) {
		action = agent_watchdog_cancel(self, target);
	} else if (interval_s < WATCHDOG_MIN_S) {
		tool_call_finishf(call, false, "interval_s must be at least %d seconds", WATCHDOG_MIN_S);
		return;
	} else if (interval_s > WATCHDOG_MAX_S) {
		tool_call_finishf(call, false, "interval_s must be at most %d seconds (a day)", WATCHDOG_MAX_S);
		return;
	} else if (agent_watchdog_start(self, target, (uint64_t)interval_s, message, &action, &err) != 0) {
		tool_call_finishf(call, false, "%s", err.text);
		return;
	}
	answer(call, target->id, (uint64_t)interval_s, message, action);
}

/* ---- logs ---- */

void tool_subagent_logs_start(struct tool_call *call)
{
	const struct args_subagent_logs *args = call->args;
	struct agent *self = tool_agent_self(call);
	struct agent *agent = self ? tool_agent_find(call, self, args->agent_id) : NULL;
	if (!agent)
		return;
	if (args->limit < 0 || args->max_bytes < 0) {
		tool_call_finish(call, false,
		                 STR("failed to parse subagent_logs arguments: limit and max_bytes must not be "
		                     "negative"));
		return;
	}
	/* A longer answer would be truncated in the middle, which would make the JSON invalid. */
	size_t room = text_budget_bytes(call->host->output_budget);
	struct agent_log_query query = {
		.has_since = args->has_since_ms,
		.since_ms = args->since_ms,
		.has_before = args->has_before_ms,
		.before_ms = args->before_ms,
		.limit = args->has_limit ? (size_t)args->limit : LOG_DEFAULT,
		.max_bytes = args->max_bytes && (size_t)args->max_bytes < room ? (size_t)args->max_bytes : room,
	};
	if (query.limit == 0)
		query.limit = 1;
	struct json_writer w = json_writer(&call->output);
	agent_log_write(&agent->log, agent->session_id, &query, &w);
	tool_call_finish_output(call, true);
}
