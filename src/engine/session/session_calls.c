/* After a crash the history may end in calls nobody answered. Providers refuse such a history, so the
 * answers are added where the history is taken over, once, and recorded (core 1.4). */
#include "engine/session/session_record.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/session.h"

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
			free((char *)(uintptr_t)it->call_id.ptr);
			*it = open->list.items[--open->list.count];
			return;
		}
	}
}

static void look_at(struct open_calls *open, const struct json *item)
{
	struct str type = json_get_str(item, "type"), call_id = json_get_str(item, "call_id");
	for (size_t i = 0; i < countof(rows) && call_id.ptr; i++) {
		if (!str_is(type, rows[i].type))
			continue;
		if (rows[i].is_output)
			close_call(open, call_id);
		else
			vec_push(&open->list,
			         (struct open_call){str_n(str_dup(call_id), call_id.len), rows[i].is_custom});
	}
}

/* Looks at an item of the history; most are words, and need no reading. */
static void look_at_item(struct open_calls *open, const struct context *context, size_t index)
{
	auto_arena struct arena arena = {0};
	struct str text = context_item_text(context, index);
	const struct json *item = str_find(text, STR("\"call_id\"")) < 0 ? NULL : json_parse(&arena, text, NULL);
	if (item)
		look_at(open, item);
}

size_t session_find_cut(const struct session *session, size_t index)
{
	struct open_calls open = {0};
	size_t i = 0;
	for (; i < session->context.items.count && (i < index || open.list.count); i++)
		look_at_item(&open, &session->context, i);
	open_calls_finish(&open);
	return i;
}

static void answer(struct session *session, const struct open_call *call)
{
	auto_buf struct buf item;
	buf_init(&item, call->call_id.len * 6 + KIB); /* escapes included */
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", call->is_custom ? "custom_tool_call_output" : "function_call_output");
	jw_member_str(&w, "call_id", call->call_id);
	jw_member_cstr(&w, "output", "aborted");
	jw_object_end(&w);
	session_record_item(session, buf_str(&item));
}

void open_calls_find(struct open_calls *open, const struct context *context)
{
	for (size_t i = 0; i < context->items.count; i++)
		look_at_item(open, context, i);
}

void open_calls_finish(struct open_calls *open)
{
	vec_for_each(call, &open->list)
		free((char *)(uintptr_t)call->call_id.ptr);
	vec_finish(&open->list);
}

void session_answer_calls(struct session *session, const struct open_calls *open)
{
	vec_for_each(call, &open->list)
		answer(session, call);
}

void session_close_calls(struct session *session)
{
	struct open_calls open = {0};
	open_calls_find(&open, &session->context);
	session_answer_calls(session, &open);
	open_calls_finish(&open);
}
