/* The inputs of these hooks are written while they start, so nothing of them outlives the call. */
#include "engine/task/task.h"

#include "base/limits.h"
#include "base/mem.h"
#include "engine/history/history_item.h"
#include "engine/session/conversation.h"
#include "engine/session/session.h"
#include "engine/session/session_hooks.h"
#include "rollout/rollout_writer.h"

static void on_hooks(const struct hook_result *result, void *self)
{
	struct task *task = self;
	task->hooks = NULL;
	task->after_hooks(task, result);
}

/* Runs the hooks of an event, then calls `then`. */
static void run(struct task *task, const struct session_hook *hook, task_hooked_fn then)
{
	task->after_hooks = then;
	task->hooks = session_hooks_start(task->session, hook, on_hooks, task);
	if (!task->hooks)
		then(task, &(struct hook_result){0});
}

static struct session_hook hook_of(const struct task *task, enum hook_event event)
{
	return (struct session_hook){.event = event, .turn_id = task->id, .settings = task->settings};
}

/* ---- start ---- */

static void write_source(struct json_writer *w, const void *arg)
{
	jw_member_cstr(w, "source", arg);
}

void task_run_start_hooks(struct task *task, task_hooked_fn then)
{
	const char *source = session_hooks_take_source(task->session);
	struct session_hook hook = hook_of(task, session_hooks_start_event(task->session));
	bool is_session = hook.event == hook_event_session_start;
	if (!source) {
		then(task, &(struct hook_result){0});
		return;
	}
	hook.subject.name = is_session ? source : "default";
	hook.write = is_session ? write_source : NULL;
	hook.arg = source;
	run(task, &hook, then);
}

/* ---- prompts ---- */

static void write_prompt(struct json_writer *w, const void *arg)
{
	const struct task_input *input = arg;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT);
	for (size_t i = 0; i < input->count; i++) {
		if (input->items[i].tag != user_input_text)
			continue;
		if (text.len)
			buf_append_char(&text, '\n');
		buf_append_str(&text, input->items[i].text->text);
	}
	jw_member_str(w, "prompt", buf_str(&text));
}

/* The prompts of a subagent are its parent's, not the user's. */
static bool has_prompt_hooks(const struct task *task)
{
	return session_hooks_start_event(task->session) == hook_event_session_start;
}

static struct session_hook hook_of_prompt(const struct task *task, const struct task_input *input)
{
	struct session_hook hook = hook_of(task, hook_event_user_prompt_submit);
	hook.write = write_prompt;
	hook.arg = input;
	return hook;
}

void task_run_prompt_hooks(struct task *task, const struct task_input *input, task_hooked_fn then)
{
	const struct session_hook hook = hook_of_prompt(task, input);
	if (has_prompt_hooks(task))
		run(task, &hook, then);
	else
		then(task, &(struct hook_result){0});
}

struct hook_batch *task_start_prompt_hooks(struct task *task, const struct task_input *input, hook_done_fn done,
                                           void *self)
{
	const struct session_hook hook = hook_of_prompt(task, input);
	return has_prompt_hooks(task) ? session_hooks_start(task->session, &hook, done, self) : NULL;
}

/* ---- the end ---- */

struct stop {
	const struct task *task;
	bool is_active;
};

static void write_stop(struct json_writer *w, const void *arg)
{
	const struct stop *stop = arg;
	const struct session *session = stop->task->session;
	auto_arena struct arena arena = {0};
	auto_buf struct buf spare;
	buf_init(&spare, LIMIT_SSE_EVENT);
	jw_member_bool(w, "stop_hook_active", stop->is_active);
	jw_member_str(w, "last_assistant_message", task_last_message(stop->task, &arena, &spare));
	if (session_hooks_stop_event(session) == hook_event_subagent_stop)
		jw_member_cstr(w, "agent_transcript_path",
		               session->rollout ? rollout_writer_path(session->rollout) : NULL);
}

void task_run_stop_hooks(struct task *task, bool is_active, task_hooked_fn then)
{
	const struct stop stop = {task, is_active};
	struct session_hook hook = hook_of(task, session_hooks_stop_event(task->session));
	hook.subject.name = "default";
	hook.write = write_stop;
	hook.arg = &stop;
	run(task, &hook, then);
}

static void add_prompt(struct task *task, const struct hook_result *result)
{
	auto_buf struct buf text, item;
	buf_init(&text, LIMIT_HOOK_OUTPUT * 4);
	buf_init(&item, LIMIT_USER_ITEM);
	buf_printf(&text, "<hook_prompt hook_run_id=\"%s\">%.*s</hook_prompt>", result->run_id,
	           STR_ARG(result->reason));
	text_message_write(&item, "user", buf_str(&text));
	conversation_add(&task->session->conversation, buf_str(&item));
}

bool task_is_continued(struct task *task, const struct hook_result *result, unsigned *blocks)
{
	if (!result->is_blocked || result->is_stopped)
		return false;
	if ((*blocks)++ >= LIMIT_HOOK_BLOCKS) {
		session_warn(task->session, task->id, "Stop hooks have continued this task %d times; it ends now.",
		             LIMIT_HOOK_BLOCKS);
		return false;
	}
	add_prompt(task, result);
	return true;
}

/* ---- compaction ---- */

static void write_trigger(struct json_writer *w, const void *arg)
{
	jw_member_cstr(w, "trigger", arg);
}

void task_run_compact_hooks(struct task *task, enum hook_event event, bool is_manual, task_hooked_fn then)
{
	struct session_hook hook = hook_of(task, event);
	hook.subject.name = is_manual ? "manual" : "auto";
	hook.write = write_trigger;
	hook.arg = hook.subject.name;
	run(task, &hook, then);
}
