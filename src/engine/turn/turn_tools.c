/* The calls of one response. Parallel calls run together; an exclusive call waits for all before it and delays all
 * after it. Outputs are recorded in the order of the calls when all have ended, so the history does not depend on which
 * call finished first. */
#include "engine/turn/turn.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation.h"
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

static bool has_twin(const struct turn *turn, const struct tool_call *call)
{
	vec_for_each(tool, &turn->tools) {
		if (str_eq((*tool)->call_id, call->call_id))
			return true;
	}
	return false;
}

/* Writes the output of a call that is never started. A request is answered by the id of its call, so a second call with
 * the id of another one could be started by the approval of the first. */
static void refuse_excess(const struct turn *turn, struct tool_call *call)
{
	if (turn->tools.count >= LIMIT_TOOL_CALLS)
		buf_printf(&call->output,
		           "This call was not carried out: at most %d calls of one response are. Make it again in a "
		           "later one.",
		           LIMIT_TOOL_CALLS);
	else if (has_twin(turn, call))
		buf_append_c(&call->output,
		             "This call was not carried out: another call of the same response has the same call_id. "
		             "Make it again in a later one.");
	call->is_finished = call->output.len > 0;
}

void turn_add_tool(struct turn *turn, const struct tool_call_words *words)
{
	struct session *session = turn->env->session;
	struct tool_call *call = tool_call_create(&session->host, words, on_tool_done, turn);
	if (session_lacks_tool(session, call->type))
		call->type = NULL;
	refuse_excess(turn, call);
	vec_push(&turn->tools, call);
}

static bool runs_beside_others(const struct tool_call *call)
{
	return !call->type || (call->type->flags & TOOL_PARALLEL); /* tools of clients run in parallel */
}

/* {"type":"function_call_output","call_id":…,"output":…}; for a custom tool, custom_tool_call_output. */
static void write_output(const struct session *session, const struct tool_call *call, struct str text, struct buf *item)
{
	auto_buf struct buf cut;
	buf_init(&cut, LIMIT_TOOL_OUTPUT);
	buf_init(item, LIMIT_TOOL_ITEM);
	/* room for the tool's own lines around an output that was cut to the budget */
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
		if ((*tool)->follow_up.len == 0 || (*tool)->follow_up.over)
			continue;
		turn->env->conversation->context.user_turns++; /* an image is sent as a user message */
		conversation_add(turn->env->conversation, buf_str(&(*tool)->follow_up));
	}
}

void turn_drop_tools(struct turn *turn)
{
	vec_for_each(tool, &turn->tools) {
		pending_drop(&turn->env->session->pending, *tool);
		tool_call_destroy(*tool);
	}
	turn->tools.count = 0;
	turn->started = turn->running = 0;
	turn->is_exclusive = false;
}

static void start_ready(struct turn *turn)
{
	bool is_held = turn->env->session->host.is_held;
	while (turn->started < turn->tools.count && !turn->is_exclusive && !is_held) {
		struct tool_call *call = turn->tools.items[turn->started];
		bool alone = !runs_beside_others(call);
		if (call->is_finished) { /* it was refused */
			turn->started++;
			continue;
		}
		if (turn->running >= (alone ? 1 : LIMIT_TOOLS_RUNNING))
			return;
		turn->started++;
		turn->is_exclusive = alone;
		turn->running++;
		tool_call_start(call);
	}
	if (turn->running || turn->started < turn->tools.count)
		return;
	turn->env->inbox->read_early(turn->env->inbox_self);
	vec_for_each(tool, &turn->tools)
		record_output(turn->env->conversation, *tool, buf_str(&(*tool)->output));
	record_follow_ups(turn);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	turn_drop_tools(turn);
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

/* A call without an output would make the history invalid for the provider. */
void turn_abort_tools(struct turn *turn, bool by_user)
{
	vec_for_each(tool, &turn->tools)
		record_cut_short(turn, *tool, by_user);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	turn_drop_tools(turn);
}
