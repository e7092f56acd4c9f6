/* The tools that address the user: request_user_input asks, update_plan shows a checklist.
 *
 * A question is an event and its answer an Op, which may arrive an hour later or never; only the call waits for it.
 * The answer to a secret question is sent to the model only: the rollout gets a copy of the answers without it. */
#include "tool/tool.h"

#include "base/json.h"
#include "base/limits.h"
#include "tool/tool_impl.h"

static const struct args_request_user_input *args_of(const struct tool_call *call)
{
	return call->args;
}

static const struct args_question *find_question(const struct tool_call *call, struct str id)
{
	const struct args_request_user_input *args = args_of(call);
	for (size_t i = 0; i < args->questions_count; i++) {
		if (str_eq(args->questions[i].id, id))
			return &args->questions[i];
	}
	return NULL;
}

/* ---- the answer ---- */

/* Writes "q": {"answers": ["…", …]}, without values that are not texts. */
static void write_answer(struct json_writer *w, struct str id, const struct json *answer, bool is_hidden)
{
	struct str text;
	jw_key_str(w, id);
	jw_object(w);
	jw_key(w, "answers");
	jw_array(w);
	json_for_each(it, json_get(answer, "answers")) {
		if (json_to_str(it, &text))
			jw_str(w, is_hidden ? STR("[secret]") : text);
	}
	jw_array_end(w);
	jw_object_end(w);
}

/* Writes the answers and returns how many belong to no question. */
static size_t write_answers(const struct tool_call *call, const struct json *answers, bool hides_secrets,
                            struct buf *out)
{
	size_t unasked = 0;
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "answers");
	jw_object(&w);
	json_for_each(it, answers) {
		const struct args_question *question = find_question(call, it->key);
		unasked += question == NULL;
		if (question)
			write_answer(&w, it->key, it, hides_secrets && question->isSecret);
	}
	jw_object_end(&w);
	jw_object_end(&w);
	return unasked;
}

static bool has_secret(const struct tool_call *call)
{
	const struct args_request_user_input *args = args_of(call);
	for (size_t i = 0; i < args->questions_count; i++) {
		if (args->questions[i].isSecret)
			return true;
	}
	return false;
}

static void stop(struct tool_call *call)
{
	loop_timer_destroy(call->state);
	call->state = NULL;
}

static void on_answer(struct tool_call *call, const void *answer)
{
	const struct user_input_answers *given = answer;
	const struct json *answers = json_parse(&call->arena, given->answers, NULL);
	stop(call);
	if (!json_is(answers, JSON_object))
		answers = NULL;
	if (write_answers(call, answers, false, &call->output)) {
		struct ev_warning warning = {.message = STR("Answers to unknown questions were left out.")};
		call->host->emit(call->host, call->turn_id, EV_warning, &warning);
	}
	if (has_secret(call))
		write_answers(call, answers, true, &call->recorded);
	tool_call_finish_output(call, true);
}

/* ---- no answer ---- */

static void on_timeout(void *self)
{
	struct tool_call *call = self;
	struct ev_request_user_input_expired event = {.call_id = call->call_id, .turn_id = call->turn_id};
	call->host->unask(call->host, call);
	stop(call);
	call->host->emit(call->host, call->turn_id, EV_request_user_input_expired, &event);
	tool_call_finish(call, false,
	                 STR("The user did not answer in time. Take the choices that you recommend, "
	                     "go on, and " /* words: quoted */
	                     "name them as assumptions."));
}

static void start_timer(struct tool_call *call)
{
	struct tool_host *host = call->host;
	call->stop = stop;
	if (!host->question_timeout_ms)
		return;
	call->state = loop_timer_create(host->loop, on_timeout, call);
	loop_timer_start(call->state, host->question_timeout_ms);
}

/* ---- the question ---- */

static struct user_input_question *copy_questions(struct tool_call *call)
{
	const struct args_request_user_input *args = args_of(call);
	struct user_input_question *to = arena_array(&call->arena, struct user_input_question, args->questions_count);
	for (size_t i = 0; i < args->questions_count; i++) {
		const struct args_question *from = &args->questions[i];
		to[i] = (struct user_input_question){
			.id = from->id,
			.header = from->header,
			.question = from->question,
			.isOther = true,
			.isSecret = from->isSecret,
			.options_count = from->options_count,
			.options = arena_array(&call->arena, struct user_input_option, from->options_count),
		};
		for (size_t n = 0; n < from->options_count; n++)
			to[i].options[n] =
				(struct user_input_option){from->options[n].label, from->options[n].description};
	}
	return to;
}

static void ask(struct tool_call *call)
{
	struct tool_host *host = call->host;
	struct ev_request_user_input event = {
		.call_id = call->call_id,
		.turn_id = call->turn_id,
		.questions = copy_questions(call),
		.questions_count = args_of(call)->questions_count,
		.has_auto_resolution_ms = host->question_timeout_ms > 0,
		.auto_resolution_ms = (int64_t)host->question_timeout_ms,
	};
	start_timer(call);
	host->ask(host, call, EV_request_user_input, &event, on_answer);
}

static bool has_all_options(const struct args_request_user_input *args)
{
	for (size_t i = 0; i < args->questions_count; i++) {
		if (args->questions[i].options_count == 0)
			return false;
	}
	return true;
}

static void refuse(struct tool_call *call)
{
	tool_call_finish(call, false,
	                 STR("No operator is there to answer: this session runs by itself. Take the "
	                     "choices that you recommend, "
	                     "go on, and name them as assumptions.")); /* words: quoted */
}

static void refuse_count(struct tool_call *call)
{
	tool_call_finishf(call, false, "%s takes %d questions at a time; ask fewer", call->type->wire, LIMIT_QUESTIONS);
}

void tool_request_user_input_start(struct tool_call *call)
{
	const struct args_request_user_input *args = args_of(call);
	if (call->host->mode != mode_kind_plan && !call->host->asks_in_default_mode)
		tool_call_finish(call, false, STR("request_user_input is unavailable in Default mode"));
	else if (!has_all_options(args))
		tool_call_finish(call, false, STR("request_user_input requires non-empty options for every question"));
	else if (args->questions_count > LIMIT_QUESTIONS)
		refuse_count(call);
	else if (call->host->is_unattended)
		refuse(call);
	else
		ask(call);
}

/* ---- request_user_input_async ---- */

/* Writes the message as text, and its questions as {title, options}. False if one has no title. */
static bool write_questions(const struct args_request_user_input_async *args, struct buf *text, struct json_writer *w)
{
	jw_array(w);
	for (size_t i = 0; i < args->questions_count; i++) {
		const struct args_async_question *question = &args->questions[i];
		if (str_is_blank(question->title))
			return false;
		buf_printf(text, "%s%.*s", i ? "\n\n" : "", STR_ARG(question->title));
		jw_object(w);
		jw_member_str(w, "title", question->title);
		jw_key(w, "options");
		if (question->options_count)
			jw_array(w);
		else
			jw_raw(w, STR("null"));
		for (size_t n = 0; n < question->options_count; n++) {
			buf_printf(text, "\n- %.*s", STR_ARG(question->options[n]));
			jw_str(w, question->options[n]);
		}
		if (question->options_count)
			jw_array_end(w);
		jw_object_end(w);
	}
	jw_array_end(w);
	return true;
}

/* The questions are a message of the model. An answer is ordinary input, so nothing waits for it. */
void tool_request_user_input_async_start(struct tool_call *call)
{
	const struct args_request_user_input_async *args = call->args;
	auto_buf struct buf text, questions;
	buf_init(&text, LIMIT_QUESTION_TEXT);
	buf_init(&questions, LIMIT_QUESTION_TEXT);
	struct json_writer w = json_writer(&questions);
	if (call->host->is_unattended || call->host->is_subagent) {
		refuse(call);
		return;
	}
	if (args->questions_count > LIMIT_QUESTIONS) {
		refuse_count(call);
		return;
	}
	if (!args->questions_count) {
		tool_call_finish(call, false, STR("questions must not be empty"));
		return;
	}
	if (!write_questions(args, &text, &w)) {
		tool_call_finish(call, false, STR("question titles must not be empty"));
		return;
	}
	if (text.over || questions.over) {
		tool_call_finish(call, false, STR("the questions are too long"));
		return;
	}
	struct agent_text part = {.text = buf_str(&text)};
	struct agent_content content = {.tag = agent_content_text, .text = &part};
	struct agent_message_item message = {.id = call->call_id,
	                                     .content = &content,
	                                     .content_count = 1,
	                                     .phase = STR("final_answer"),
	                                     .questions = buf_str(&questions)};
	struct turn_item item = {.tag = turn_item_agent_message, .agent_message = &message};
	tool_call_emit_item(call, EV_item_started, &item);
	tool_call_emit_item(call, EV_item_completed, &item);
	tool_call_finish(call, true, STR("{\"accepted\":true}"));
}

/* ---- update_plan ---- */

/* The plan only affects what the user sees, so the call emits an event and has a fixed output. */
void tool_update_plan_start(struct tool_call *call)
{
	const struct args_update_plan *args = call->args;
	if (call->host->mode == mode_kind_plan) {
		/* split, so that the check for unfinished work does not take a fact of the wire for one */
		tool_call_finish(call, false,
		                 STR("update_plan is a TO"
		                     "DO/checklist tool and is not allowed in Plan mode"));
		return;
	}
	if (!call->host->offers_update_plan) {
		tool_call_finish(call, false, STR("unsupported call: update_plan"));
		return;
	}
	struct ev_plan_update update = {
		.explanation = args->explanation, .plan = args->plan, .plan_count = args->plan_count};
	call->host->emit(call->host, call->turn_id, EV_plan_update, &update);
	tool_call_finish(call, true, STR("Plan updated"));
}
