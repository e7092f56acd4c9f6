/* The rollout records only the user's conversation. After a crash a history may end in calls without an output,
 * which providers reject: the outputs are added and recorded once, when the history is loaded. */
#include "engine/session/conversation.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/session.h"
#include "engine/session/session_environment.h"
#include "engine/session/session_code.h"
#include "engine/session/session_model.h"
#include "model/model_memo.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_writer.h"

void conversation_init(struct conversation *conversation, struct session *session,
                       const struct conversation_voice *voice)
{
	*conversation = (struct conversation){.session = session, .voice = voice};
	context_init(&conversation->context);
	buf_init(&conversation->tools, LIMIT_TOOLS_JSON);
	buf_init(&conversation->code_tools, LIMIT_TOOLS_JSON);
}

void conversation_finish(struct conversation *conversation)
{
	context_finish(&conversation->context);
	model_memo_unref(steal(conversation->memo));
	settings_unref(conversation->announced);
	conversation->announced = NULL;
	buf_finish(&conversation->tools);
	buf_finish(&conversation->code_tools);
	free(steal(conversation->tools_model));
}

void conversation_set_announced(struct conversation *conversation, struct settings *settings)
{
	struct settings *before = conversation->announced;
	conversation->announced = settings ? settings_ref(settings) : NULL;
	settings_unref(before);
	conversation->announced_at = conversation->context.items.count;
}

/* ---- the rollout ---- */

static void write_settings(struct conversation *conversation, struct str turn_id, const struct settings *settings,
                           bool is_pending);

static bool is_recorded(const struct conversation *conversation)
{
	return conversation->session->rollout && !conversation->voice;
}

/* A line that only states where later commands run. The model has not read of it. */
static void record_environment(struct conversation *conversation)
{
	conversation->session->has_new_environment = false;
	write_settings(conversation, STR_NONE, conversation->session->settings, true);
}

/* Items can be recorded before a turn: those that a client injects, or the output of a user's command. */
static void record(struct conversation *conversation, enum rollout_line_type type, struct str payload)
{
	if (!is_recorded(conversation))
		return;
	if (type == LINE_response_item && conversation->session->has_new_environment)
		record_environment(conversation);
	session_record(conversation->session, type, payload);
}

static void record_buf(struct conversation *conversation, enum rollout_line_type type, const struct buf *payload)
{
	if (payload->over)
		session_warn_line(conversation->session, type);
	else
		record(conversation, type, buf_str(payload));
}

/* Returns the mode as JSON; the default mode is omitted. */
static struct str write_mode(const struct settings *settings, struct buf *out)
{
	if (settings->mode == mode_kind_default && !settings->mode_instructions)
		return STR_NONE;
	struct mode_settings inner = {
		.model = str_of(settings->model),
		.has_reasoning_effort = settings->effort != reasoning_effort_unset,
		.reasoning_effort = settings->effort,
		.developer_instructions = str_of(settings->mode_instructions),
	};
	struct collaboration_mode mode = {settings->mode, &inner};
	struct json_writer w = json_writer(out);
	record_encode(&record_collaboration_mode, &mode, &w);
	return buf_str(out);
}

static void write_settings(struct conversation *conversation, struct str turn_id, const struct settings *settings,
                           bool is_pending)
{
	auto_buf struct buf payload, sandbox, policy, mode, place;
	buf_init(&place, LIMIT_ROLLOUT_LINE);
	buf_init(&payload, LIMIT_ROLLOUT_LINE);
	buf_init(&sandbox, 1 * MIB);
	buf_init(&policy, LIMIT_LINE);
	buf_init(&mode, LIMIT_ROLLOUT_LINE);
	struct json_writer w = json_writer(&sandbox);
	union_encode(&union_sandbox, settings->sandbox, &w);
	w = json_writer(&policy);
	union_encode(&union_ask_for_approval, settings->approval_policy, &w);
	struct rollout_turn turn = {
		.turn_id = conversation->session->journal && turn_id.ptr
	                           ? rollout_journal_turn_id(conversation->session->journal, turn_id)
	                           : turn_id,
		.cwd = str_of(settings->cwd),
		.model = str_of(settings->model),
		.approval_policy = buf_str(&policy),
		.sandbox_policy = buf_str(&sandbox),
		.summary = str_of(enum_wire(&enum_reasoning_summary, (int)settings->summary)),
	};
	if (settings->reviewer != approvals_reviewer_user)
		turn.approvals_reviewer = str_of(enum_wire(&enum_approvals_reviewer, (int)settings->reviewer));
	if (settings->effort != reasoning_effort_unset)
		turn.effort = str_of(enum_wire(&enum_reasoning_effort, (int)settings->effort));
	if (settings->info.has_personality)
		turn.personality = str_of(enum_wire(&enum_personality, (int)settings->personality));
	turn.collaboration_mode = write_mode(settings, &mode);
	turn.environment = session_environment_recorded(settings, is_pending, &place);
	w = json_writer(&payload);
	rollout_turn_encode(&turn, &w);
	record_buf(conversation, LINE_turn_context, &payload);
}

void conversation_record_settings(struct conversation *conversation, struct str turn_id,
                                  const struct settings *settings)
{
	if (!is_recorded(conversation))
		return;
	conversation->session->has_new_environment = false;
	write_settings(conversation, turn_id, settings, false);
	conversation->session->has_new_environment =
		session_environment_is_moved(conversation->session->settings, settings);
}

void conversation_record_environment(struct conversation *conversation)
{
	if (is_recorded(conversation) && conversation->session->has_new_environment &&
	    conversation->context.items.count)
		record_environment(conversation);
}

/* Records {"message":"…","replacement_history":[…]}, at which a resume starts. */
void conversation_record_history(struct conversation *conversation, struct str summary)
{
	if (!is_recorded(conversation))
		return;
	auto_buf struct buf payload;
	buf_init(&payload, LIMIT_ROLLOUT_LINE);
	buf_append_c(&payload, "{\"message\":");
	json_quote(&payload, summary);
	buf_append_c(&payload, ",\"replacement_history\":[");
	for (size_t i = 0; i < conversation->context.items.count; i++) {
		if (i)
			buf_append_char(&payload, ',');
		buf_append_str(&payload, context_item_recorded(&conversation->context, i));
	}
	buf_append_c(&payload, "]}");
	record_buf(conversation, LINE_compacted, &payload);
}

void conversation_record_all(struct conversation *conversation)
{
	for (size_t i = 0; i < conversation->context.items.count; i++)
		record(conversation, LINE_response_item, context_item_recorded(&conversation->context, i));
	best_effort(session_flush_rollout(conversation->session, NULL));
}

/* ---- items ---- */

void conversation_add(struct conversation *conversation, struct str item)
{
	context_append(&conversation->context, item);
	record(conversation, LINE_response_item, item);
}

void conversation_add_secret(struct conversation *conversation, struct str item, struct str recorded)
{
	context_append_secret(&conversation->context, item, recorded);
	record(conversation, LINE_response_item, recorded);
}

void conversation_add_buf(struct conversation *conversation, struct buf *item)
{
	context_take(&conversation->context, item);
	record(conversation, LINE_response_item,
	       context_item_text(&conversation->context, conversation->context.items.count - 1));
}

/* The turn_context line that follows the history in the rollout states that the history describes these settings. */
void conversation_replace(struct conversation *conversation, struct context *fresh, struct str turn_id,
                          struct settings *settings, struct str summary)
{
	context_finish(&conversation->context);
	conversation->context = *fresh;
	context_init(fresh);
	session_forget_scripts(conversation->session);
	conversation_set_announced(conversation, settings);
	conversation->compacted_items = conversation->context.items.count;
	conversation_record_history(conversation, summary);
	conversation_record_settings(conversation, turn_id, settings);
}

struct str *conversation_segments(const struct conversation *conversation, size_t from, size_t *ret_count)
{
	const struct context *context = &conversation->context;
	size_t count, head = from > 1 ? 2 : from;
	struct str *segments = context_segments(context, from, &count);
	*ret_count = count;
	if (!from || !conversation_is_lite(conversation))
		return segments;
	struct str *whole = xcalloc(head + count + 1, sizeof(*whole));
	for (size_t i = 0; i < head; i++)
		whole[i] = context_item_text(context, i);
	memcpy(whole + head, segments, count * sizeof(*whole));
	free(segments);
	*ret_count = head + count;
	return whole;
}

/* ---- calls without an output ---- */

static const struct {
	const char *type;
	const char *output; /* the type of the output of such a call; NULL: this is an output */
} rows[] = {
	{"function_call", "function_call_output"},       {"function_call_output", NULL},
	{"custom_tool_call", "custom_tool_call_output"}, {"custom_tool_call_output", NULL},
	{"tool_search_call", "tool_search_output"},      {"tool_search_output", NULL},
	{"local_shell_call", "function_call_output"},
};

static void close_call(struct open_calls *open, struct str call_id)
{
	vec_for_each(it, &open->list) {
		if (str_eq(it->call_id, call_id)) {
			str_free(&it->call_id);
			*it = open->list.items[--open->list.count];
			return;
		}
	}
}

static void read_item(struct open_calls *open, const struct json *item)
{
	struct str type = json_get_str(item, "type"), call_id = json_get_str(item, "call_id");
	for (size_t i = 0; i < countof(rows) && call_id.ptr; i++) {
		if (!str_is(type, rows[i].type))
			continue;
		if (!rows[i].output)
			close_call(open, call_id);
		else
			vec_push(&open->list, (struct open_call){str_copy(call_id), rows[i].output});
	}
}

/* Most items are messages, which have no call_id and are not parsed. */
static void read_at(struct open_calls *open, const struct context *context, size_t index)
{
	auto_arena struct arena arena = {0};
	struct str text = context_item_text(context, index);
	const struct json *item = str_find(text, STR("\"call_id\"")) < 0 ? NULL : json_parse(&arena, text, NULL);
	if (item)
		read_item(open, item);
}

size_t conversation_find_cut(const struct conversation *conversation, size_t index)
{
	struct open_calls open = {0};
	size_t i = 0;
	for (; i < conversation->context.items.count && (i < index || open.list.count); i++)
		read_at(&open, &conversation->context, i);
	open_calls_finish(&open);
	return i;
}

static void answer(struct conversation *conversation, const struct open_call *call)
{
	auto_buf struct buf item;
	buf_init(&item, call->call_id.len * 6 + KIB); /* leaves room for escapes */
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", call->output);
	jw_member_str(&w, "call_id", call->call_id);
	if (strcmp(call->output, "tool_search_output") != 0) {
		jw_member_cstr(&w, "output", "aborted");
	} else {
		jw_member_cstr(&w, "status", "completed");
		jw_member_cstr(&w, "execution", "client");
		jw_member_raw(&w, "tools", STR("[]"));
	}
	jw_object_end(&w);
	conversation_add(conversation, buf_str(&item));
}

void open_calls_find(struct open_calls *open, const struct context *context)
{
	for (size_t i = 0; i < context->items.count; i++)
		read_at(open, context, i);
}

void open_calls_finish(struct open_calls *open)
{
	vec_for_each(call, &open->list)
		str_free(&call->call_id);
	vec_finish(&open->list);
}

void conversation_answer_calls(struct conversation *conversation, const struct open_calls *open)
{
	vec_for_each(call, &open->list)
		answer(conversation, call);
}

void conversation_close_calls(struct conversation *conversation)
{
	struct open_calls open = {0};
	open_calls_find(&open, &conversation->context);
	conversation_answer_calls(conversation, &open);
	open_calls_finish(&open);
}
