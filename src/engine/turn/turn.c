/* A Turn ends in one of four ways (completed, broken, failed, aborted), each in a function of its own. The step after
 * the stream is deferred, so that the owner never destroys the Turn inside a callback of the model call. */
#define LOG_MODULE "turn"
#include "engine/turn/turn.h"

#include <stdio.h>

#include "base/limits.h"
#include "base/log.h"
#include "config/model_provider.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation_usage.h"
#include "model/model_client.h"
#include "model/model_error.h"
#include "model/model_retry.h"
#include "tool/tool.h"

static void send_request(struct turn *turn);

static void drop_call(struct turn *turn)
{
	model_call_cancel(turn->call);
	turn->call = NULL;
	free(turn->segments);
	turn->segments = NULL;
}

static void on_next(void *self)
{
	struct turn *turn = self;
	drop_call(turn);
	if (turn->failure)
		turn->env->events->on_failed(turn->env->self);
	else if (turn->tools.count)
		turn_run_tools(turn);
	else
		turn->env->events->on_end(turn->env->self, false);
}

static void on_retry(void *self)
{
	send_request(self);
}

/* One event for each retry; additional_details has the cause. */
static void emit_retry(struct turn *turn, const struct model_error *error, unsigned max)
{
	char message[64];
	snprintf(message, sizeof(message), "Reconnecting... %u/%u", turn->retries, max);
	auto_buf struct buf info, details;
	buf_init(&info, 1 * KIB);
	buf_init(&details, 4 * KIB);
	model_error_write_retry_info(error, &info);
	buf_append_c(&details, error->text);
	if (error->detail[0]) /* such as "connection refused", which the user can fix meanwhile */
		buf_printf(&details, ": %s", error->detail);
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

/* The provider has deleted the previous response: sends the whole history instead. False: it is not known here. */
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
	turn_abort_tools(turn, false);
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
	                                              : model_retry_backoff_ms(turn->retries, model_retry_random());
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

/* The input: the part of the history that the provider does not have, and the item of the question. */
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
	turn->segments = context_segments(&turn->env->conversation->context,
	                                  chain ? chain->known_count : question->first_item, &prompt->input_count);
	if (question->item.ptr)
		turn->segments[prompt->input_count++] = question->item;
	return turn->segments;
}

static void send_request(struct turn *turn)
{
	static const struct model_handler handler = {.on_event = on_stream_event, .on_done = on_stream_done};
	struct turn_env *env = turn->env;
	struct session *session = env->session;
	const struct conversation_voice *voice = env->conversation->voice;
	struct session_kin kin = session_kin(session);
	bool is_step = !turn->question.item.ptr;
	struct model_prompt prompt = {
		.info = &env->settings->info,
		.instructions = conversation_instructions(turn->env->conversation),
		.tools = is_step ? conversation_tools(turn->env->conversation, env->settings) : STR_NONE,
		.is_serial = !is_step,
		.effort = env->settings->effort,
		.summary = env->settings->summary,
		.verbosity = env->settings->verbosity,
		.output_schema = is_step ? env->output_schema : STR_NONE,
		.thread_id = str_of(session->id),
		.turn_state = env->turn_state,
		.is_private = session->is_private,
		.root_thread_id = kin.root_id,
		.parent_thread_id = kin.parent_id,
		.subagent = str_of(voice               ? voice->subagent
	                           : kin.parent_id.len ? "collab_spawn"
	                                               : NULL),
	};
	prompt.input = lend_input(turn, &prompt);
	turn->is_complete = false;
	turn->has_limits = false;
	turn->call = model_client_stream(session->model, &prompt, &handler, turn);
	if (session->host.is_held)
		model_call_pause(turn->call);
}

struct turn *turn_ask(struct turn_env *env, const struct turn_question *question)
{
	struct turn *turn = xnew(struct turn);
	struct loop *loop = env->session->env->loop;
	turn->env = env;
	turn->question = *question;
	turn->retry = loop_timer_create(loop, on_retry, turn);
	loop_deferred_init(&turn->next, loop, on_next, turn);
	send_request(turn);
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
		loop_defer(&turn->next); /* starts the calls that had to wait */
}

void turn_on_tools_done(struct turn *turn)
{
	context_mark_turn_end(&turn->env->conversation->context, str_of(turn->response_id));
	turn->env->events->on_end(turn->env->self, true);
}

void turn_abort(struct turn *turn)
{
	turn_abort_tools(turn, true);
	if (turn->is_complete)
		context_mark_turn_end(&turn->env->conversation->context, str_of(turn->response_id));
}

void turn_destroy(struct turn *turn)
{
	if (!turn)
		return;
	drop_call(turn);
	turn_drop_tools(turn);
	vec_finish(&turn->tools);
	loop_timer_destroy(turn->retry);
	loop_deferred_finish(&turn->next);
	turn_close_item(turn);
	turn_drop_kept(turn);
	free(turn->response_id);
	free(turn->failure);
	free(turn->failure_info);
	free(turn);
}
