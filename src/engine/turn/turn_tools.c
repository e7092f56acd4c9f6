/* The calls of one response: those that may run beside others start together; one that may not waits
 * for all before it and holds back all behind it. Outputs are recorded in the order of the calls,
 * when all have ended (core 1.6), so history reads the same whatever finished first. */
#include "engine/turn/turn.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/session_record.h"
#include "tool/tool.h"

static void start_ready(struct turn *turn);

static void on_tool_done(struct tool_call *call, void *self)
{
	struct turn *turn = self;
	(void)call;
	turn->running--;
	turn->is_exclusive = false;
	start_ready(turn);
}

/* It is never started, and has its output already. */
static void refuse(struct tool_call *call)
{
	buf_printf(&call->output,
	           "This call was not carried out: at most %d calls of one response are. Make it again in a later one.",
	           LIMIT_TOOL_CALLS);
	call->is_finished = true;
}

void turn_add_tool(struct turn *turn, const struct tool_call_words *words)
{
	struct session *session = turn->env->session;
	struct turn_tool tool = {0};
	tool.call = tool_call_create(&session->host, words, on_tool_done, turn);
	if (session_lacks_tool(session, tool.call->type))
		tool.call->type = NULL;
	if (turn->tools.count >= LIMIT_TOOL_CALLS)
		refuse(tool.call);
	vec_push(&turn->tools, tool);
}

struct tool_call *turn_find_tool(struct turn *turn, struct str call_id)
{
	vec_for_each(tool, &turn->tools) {
		if (tool->is_started && !tool->call->is_finished && str_eq(tool->call->call_id, call_id))
			return tool->call;
	}
	return NULL;
}

bool turn_waits_for_client(const struct turn *turn)
{
	vec_for_each(tool, &turn->tools) {
		if (tool->is_started && tool->call->dynamic && !tool->call->is_finished)
			return true;
	}
	return false;
}

static bool runs_beside_others(const struct turn_tool *tool)
{
	return !tool->call->type || (tool->call->type->flags & TOOL_PARALLEL); /* clients say nothing against it */
}

/* {"type":"function_call_output","call_id":…,"output":…}; a custom tool's answer has its own type. */
static void write_output(const struct session *session, const struct tool_call *call, struct str text, struct buf *item)
{
	auto_buf struct buf cut;
	buf_init(&cut, LIMIT_TOOL_OUTPUT);
	buf_init(item, LIMIT_TOOL_ITEM);
	/* room for what the tool itself wrote around an output cut to the budget (core 12.1) */
	struct text_budget budget = session->host.output_budget;
	budget.limit += budget.limit / 5;
	text_append_output(&cut, text, budget);
	struct json_writer w = json_writer(item);
	jw_object(&w);
	jw_member_cstr(&w, "type", call->is_custom ? "custom_tool_call_output" : "function_call_output");
	jw_member_str(&w, "call_id", call->call_id);
	if (call->parts.len && call->is_finished)
		jw_member_raw(&w, "output", buf_str(&call->parts));
	else
		jw_member_str(&w, "output", buf_str(&cut));
	jw_object_end(&w);
}

static void record_output(struct conversation *conversation, const struct tool_call *call, struct str text)
{
	auto_buf struct buf item, recorded = {0};
	write_output(conversation->session, call, text, &item);
	if (call->recorded.len) {
		write_output(conversation->session, call, buf_str(&call->recorded), &recorded);
		conversation_add_secret(conversation, buf_str(&item), buf_str(&recorded));
	} else {
		conversation_add(conversation, buf_str(&item));
	}
}

static void record_follow_ups(struct turn *turn)
{
	vec_for_each(tool, &turn->tools) {
		if (tool->call->follow_up.len == 0 || tool->call->follow_up.over)
			continue;
		turn->env->conversation->context.user_turns++; /* an image comes as a message of the user */
		conversation_add(turn->env->conversation, buf_str(&tool->call->follow_up));
	}
}

static void drop_tools(struct turn *turn)
{
	vec_for_each(tool, &turn->tools) {
		approvals_drop(&turn->env->session->approvals, tool->call);
		questions_drop(&turn->env->session->questions, tool->call);
		tool_call_destroy(tool->call);
	}
	turn->tools.count = 0;
	turn->started = turn->finished = turn->running = 0;
	turn->is_exclusive = false;
}

/* A question about a call is answered by the call's id. Two under one id are never open at once, lest a yes to one be
 * taken for the other. */
static bool shares_id(struct turn *turn, const struct turn_tool *tool)
{
	while (turn->finished < turn->started && turn->tools.items[turn->finished].call->is_finished)
		turn->finished++;
	for (const struct turn_tool *other = &turn->tools.items[turn->finished]; other < tool; other++) {
		if (!other->call->is_finished && str_eq(other->call->call_id, tool->call->call_id))
			return true;
	}
	return false;
}

static void start_ready(struct turn *turn)
{
	bool is_held = turn->env->session->host.is_held;
	size_t count = turn->tools.count < LIMIT_TOOL_CALLS ? turn->tools.count : LIMIT_TOOL_CALLS;
	while (turn->started < count && !turn->is_exclusive && !is_held) {
		struct turn_tool *tool = &turn->tools.items[turn->started];
		bool alone = !runs_beside_others(tool);
		if (turn->running >= (alone ? 1 : LIMIT_TOOLS_RUNNING) || shares_id(turn, tool))
			return;
		turn->started++;
		tool->is_started = true;
		turn->is_exclusive = alone;
		turn->running++;
		tool_call_start(tool->call);
	}
	if (turn->running || turn->started < count)
		return;
	turn->env->inbox->read_early(turn->env->inbox_self);
	vec_for_each(tool, &turn->tools)
		record_output(turn->env->conversation, tool->call, buf_str(&tool->call->output));
	record_follow_ups(turn);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	drop_tools(turn);
	turn_on_tools_done(turn);
}

void turn_run_tools(struct turn *turn)
{
	turn->runs_tools = true;
	start_ready(turn);
}

static void record_cut_short(struct turn *turn, const struct tool_call *call, bool by_user)
{
	char text[64] = "aborted";
	if (call->is_finished) {
		record_output(turn->env->conversation, call, buf_str(&call->output));
		return;
	}
	uint64_t started_ns = call->started_ns ? call->started_ns : clock_now_ns();
	if (by_user)
		snprintf(text, sizeof(text), "aborted by user after %.1fs",
		         (double)(clock_now_ns() - started_ns) / 1e9);
	record_output(turn->env->conversation, call, str_of(text));
}

/* Core 1.4 and 2.5: a call cut short still gets an output, so that the history stays well-formed. */
void turn_abort_tools(struct turn *turn, bool by_user)
{
	vec_for_each(tool, &turn->tools)
		record_cut_short(turn, tool->call, by_user);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	drop_tools(turn);
}
