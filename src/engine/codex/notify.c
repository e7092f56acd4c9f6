/* Linux limits one argument of a program to 128 KiB. The argument therefore contains the newest user messages that
 * fit, each complete, and the beginning of the answer. */
#define LOG_MODULE "notify"
#include "engine/codex/notify.h"

#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/text.h"
#include "config/config.h"
#include "engine/session/session.h"
#include "engine/task/task.h"
#include "rollout/rollout_item.h"

/* Returns the index of the first item whose user messages fit into the argument together with all later ones. */
static size_t find_oldest(const struct context *context)
{
	size_t bytes = 0, at = context->items.count;
	for (; at > 0; at--) {
		auto_arena struct arena arena = {0};
		struct str text = context_item_text(context, at - 1);
		if (str_find(text, STR("\"role\":\"user\"")) < 0 ||
		    !rollout_item_is_user_message(json_parse(&arena, text, NULL)))
			continue;
		bytes += text.len;
		if (bytes > LIMIT_NOTIFY / 2)
			break;
	}
	return at;
}

static void write_message(const struct json *item, struct json_writer *w)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_NOTIFY);
	json_for_each(part, json_get(item, "content")) {
		struct str words = json_get_str(part, "text");
		if (text.len && words.ptr)
			buf_append_char(&text, '\n');
		buf_append_str(&text, words);
	}
	jw_str(w, buf_str(&text));
}

static void write_messages(const struct context *context, struct json_writer *w)
{
	jw_key(w, "input-messages");
	jw_array(w);
	for (size_t i = find_oldest(context); i < context->items.count; i++) {
		auto_arena struct arena arena = {0};
		const struct json *item = json_parse(&arena, context_item_text(context, i), NULL);
		if (rollout_item_is_user_message(item))
			write_message(item, w);
	}
	jw_array_end(w);
}

static void write_notice(const struct session *session, const struct task *task, struct str last, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_cstr(&w, "type", "agent-turn-complete");
	jw_member_cstr(&w, "thread-id", session->id);
	jw_member_str(&w, "turn-id", task->id);
	jw_member_cstr(&w, "cwd", task->settings->cwd);
	jw_member_str(&w, "client", session->env->originator);
	write_messages(&session->conversation.context, &w);
	jw_key(&w, "last-assistant-message");
	if (last.len > LIMIT_NOTIFY / 16)
		last.len = text_floor_boundary(last, LIMIT_NOTIFY / 16);
	if (last.ptr)
		jw_str(&w, last);
	else
		jw_null(&w);
	jw_object_end(&w);
}

static void run(struct session *session, const struct task *task, const struct str *words, size_t count,
                const char *notice)
{
	auto_arena struct arena arena = {0};
	struct error err;
	const char **argv = arena_array(&arena, const char *, count + 2);
	for (size_t i = 0; i < count; i++)
		argv[i] = arena_cstr(&arena, words[i]);
	argv[count] = notice;
	if (detached_start(&session->notices, session->env->loop, argv, task->settings->cwd, &err) != 0)
		log_debug("not notified: %s", err.text);
}

bool notify_is_wanted(const struct session *session)
{
	return session->notify.count || session->env->config->notify.count;
}

void notify_task_complete(struct session *session, const struct task *task)
{
	const struct config_strings *configured = &session->env->config->notify;
	bool is_own = session->notify.count;
	const struct str *words = is_own ? session->notify.words : configured->items;
	size_t count = is_own ? session->notify.count : configured->count;
	auto_arena struct arena arena = {0};
	auto_buf struct buf notice, spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	buf_init(&notice, LIMIT_NOTIFY);
	write_notice(session, task, task_last_message(task, &arena, &spare), &notice);
	if (notice.over)
		log_debug("not notified: the notice is too large");
	else
		run(session, task, words, count, notice.data);
}
