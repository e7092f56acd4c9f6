/* Continues a task whose process was lost. The history has the calls of the last response; a call without an output
 * had either not begun, so it is started, or its effects had begun: then it may have run in part, and running it again
 * could do harm. Input that joined the task and did not reach the history is added again. */
#include "engine/task/task.h"

#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation.h"
#include "engine/session/session.h"
#include "engine/session/unfinished.h"
#include "engine/turn/turn.h"
#include "protocol/message/message.h"
#include "rollout/rollout_journal.h"

#define UNKNOWN_EFFECT                                                                                         \
	"interrupted: the worker that ran this was lost. It may have taken effect in part, or not at all; it " \
	"was not run again."

/* ---- calls that had begun ---- */

static void end_command(struct session *session, struct str id, const struct ev_exec_begin *begin)
{
	struct str text = STR(UNKNOWN_EFFECT);
	struct ev_exec_end event = {
		.call_id = begin->call_id,
		.process_id = begin->process_id,
		.turn_id = begin->turn_id,
		.command = begin->command,
		.command_count = begin->command_count,
		.cwd = begin->cwd,
		.parsed_cmd = begin->parsed_cmd,
		.parsed_cmd_count = begin->parsed_cmd_count,
		.source = begin->source,
		.standard_output = STR(""),
		.standard_error = text,
		.aggregated_output = text,
		.exit_code = -1,
		.duration = &(struct duration){0},
		.formatted_output = text,
	};
	session_emit(session, id, EV_exec_command_end, &event);
}

static void end_patch(struct session *session, struct str id, const struct ev_patch_begin *begin)
{
	struct ev_patch_end event = {
		.call_id = begin->call_id,
		.turn_id = id,
		.standard_output = STR(""),
		.standard_error = STR(UNKNOWN_EFFECT),
		.changes = begin->changes,
		.changes_keys = begin->changes_keys,
		.changes_count = begin->changes_count,
	};
	session_emit(session, id, EV_patch_apply_end, &event);
}

static void end_mcp_call(struct session *session, struct str id, const struct ev_mcp_call_begin *begin)
{
	struct mcp_result result = {.tag = mcp_result_err};
	struct ev_mcp_call_end event = {
		.call_id = begin->call_id,
		.invocation = begin->invocation,
		.duration = &(struct duration){0},
		.result = &result,
	};
	result.err = &(struct mcp_failure){.reason = STR(UNKNOWN_EFFECT)};
	session_emit(session, id, EV_mcp_tool_call_end, &event);
}

static void emit_interrupted(struct session *session, struct str id, const struct event_msg *begin)
{
	if (!begin)
		return;
	/* the journal gets the begin again, so that the line of the end has its parts */
	session_record_event(session, id, begin->tag, begin->body);
	if (begin->tag == EV_exec_command_begin)
		end_command(session, id, begin->exec_command_begin);
	else if (begin->tag == EV_patch_apply_begin)
		end_patch(session, id, begin->patch_apply_begin);
	else if (begin->tag == EV_mcp_tool_call_begin)
		end_mcp_call(session, id, begin->mcp_tool_call_begin);
}

static void add_output(struct conversation *conversation, const struct open_call *call, struct str text)
{
	auto_buf struct buf item, cut;
	buf_init(&item, LIMIT_TOOL_ITEM);
	buf_init(&cut, LIMIT_TOOL_OUTPUT);
	text_append_output(&cut, text, conversation->session->settings->info.output_budget);
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", call->output);
	jw_member_str(&w, "call_id", call->call_id);
	jw_member_str(&w, "output", buf_str(&cut));
	jw_object_end(&w);
	conversation_add(conversation, buf_str(&item));
}

static const struct unfinished_call *find_call(const struct unfinished *unfinished, struct str call_id)
{
	for (size_t i = 0; i < unfinished->call_count; i++) {
		if (str_eq(unfinished->calls[i].call_id, call_id))
			return &unfinished->calls[i];
	}
	return NULL;
}

/* Answers the calls of the history that must not be started again. */
static void answer_begun(struct session *session, const struct unfinished *unfinished)
{
	struct open_calls open = {0};
	open_calls_find(&open, &session->conversation.context);
	vec_for_each(call, &open.list) {
		const struct unfinished_call *known = find_call(unfinished, call->call_id);
		if (known)
			add_output(&session->conversation, call,
			           known->has_ended ? known->output : STR(UNKNOWN_EFFECT));
	}
	open_calls_finish(&open);
}

/* ---- input ---- */

static bool read_input(const struct submission *submission, struct task_input *ret)
{
	const struct op *op = &submission->op;
	if (op->tag == OP_user_input)
		*ret = (struct task_input){op->user_input->items, op->user_input->items_count,
		                           op->user_input->final_output_json_schema, op->user_input->client_id};
	else if (op->tag == OP_user_turn)
		*ret = (struct task_input){op->user_turn->items, op->user_turn->items_count,
		                           op->user_turn->final_output_json_schema, STR_NONE};
	else
		return false;
	return true;
}

/* Returns the index after the next item from `at` on that has this input, or after the last such item; 0 if there is
 * no such item. */
static size_t find_input(const struct task *task, const struct task_input *input, size_t at, bool is_last)
{
	const struct context *context = &task->session->conversation.context;
	auto_buf struct buf item;
	size_t found = 0;
	buf_init(&item, LIMIT_USER_ITEM);
	user_message_write(&item, task->settings->cwd, input->items, input->count);
	for (size_t i = at; i < context->items.count && (!found || is_last); i++) {
		if (str_eq(context_item_text(context, i), buf_str(&item)))
			found = i + 1;
	}
	return found;
}

/* Adds what joined the task and is not in the history. */
static void add_lost_input(struct task *task, const struct unfinished *unfinished)
{
	struct task_input input;
	size_t at = 0;
	for (size_t i = 0; i < unfinished->input_count; i++) {
		if (!read_input(unfinished->inputs[i], &input) || !input.count)
			continue;
		size_t found = find_input(task, &input, at, i == 0);
		if (found)
			at = found;
		else
			task_add_input(task, &input);
	}
}

/* ---- calls that had not begun ---- */

static bool is_open(const struct open_calls *open, struct str call_id)
{
	vec_for_each(call, &open->list) {
		if (str_eq(call->call_id, call_id))
			return true;
	}
	return false;
}

static void add_open(struct turn *turn, const struct context *context, const struct open_calls *open)
{
	for (size_t i = 0; i < context->items.count; i++) {
		auto_arena struct arena arena = {0};
		struct str text = context_item_text(context, i);
		bool is_call = str_find(text, STR("\"call_id\"")) >= 0;
		const struct json *item = is_call ? json_parse(&arena, text, NULL) : NULL;
		if (item && is_open(open, json_get_str(item, "call_id")))
			turn_add_call(turn, item);
	}
}

/* Returns a turn that starts the calls of the history that have no output; NULL if all have one. */
static struct turn *start_calls(struct task *task)
{
	static const struct turn_question question = {.on_event = turn_on_event};
	const struct context *context = &task->turn_env.conversation->context;
	struct open_calls open = {0};
	open_calls_find(&open, context);
	struct turn *turn = open.list.count ? turn_create(&task->turn_env, &question) : NULL;
	if (turn) {
		add_open(turn, context, &open);
		turn_run_calls(turn);
	}
	open_calls_finish(&open);
	return turn;
}

/* ---- the kinds of tasks ---- */

static void continue_turns(struct task_owner *owner, const struct unfinished *unfinished)
{
	struct task_input first;
	struct task *task = task_start_continued(owner, unfinished->id);
	if (unfinished->input_count && read_input(unfinished->inputs[0], &first))
		task->turn_env.output_schema = arena_str(&task->arena, first.output_schema);
	add_lost_input(task, unfinished);
	task->turn = start_calls(task);
	if (!task->turn)
		task_next_turn(task);
}

/* The first input had not reached the history, so the task begins again; what joined it follows. */
static void begin_again(struct task_owner *owner, const struct unfinished *unfinished)
{
	struct task_input input;
	if (!read_input(unfinished->inputs[0], &input))
		return;
	task_start_user(owner, unfinished->id, &input);
	for (size_t i = 1; i < unfinished->input_count && owner->session->task; i++) {
		if (read_input(unfinished->inputs[i], &input))
			task_steer(owner->session->task, &input);
	}
}

static void begin_review(struct task_owner *owner, const struct unfinished *unfinished)
{
	struct error err;
	const struct review_request *request = unfinished->inputs[0]->op.review->review_request;
	if (task_start_review(owner, unfinished->id, request, &err) == 0)
		return;
	struct task *task = task_start_continued(owner, unfinished->id);
	task_emit(task, EV_error,
	          &(struct ev_error){.message = str_of(err.text), .codex_error_info = STR("\"other\"")});
	task_complete(task);
}

/* The command of the user is not run again; input that joined the task meanwhile is answered. */
static void end_shell(struct task_owner *owner, const struct unfinished *unfinished)
{
	struct task *task = task_start_waiting(owner, unfinished->id);
	add_lost_input(task, unfinished);
	task_end_waiting(task);
}

static void start(struct task_owner *owner, const struct unfinished *unfinished)
{
	switch (unfinished->input_count ? unfinished->inputs[0]->op.tag : OP_user_input) {
	case OP_review:
		begin_review(owner, unfinished);
		return;
	case OP_compact:
		task_start_compact(owner, unfinished->id);
		return;
	case OP_run_user_shell_command:
		end_shell(owner, unfinished);
		return;
	default:
		if (unfinished->input_count && !unfinished->is_first_recorded)
			begin_again(owner, unfinished);
		else
			continue_turns(owner, unfinished);
	}
}

void task_continue(struct task_owner *owner, const struct unfinished *unfinished)
{
	struct session *session = owner->session;
	if (session->rollout) {
		session_open_journal(session);
		rollout_journal_continue(session->journal, unfinished->id, unfinished->turn_id);
	}
	session_warn(session, unfinished->id,
	             "The worker %s was lost while it worked on this task; another worker continues it.",
	             unfinished->worker);
	for (size_t i = 0; i < unfinished->call_count; i++) {
		if (!unfinished->calls[i].has_ended)
			emit_interrupted(session, unfinished->id, unfinished->calls[i].begin);
	}
	answer_begun(session, unfinished);
	owner->is_continued = true;
	start(owner, unfinished);
	owner->is_continued = false;
}
