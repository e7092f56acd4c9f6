/* A Turn ends in one of four ways (completed, broken, failed, aborted), each in a function of its own. The step after
 * the stream is deferred, so that the owner never destroys the Turn inside a callback of the model call.
 *
 * Parallel calls of the response run together; an exclusive call, or one whose id an earlier call has, waits for all
 * before it and delays all after it.
 * Outputs are recorded in the order of the calls when all have ended, so the history does not depend on which call
 * finished first. */
#define LOG_MODULE "turn"
#include "engine/turn/turn.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "config/model_provider.h"
#include "engine/session/conversation.h"
#include "engine/session/conversation_usage.h"
#include "engine/session/session.h"
#include "engine/session/session_mcp.h"
#include "engine/session/session_model.h"
#include "engine/session/session_tools.h"
#include "model/model_client.h"
#include "model/model_error.h"
#include "model/model_backoff.h"
#include "tool/exec/exec_session.h"
#include "tool/tool.h"

/* ---- the calls of the response ---- */

static void start_ready(struct turn *turn);

static void call_ended(struct turn *turn)
{
	turn->running--;
	turn->is_exclusive = false;
	start_ready(turn);
}

static void on_tool_done(struct tool_call *call, void *self)
{
	struct turn *turn = self;
	turn_hooks_end_call(turn, call, call_ended);
}

static bool has_twin(const struct turn *turn, const struct tool_call *call)
{
	vec_for_each(tool, &turn->tools) {
		if (str_eq((*tool)->call_id, call->call_id))
			return true;
	}
	return false;
}

/* Writes the output of a call that must not start. */
static bool refuse(struct tool_call *call, const char *why)
{
	buf_printf(&call->output, "This call was not carried out: %s. Make it again in a later response.", why);
	return call->is_finished = true;
}

/* A command that outlives its call keeps the call's id. Calls without an item are not confused with it. */
static bool refuse_busy(const struct turn *turn, struct tool_call *call)
{
	bool has_item = call->type != tool_get(TOOL_write_stdin) && call->type != tool_get(TOOL_update_plan);
	return call->is_twin && has_item && exec_sessions_have_call(turn->env->session->exec, call->call_id) &&
	       refuse(call, "the command of another call with this id still runs");
}

void turn_add_tool(struct turn *turn, const struct tool_call_words *words)
{
	struct session *session = turn->env->session;
	struct tool_call *call = tool_call_create(&session->host, words, on_tool_done, turn);
	if (session_lacks_tool(session, call->type))
		call->type = NULL;
	call->is_twin = turn->tools.count < LIMIT_TOOL_CALLS && has_twin(turn, call);
	_Static_assert(LIMIT_TOOL_CALLS == 1024, "the text names it");
	if (turn->tools.count >= LIMIT_TOOL_CALLS)
		refuse(call, "at most 1024 calls of one response are");
	vec_push(&turn->tools, call);
}

/* Writes {"type":"tool_search_output",…}, without tools if the search has failed. */
static void write_found(const struct tool_call *call, struct buf *item)
{
	struct json_writer w = json_writer(item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "tool_search_output");
	jw_member_str(&w, "call_id", call->call_id);
	jw_member_cstr(&w, "status", "completed");
	jw_member_cstr(&w, "execution", "client");
	jw_member_raw(&w, "tools", call->is_finished && call->parts.len ? buf_str(&call->parts) : STR("[]"));
	jw_object_end(&w);
}

/* Writes {"type":"function_call_output","call_id":…,"output":…}; for a custom tool, custom_tool_call_output. */
static void write_output(const struct session *session, const struct tool_call *call, struct str text, struct buf *item)
{
	auto_buf struct buf cut;
	buf_init(&cut, LIMIT_TOOL_OUTPUT);
	buf_init(item, LIMIT_TOOL_ITEM);
	if (call->is_search) {
		write_found(call, item);
		return;
	}
	/* leaves room for the tool's own lines around an output that was cut to the budget */
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

/* Ends all calls and discards them; nothing is recorded. */
static void drop_tools(struct turn *turn)
{
	turn_hooks_drop_calls(turn);
	vec_for_each(tool, &turn->tools) {
		session_drop_requests(turn->env->session, *tool);
		tool_call_destroy(*tool);
	}
	turn->tools.count = 0;
	turn->started = turn->running = 0;
	turn->is_exclusive = false;
}

static void start_ready(struct turn *turn)
{
	bool is_held = turn->env->session->host.is_held;
	turn->runs_tools = true;
	while (turn->started < turn->tools.count && !turn->is_exclusive && !is_held) {
		struct tool_call *call = turn->tools.items[turn->started];
		bool alone = !tool_call_is_parallel(call) || call->is_twin;
		if (call->is_finished || (!turn->running && refuse_busy(turn, call))) { /* the call was refused */
			turn->started++;
			continue;
		}
		if (turn->running >= (alone ? 1 : LIMIT_TOOLS_RUNNING))
			return;
		turn->started++;
		turn->is_exclusive = alone;
		turn->running++;
		if (!turn_hooks_before_call(turn, call))
			tool_call_start(call);
	}
	if (turn->running || turn->started < turn->tools.count)
		return;
	turn->env->inbox->read_early(turn->env->inbox_self);
	vec_for_each(tool, &turn->tools)
		record_output(turn->env->conversation, *tool, buf_str(&(*tool)->output));
	record_follow_ups(turn);
	turn_hooks_record(turn);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	drop_tools(turn);
	context_mark_turn_end(&turn->env->conversation->context, str_of(turn->response_id));
	turn->env->events->on_end(turn->env->self, true);
}

void turn_run_calls(struct turn *turn)
{
	turn->runs_tools = turn->is_complete = true;
	loop_defer(&turn->next);
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

/* Ends all calls and records the reason as their output: an interrupt, or a stream that broke before they ran. A call
 * without an output would make the history invalid for the provider. */
static void abort_tools(struct turn *turn, bool by_user)
{
	vec_for_each(tool, &turn->tools)
		record_cut_short(turn, *tool, by_user);
	turn->env->inbox->record_taken(turn->env->inbox_self);
	drop_tools(turn);
}

/* ---- the request and its stream ---- */

static void send_request(struct turn *turn);

static void drop_call(struct turn *turn)
{
	model_call_cancel(turn->call);
	turn->call = NULL;
	free(turn->segments);
	turn->segments = NULL;
	free(steal(turn->fresh));
}

static void go_on(void *self)
{
	struct turn *turn = self;
	bool must_answer = !turn->question.item.ptr; /* a question without an answer has failed */
	if (turn->hooks.is_stopped && !turn->failure && must_answer) {
		abort_tools(turn, false);
		turn->env->events->on_end(turn->env->self, false);
		return;
	}
	if (turn->hooks.is_stopped && !turn->failure)
		turn->failure = xstrdup("A hook has stopped the request.");
	if (turn->failure)
		turn->env->events->on_failed(turn->env->self);
	else if (turn->tools.count)
		start_ready(turn);
	else
		turn->env->events->on_end(turn->env->self, turn->is_paused);
}

static void on_next(void *self)
{
	struct turn *turn = self;
	drop_call(turn);
	if (turn->runs_tools || !turn_hooks_after_request(turn, go_on))
		go_on(turn);
}

static void on_retry(void *self)
{
	send_request(self);
}

/* Sends the first request, when the MCP servers have started and the hooks have run. */
static void begin_request(void *self)
{
	struct turn *turn = self;
	if (turn->hooks.is_stopped)
		loop_defer(&turn->next);
	else if (turn_hooks_before_request(turn, begin_request))
		return;
	else
		send_request(turn);
}

/* Emits one event for each retry; additional_details contains the cause. */
static void emit_retry(struct turn *turn, const struct model_error *error, unsigned max)
{
	char message[64];
	snprintf(message, sizeof(message), "Reconnecting... %u/%u", turn->retries, max);
	auto_buf struct buf info, details;
	buf_init(&info, 1 * KIB);
	buf_init(&details, 4 * KIB);
	model_error_write_retry_info(error, &info);
	buf_append_c(&details, error->text);
	if (error->detail[0]) /* a detail such as "connection refused", which the user can act on meanwhile */
		buf_printf(&details, str_has_suffix(buf_str(&details), ".") ? " %s" : ": %s", error->detail);
	struct ev_stream_error event = {
		.message = str_of(message),
		.codex_error_info = buf_str(&info),
		.additional_details = buf_str(&details),
	};
	session_emit(turn->env->session, turn->env->id, EV_stream_error, &event);
}

/* Emits the usage that a failure implies, before the failure: a full context window, or a reached limit. */
static void emit_failed_usage(struct turn *turn, const struct model_error *error)
{
	struct turn_env *env = turn->env;
	if (error->kind == MODEL_ERROR_context_window_exceeded && !turn->question.item.ptr)
		conversation_fill_usage(env->conversation, env->id, env->settings);
	else if (error->kind == MODEL_ERROR_usage_limit_reached && !turn->has_limits)
		conversation_set_limits(env->conversation, env->id, env->settings, &(struct rate_limits){0});
}

static void fail(struct turn *turn, const struct model_error *error)
{
	struct buf text, info;
	turn_complete_unfinished(turn);
	emit_failed_usage(turn, error);
	buf_init(&text, 2 * MODEL_ERROR_TEXT_MAX);
	buf_init(&info, 1 * KIB);
	model_error_write(error, &text);
	model_error_write_info(error, &info);
	turn->failure = buf_take(&text);
	turn->failure_info = buf_take(&info);
	turn->failure_kind = error->kind;
	loop_defer(&turn->next);
}

/* Handles a previous response that the provider has deleted: sends the whole history instead. False if the history
 * is not known here. */
static bool heal_chain(struct turn *turn, const struct model_error *error)
{
	struct session *session = turn->env->session;
	const struct context_mark *chain = context_find_chain(&turn->env->conversation->context);
	if (!turn->is_chained || !chain || !error->lacks_response)
		return false;
	bool has_all = chain->item_count > 0;
	context_break_chain(&turn->env->conversation->context);
	if (!has_all)
		return false;
	session_warn(session, turn->env->id,
	             "The provider no longer has the response that this task continues; the whole history is sent "
	             "again.");
	loop_timer_start(turn->retry, 0);
	return true;
}

static void on_stream_broken(struct turn *turn, const struct model_error *error)
{
	unsigned max = turn->env->session->provider->stream_max_retries;
	abort_tools(turn, false);
	turn_keep_item(turn);
	if (heal_chain(turn, error))
		return;
	if (!error->is_retryable || turn->retries >= max) {
		fail(turn, error);
		return;
	}
	turn->retries++;
	emit_retry(turn, error, max);
	int64_t delay_ms = error->retry_after_ms >= 0 ? error->retry_after_ms
	                                              : model_backoff_ms(turn->retries, model_backoff_random());
	log_debug("stream broken (%s), retry %u in %lld ms", error->text, turn->retries, (long long)delay_ms);
	loop_timer_start(turn->retry, (uint64_t)delay_ms);
}

static void on_stream_event(const struct response_event *event, void *self)
{
	struct turn *turn = self;
	turn->question.on_event(event, turn);
}

static void on_stream_done(const struct model_error *error, void *self)
{
	struct turn *turn = self;
	turn->call = NULL;
	if (error && !turn->is_complete)
		on_stream_broken(turn, error);
	else
		loop_defer(&turn->next);
}

/* Lends the items that follow the last response, for a WebSocket on which the server remembers it. */
static void lend_fresh(struct turn *turn, struct model_prompt *prompt)
{
	const struct context *context = &turn->env->conversation->context;
	const struct context_mark *last = context_find_chain(context);
	if (!last || last->known_count >= context->items.count)
		return;
	free(turn->fresh);
	turn->fresh = context_segments(context, last->known_count, &prompt->fresh_count);
	prompt->fresh = turn->fresh;
	prompt->fresh_after = last->response_id;
}

/* Returns the input of the request: the part of the history that the provider does not have, and the item of the
 * question. */
static const struct str *lend_input(struct turn *turn, struct model_prompt *prompt)
{
	const struct turn_question *question = &turn->question;
	struct session *session = turn->env->session;
	const struct context_mark *chain = NULL;
	if (session_is_chained(session) && question->first_item == 0)
		chain = context_find_chain(&turn->env->conversation->context);
	if (chain)
		prompt->previous_response_id = chain->response_id;
	turn->is_chained = chain;
	free(turn->segments);
	turn->segments =
		chain ? context_segments(&turn->env->conversation->context, chain->known_count, &prompt->input_count)
		      : conversation_segments(turn->env->conversation, question->first_item, &prompt->input_count);
	if (question->item.ptr)
		turn->segments[prompt->input_count++] = question->item;
	else if (session->provider->has_sockets && !chain)
		lend_fresh(turn, prompt);
	if (!question->item.ptr && question->first_item == 0 && !chain) {
		prompt->history_id = turn->env->conversation->context.id;
		prompt->memo = &turn->env->conversation->memo;
	}
	return turn->segments;
}

static void send_request(struct turn *turn)
{
	static const struct model_handler handler = {.on_event = on_stream_event, .on_done = on_stream_done};
	struct turn_env *env = turn->env;
	struct session *session = env->session;
	bool is_step = !turn->question.item.ptr;
	struct model_prompt prompt = conversation_prompt(env->conversation, env->settings);
	if (!is_step)
		prompt.tools = STR_NONE;
	prompt.is_serial = !is_step;
	prompt.output_schema = is_step ? env->output_schema : STR_NONE;
	prompt.turn_state = env->turn_state;
	prompt.input = lend_input(turn, &prompt);
	turn->is_complete = false;
	turn->has_limits = false;
	turn->call = model_client_stream(session->model, &prompt, &handler, turn);
	if (session->host.is_held)
		model_call_pause(turn->call);
}

struct turn *turn_create(struct turn_env *env, const struct turn_question *question)
{
	struct turn *turn = xnew(struct turn);
	struct loop *loop = env->session->env->loop;
	turn->env = env;
	turn->question = *question;
	turn->retry = loop_timer_create(loop, on_retry, turn);
	loop_deferred_init(&turn->next, loop, on_next, turn);
	turn_hooks_init(&turn->hooks);
	return turn;
}

struct turn *turn_ask(struct turn_env *env, const struct turn_question *question)
{
	struct turn *turn = turn_create(env, question);
	bool needs_tools = !question->item.ptr && !env->conversation->voice;
	if (!needs_tools || !session_mcp_wait(env->session->mcp, begin_request, turn))
		begin_request(turn);
	return turn;
}

struct turn *turn_start(struct turn_env *env)
{
	return turn_ask(env, &(struct turn_question){.on_event = turn_on_event});
}

void turn_hold(struct turn *turn)
{
	if (turn->call)
		model_call_pause(turn->call);
}

void turn_release(struct turn *turn)
{
	if (turn->call)
		model_call_resume(turn->call);
	else if (turn->runs_tools)
		loop_defer(&turn->next); /* then start the calls that had to wait */
}

void turn_abort(struct turn *turn)
{
	abort_tools(turn, true);
	if (turn->is_complete)
		context_mark_turn_end(&turn->env->conversation->context, str_of(turn->response_id));
}

void turn_destroy(struct turn *turn)
{
	if (!turn)
		return;
	session_mcp_forget(turn->env->session->mcp);
	turn_hooks_finish(&turn->hooks);
	drop_call(turn);
	drop_tools(turn);
	vec_finish(&turn->tools);
	loop_timer_destroy(turn->retry);
	loop_deferred_finish(&turn->next);
	turn_close_item(turn);
	turn_drop_kept(turn);
	turn_patch_drop(turn);
	free(turn->response_id);
	free(turn->failure);
	free(turn->failure_info);
	free(turn);
}
