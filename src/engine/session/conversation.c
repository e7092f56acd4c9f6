/* After a crash the history may end in calls without an output. Providers refuse such a history, so the outputs are
 * added once, where the history is taken over, and recorded. */
#include "engine/session/conversation.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/session.h"

void conversation_init(struct conversation *conversation, struct session *session,
                       const struct conversation_voice *voice)
{
	*conversation = (struct conversation){.session = session, .voice = voice};
	context_init(&conversation->context);
	buf_init(&conversation->tools, LIMIT_TOOLS_JSON);
}

void conversation_finish(struct conversation *conversation)
{
	context_finish(&conversation->context);
	settings_unref(conversation->announced);
	conversation->announced = NULL;
	buf_finish(&conversation->tools);
	free(steal(conversation->tools_model));
}

void conversation_set_announced(struct conversation *conversation, struct settings *settings)
{
	struct settings *before = conversation->announced;
	conversation->announced = settings ? settings_ref(settings) : NULL;
	settings_unref(before);
	conversation->announced_at = conversation->context.items.count;
}

/* The turn_context after the history records that it states these settings. */
void conversation_replace(struct conversation *conversation, struct context *fresh, struct str turn_id,
                          struct settings *settings, struct str summary)
{
	context_finish(&conversation->context);
	conversation->context = *fresh;
	context_init(fresh);
	conversation_set_announced(conversation, settings);
	conversation->compacted_items = conversation->context.items.count;
	conversation_record_history(conversation, summary);
	conversation_record_settings(conversation, turn_id, settings);
}

/* ---- calls without an output ---- */

static const struct {
	const char *type;
	bool is_output;
	bool is_custom;
} rows[] = {
	{"function_call", false, false},    {"function_call_output", true, false},
	{"custom_tool_call", false, true},  {"custom_tool_call_output", true, true},
	{"local_shell_call", false, false},
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
		if (rows[i].is_output)
			close_call(open, call_id);
		else
			vec_push(&open->list, (struct open_call){str_copy(call_id), rows[i].is_custom});
	}
}

/* Most items are messages: these are not parsed. */
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
	buf_init(&item, call->call_id.len * 6 + KIB); /* escapes included */
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", call->is_custom ? "custom_tool_call_output" : "function_call_output");
	jw_member_str(&w, "call_id", call->call_id);
	jw_member_cstr(&w, "output", "aborted");
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
