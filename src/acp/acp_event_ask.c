/* Approvals of commands and patches, and the model's questions; those of MCP tools and servers are in acp_elicit.c. Any
 * answer but a selected option that was offered is a denial: an error, `cancelled`, an unknown id. The engine knows
 * what is pending; a question is withdrawn with its task. */
#include "acp/acp_event.h"
#include "acp/acp_job.h"
#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "app_server/history/item_view.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

/* ---- approvals ---- */

static const struct {
	const char *id;
	enum review_decision_tag decision;
} decisions[] = {
	{"allow_once", review_decision_approved},
	{"allow_session", review_decision_approved_for_session},
	{"accept_execpolicy_amendment", review_decision_approved_execpolicy_amendment},
};

static struct review_decision read_decision(const struct acp_permission_result *result)
{
	struct review_decision ret = {.tag = review_decision_denied};
	if (!result || !str_is(result->outcome->outcome, "selected"))
		return ret;
	for (size_t i = 0; i < countof(decisions); i++) {
		if (str_is(result->outcome->option_id, decisions[i].id))
			ret.tag = decisions[i].decision;
	}
	return ret;
}

/* ask->self: the offered prefix as a JSON list, or NULL if the approval for the session was offered. */
static void on_command_answer(struct acp_ask *ask, const void *result, struct str error)
{
	auto_arena struct arena arena = {0};
	struct acp_session *session = ask->owner;
	struct exec_amendment amendment = {0};
	struct review_decision decision = read_decision(result);
	(void)error;
	if (decision.tag == review_decision_approved_for_session && ask->self) /* it was not offered */
		decision.tag = review_decision_denied;
	if (decision.tag == review_decision_approved_execpolicy_amendment) {
		const struct json *prefix = ask->self ? json_parse(&arena, str_of(ask->self), NULL) : NULL;
		amendment.proposed_execpolicy_amendment = arena_array(&arena, struct str, prefix ? prefix->count : 0);
		json_for_each(it, prefix)
			amendment.proposed_execpolicy_amendment[amendment.proposed_execpolicy_amendment_count++] =
				it->text;
		decision.approved_execpolicy_amendment = &amendment;
		if (!prefix) /* it was not offered */
			decision = (struct review_decision){.tag = review_decision_denied};
	}
	codex_answer(session->codex, EV_exec_approval_request, str_of(ask->key), &decision);
}

static void on_patch_answer(struct acp_ask *ask, const void *result, struct str error)
{
	struct acp_session *session = ask->owner;
	struct review_decision decision = read_decision(result);
	(void)error;
	if (decision.tag == review_decision_approved_execpolicy_amendment) /* it was not offered */
		decision.tag = review_decision_denied;
	codex_answer(session->codex, EV_apply_patch_approval_request, str_of(ask->key), &decision);
}

static char *write_prefix(const struct str *words, size_t count)
{
	struct buf out;
	buf_init(&out, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	jw_array(&w);
	for (size_t i = 0; i < count; i++)
		jw_str(&w, words[i]);
	jw_array_end(&w);
	return buf_take(&out);
}

/* Returns "Always allow `git push`". */
static struct str prefix_label(const struct ev_exec_approval *event, struct arena *arena)
{
	return str_of(arena_printf(arena, "Always allow commands that begin with `%.*s`",
	                           STR_ARG(item_view_command_text(event->proposed_execpolicy_amendment,
	                                                          event->proposed_execpolicy_amendment_count, arena))));
}

/* Returns the question as text of the call. */
static void add_reason(struct acp_tool_call_change *change, struct str reason, struct arena *arena)
{
	if (!reason.len)
		return;
	struct acp_tool_content *content = arena_array(arena, struct acp_tool_content, change->content_count + 1);
	for (size_t i = 0; i < change->content_count; i++)
		content[i + 1] = change->content[i];
	content[0] = acp_tool_text(reason, arena);
	change->content = content;
	change->content_count++;
}

static struct acp_ask *ask(struct acp_session *session, struct acp_tool_call_change *change,
                           struct acp_permission_option *options, size_t count, acp_answer_fn on_answer)
{
	struct acp_permission_params params = {str_of(session->id), change, options, count, STR_NONE};
	return acp_ask_send(&session->server->wire, ACP_ASK_request_permission, &params, session, change->tool_call_id,
	                    on_answer);
}

void on_acp_event_exec_approval_request(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_exec_approval *body = event->msg.exec_approval_request;
	bool has_prefix = body->proposed_execpolicy_amendment_count > 0;
	struct acp_permission_option options[] = {
		{STR("allow_once"), STR("Allow once"), acp_permission_kind_allow_once},
		{has_prefix ? STR("accept_execpolicy_amendment") : STR("allow_session"),
	         has_prefix ? prefix_label(body, &arena) : STR("Allow for this session"),
	         acp_permission_kind_allow_always},
		{STR("cancel"), STR("Reject"), acp_permission_kind_reject_once},
	};
	struct app_item_command_execution command = {
		.id = body->call_id,
		.command = item_view_command_text(body->command, body->command_count, &arena),
		.cwd = body->cwd,
		.status = app_command_execution_status_in_progress,
	};
	struct app_thread_item item = {.tag = app_thread_item_command_execution, .command_execution = &command};
	struct acp_tool_call call;
	acp_tool_of_item(&item, str_of(session->cwd), &arena, &call);
	struct acp_tool_call_change change = {
		.tool_call_id = call.tool_call_id,
		.title = call.title,
		.has_kind = true,
		.kind = call.kind,
		.has_status = true,
		.status = acp_tool_status_pending,
		.raw_input = call.raw_input,
	};
	add_reason(&change, body->reason, &arena);
	struct acp_ask *sent = ask(session, &change, options, countof(options), on_command_answer);
	if (has_prefix)
		sent->self =
			write_prefix(body->proposed_execpolicy_amendment, body->proposed_execpolicy_amendment_count);
}

static void read_patch(struct acp_reading *reading)
{
	const struct ev_patch_approval *body = reading->event->msg.apply_patch_approval_request;
	struct app_item_file_change *patch = item_view_file_change(body->call_id, body->changes_keys, body->changes,
	                                                           body->changes_count, &reading->arena);
	struct app_thread_item item = {.tag = app_thread_item_file_change, .file_change = patch};
	acp_tool_of_item(&item, reading->cwd, &reading->arena, &reading->call);
	reading->call.status = acp_tool_status_pending;
}

static void on_patch_read(struct acp_session *session, struct acp_reading *reading)
{
	const struct ev_patch_approval *body = reading->event->msg.apply_patch_approval_request;
	const struct acp_tool_call *call = &reading->call;
	struct acp_permission_option options[] = {
		{STR("allow_once"), STR("Allow once"), acp_permission_kind_allow_once},
		{STR("allow_session"), STR("Allow for this session"), acp_permission_kind_allow_always},
		{STR("cancel"), STR("Reject"), acp_permission_kind_reject_once},
	};
	struct acp_tool_call_change change = {
		.tool_call_id = call->tool_call_id,
		.title = call->title,
		.has_kind = true,
		.kind = call->kind,
		.has_status = true,
		.status = acp_tool_status_pending,
		.content = call->content,
		.content_count = call->content_count,
		.locations = call->locations,
		.locations_count = call->locations_count,
	};
	acp_tool_begin(session, call);
	add_reason(&change, body->reason, &reading->arena);
	ask(session, &change, options, countof(options), on_patch_answer);
}

void on_acp_event_apply_patch_approval_request(struct acp_session *session, const struct event *event)
{
	acp_reading_start(session, event, NULL, read_patch, on_patch_read);
}

/* ---- questions of the model ---- */

/* The state of a question is JSON, in ask->self: {"event":…,"answers":[text or null,…]}. A client with forms gets one
 * form; another one a permission request for each question, whose options are the answers. */

static void answer_questions(struct acp_session *session, struct str call_id, struct str answers)
{
	struct user_input_answers body = {.answers = answers};
	codex_answer(session->codex, EV_request_user_input, call_id, &body);
}

static void write_answer(struct json_writer *w, struct str id, struct str text)
{
	if (!text.len)
		return;
	jw_key_str(w, id);
	jw_object(w);
	jw_key(w, "answers");
	jw_array(w);
	jw_str(w, text);
	jw_array_end(w);
	jw_object_end(w);
}

static struct str event_json(const struct ev_request_user_input *event, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	record_encode(&record_ev_request_user_input, event, &w);
	return arena_str(arena, buf_str(&out));
}

static const char *other_key(struct str id, struct arena *arena)
{
	return arena_printf(arena, "%.*s (other)", STR_ARG(id));
}

static void write_property(struct json_writer *w, const struct user_input_question *question)
{
	jw_key_str(w, question->id);
	jw_object(w);
	jw_member_str(w, "type", STR("string"));
	jw_member_str(w, "title", question->header);
	jw_member_str(w, "description", question->question);
	if (question->options_count) {
		jw_key(w, "oneOf");
		jw_array(w);
		for (size_t i = 0; i < question->options_count; i++) {
			jw_object(w);
			jw_member_str(w, "const", question->options[i].label);
			jw_member_str(w, "title", question->options[i].label);
			jw_object_end(w);
		}
		jw_array_end(w);
	}
	jw_object_end(w);
}

/* A question that accepts other answers than its options has a second, free field. */
static struct str form_schema(const struct ev_request_user_input *event, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "type", STR("object"));
	jw_key(&w, "properties");
	jw_object(&w);
	for (size_t i = 0; i < event->questions_count; i++) {
		const struct user_input_question *question = &event->questions[i];
		write_property(&w, question);
		if (!question->isOther || !question->options_count)
			continue;
		jw_key_str(&w, str_of(other_key(question->id, arena)));
		jw_raw(&w, STR("{\"type\":\"string\",\"title\":\"Other answer\"}"));
	}
	jw_object_end(&w);
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

static void on_form_answer(struct acp_ask *ask, const void *result, struct str error)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	const struct acp_elicitation_result *form = result;
	struct ev_request_user_input event = {0};
	bool is_accepted = form && form->action == acp_elicitation_action_accept;
	const struct json *content = is_accepted && form->content.ptr ? json_parse(&arena, form->content, NULL) : NULL;
	const struct json *asked = json_parse(&arena, str_of(ask->self), NULL);
	(void)error;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	if (asked && record_decode(&record_ev_request_user_input, asked, &arena, &event, NULL) == 0) {
		for (size_t i = 0; i < event.questions_count; i++) {
			struct str id = event.questions[i].id;
			struct str other = json_get_str(content, other_key(id, &arena));
			write_answer(&w, id, other.len ? other : json_get_str(content, arena_cstr(&arena, id)));
		}
	}
	jw_object_end(&w);
	answer_questions(ask->owner, str_of(ask->key), buf_str(&out));
}

static void send_form(struct acp_session *session, const struct ev_request_user_input *event)
{
	auto_arena struct arena arena = {0};
	struct acp_elicitation_params params = {
		.session_id = str_of(session->id),
		.tool_call_id = event->call_id,
		.mode = STR("form"),
		.message = event->questions_count ? event->questions[0].question : STR("Question"),
		.requested_schema = form_schema(event, &arena),
	};
	struct acp_ask *ask = acp_ask_send(&session->server->wire, ACP_ASK_elicitation, &params, session,
	                                   event->call_id, on_form_answer);
	ask->self = str_dup(event_json(event, &arena));
}

static void next_question(struct acp_session *session, struct str call_id, const struct json *asked,
                          const struct json *given, struct str answer);

static void on_option_answer(struct acp_ask *ask, const void *result, struct str error)
{
	auto_arena struct arena arena = {0};
	const struct acp_permission_result *permission = result;
	const struct json *state = json_parse(&arena, str_of(ask->self), NULL);
	bool is_selected = permission && str_is(permission->outcome->outcome, "selected");
	(void)error;
	next_question(ask->owner, str_of(ask->key), json_get(state, "event"), json_get(state, "answers"),
	              is_selected ? permission->outcome->option_id : STR_NONE);
}

/* Asks one question with options. Returns false if it has none, so that this client cannot answer it. */
static bool ask_option(struct acp_session *session, struct str call_id, const struct user_input_question *question,
                       struct str state)
{
	auto_arena struct arena arena = {0};
	size_t count = question->options_count;
	struct acp_permission_option *options = arena_array(&arena, struct acp_permission_option, count + 1);
	struct acp_tool_content content = acp_tool_text(question->question, &arena);
	struct acp_tool_call_change change = {
		.tool_call_id = call_id,
		.title = question->question,
		.has_kind = true,
		.kind = acp_tool_kind_think,
		.has_status = true,
		.status = acp_tool_status_pending,
		.content = &content,
		.content_count = 1,
	};
	if (!count)
		return false;
	for (size_t i = 0; i < count; i++)
		options[i] = (struct acp_permission_option){question->options[i].label, question->options[i].label,
		                                            acp_permission_kind_allow_once};
	ask(session, &change, options, count, on_option_answer)->self = str_dup(state);
	return true;
}

/* Adds an answer, then asks the next question that has options, or answers the model. */
static void next_question(struct acp_session *session, struct str call_id, const struct json *asked,
                          const struct json *given, struct str answer)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf answers, state;
	struct ev_request_user_input event = {0};
	size_t index = given ? given->count + 1 : 0, at = 0;
	buf_init(&answers, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&state, LIMIT_STREAM_QUEUE_HARD);
	bool is_valid = asked && record_decode(&record_ev_request_user_input, asked, &arena, &event, NULL) == 0;
	if (is_valid && index < event.questions_count) {
		struct json_writer w = json_writer(&state);
		jw_object(&w);
		jw_member_raw(&w, "event", asked->span);
		jw_key(&w, "answers");
		jw_array(&w);
		json_for_each(it, given)
			jw_value(&w, it);
		if (given)
			jw_str(&w, answer);
		jw_array_end(&w);
		jw_object_end(&w);
		if (ask_option(session, call_id, &event.questions[index], buf_str(&state)))
			return;
	}
	struct json_writer w = json_writer(&answers);
	jw_object(&w);
	json_for_each(it, given) {
		if (at < event.questions_count)
			write_answer(&w, event.questions[at++].id, it->text);
	}
	if (at < event.questions_count)
		write_answer(&w, event.questions[at].id, answer);
	jw_object_end(&w);
	answer_questions(session, call_id, buf_str(&answers));
}

void on_acp_event_request_user_input(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_request_user_input *body = event->msg.request_user_input;
	if (session->server->client.has_forms) {
		send_form(session, body);
		return;
	}
	const struct json *asked = json_parse(&arena, event_json(body, &arena), NULL);
	next_question(session, body->call_id, asked, NULL, STR_NONE);
}
