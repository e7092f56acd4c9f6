/* A task for user input runs turns until the model makes no more calls and no input is pending. If the history is
 * too long, it is compacted first; the input waits, because it must follow the summary. Pending input is recorded in
 * the history however the Task ends. */
#include "engine/task/task.h"

#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/session/preamble.h"
#include "engine/session/session.h"
#include "engine/session/session_model.h"
#include "engine/session/conversation.h"
#include "engine/session/session_skills.h"
#include "engine/turn/turn.h"
#include "engine/history/history_item.h"

struct task_user {
	struct task task;
	struct buf first;   /* the first input while a compaction precedes it: lines as in `pending` */
	struct buf pending; /* input for the next turn: lines of a mark followed by JSON, one per item */
	struct skills_given given;
	/* the input that `first` contains, to be emitted with it; allocated in the task's arena */
	struct task_input input;
	bool waits; /* waits for the end of a user shell command before the next turn */
};

static struct task_user *user_of(struct task *task)
{
	return container_of(task, struct task_user, task);
}

void task_emit_message(struct task *task, const struct task_input *input)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	struct user_message_item message = {.id = str_of(id),
	                                    .client_id = input->client_id,
	                                    .content = (struct user_input *)(uintptr_t)input->items,
	                                    .content_count = input->count};
	struct turn_item item = {.tag = turn_item_user_message, .body = &message};
	task_emit_item(task, EV_item_started, &item);
	task_emit_item(task, EV_item_completed, &item);
}

/* Marks of lines: a user message, or a skill that it mentions. */
enum { MARK_WORDS = 'w', MARK_SKILL = 's' };

static void record_lines(struct session *session, struct str lines)
{
	struct str line;
	while (str_next_line(&lines, &line)) {
		if (line.ptr[0] == MARK_WORDS)
			session->conversation.context.user_turns++;
		conversation_add(&session->conversation, str_skip(line, 1));
	}
}

static void add_line(struct buf *lines, char mark, struct str item)
{
	size_t before = lines->len;
	buf_append_char(lines, mark);
	buf_append_str(lines, item);
	buf_append_char(lines, '\n');
	if (lines->over)
		buf_truncate(lines, before);
}

static void on_skill(struct str item, void *self)
{
	add_line(self, MARK_SKILL, item);
}

/* Appends the lines of an input. If it is too large, adds no line and returns false. */
static bool add_input(struct task_user *user, const struct task_input *input, struct buf *lines)
{
	struct task *task = &user->task;
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	user_message_write(&item, task->settings->cwd, input->items, input->count);
	if (item.over || item.len + 2 > lines->max - lines->len)
		return false;
	add_line(lines, MARK_WORDS, buf_str(&item));
	session_skills_give(task->session, task->settings, input->items, input->count, &user->given, on_skill, lines);
	return true;
}

/* Reports that the input was discarded: a truncated item would be invalid JSON and break every later request. */
static void emit_too_large(struct task *task)
{
	char text[160];
	snprintf(text, sizeof(text), "This input has more than %d MB as JSON, images included, and was discarded.",
	         LIMIT_USER_ITEM / MIB);
	struct ev_error event = {.message = str_of(text), .codex_error_info = STR("\"bad_request\"")};
	task_emit(task, EV_error, &event);
}

/* ---- the Turns ---- */

static bool read_inbox(struct task *task, bool interrupts_only)
{
	return task->owner->inbox->read(task->owner->self, interrupts_only);
}

static void begin(struct task *task, struct str lines, const struct task_input *input)
{
	struct session *session = task->session;
	preamble_update(&session->conversation, task->settings);
	session_record_unheard(session);
	read_inbox(task, false);
	if (lines.len) {
		record_lines(session, lines);
		task_emit_message(task, input);
	}
	conversation_record_settings(&session->conversation, task->id, task->settings);
	task->turn = turn_start(&task->turn_env);
}

static bool take_pending(struct task_user *user)
{
	session_record_unheard(user->task.session);
	if (user->pending.len == 0)
		return false;
	record_lines(user->task.session, buf_str(&user->pending));
	buf_clear(&user->pending);
	return true;
}

static void on_turn_end(struct task *task, bool needs_turn)
{
	struct task_user *user = user_of(task);
	bool has_messages = read_inbox(task, false), has_input = user->pending.len;
	if (!needs_turn && !has_input && !has_messages) {
		context_mark_task_end(&task->session->conversation.context);
		task_succeed(task);
	} else if (task_needs_compact(task)) {
		task_compact(task);
	} else {
		take_pending(user);
		task->turn = turn_start(&task->turn_env);
	}
}

static void on_compacted(struct task *task)
{
	struct task_user *user = user_of(task);
	if (user->first.len) {
		auto_buf struct buf first = user->first;
		buf_init(&user->first, LIMIT_USER_ITEM);
		begin(task, buf_str(&first), &user->input);
		return;
	}
	take_pending(user);
	read_inbox(task, false);
	task->turn = turn_start(&task->turn_env);
}

/* Records pending input in the history, so that the next Task sends it to the model, even after a resume. */
static void record_pending(struct task_user *user)
{
	if (user->first.len) {
		preamble_update(&user->task.session->conversation, user->task.settings);
		record_lines(user->task.session, buf_str(&user->first));
		buf_clear(&user->first);
	}
	take_pending(user);
}

static void on_cut_short(struct task *task, bool by_user)
{
	if (user_of(task)->first.len)
		task_emit_message(task, &user_of(task)->input);
	record_pending(user_of(task));
	if (by_user && !user_of(task)->waits) /* while the task waits, the model does not work */
		preamble_add_abort(&task->session->conversation);
}

/* ---- input ---- */

static void steer(struct task *task, const struct task_input *input)
{
	struct task_user *user = user_of(task);
	if (input->count == 0)
		return;
	if (!add_input(user, input, &user->pending)) {
		emit_too_large(task);
		return;
	}
	if (user->waits)
		task->turn_env.output_schema = arena_str(&task->arena, input->output_schema);
	task_emit_message(task, input);
}

static void finish(struct task *task)
{
	record_pending(user_of(task));
	buf_finish(&user_of(task)->first);
	buf_finish(&user_of(task)->pending);
	skills_given_finish(&user_of(task)->given);
}

static const struct task_kind kind = {
	.size = sizeof(struct task_user),
	.steer = steer,
	.on_turn_end = on_turn_end,
	.on_compacted = on_compacted,
	.on_cut_short = on_cut_short,
	.finish = finish,
};

static void keep_input(struct task_user *user, const struct task_input *input, struct buf *lines)
{
	struct arena *arena = &user->task.arena;
	struct user_input *items = arena_array(arena, struct user_input, input->count);
	for (size_t i = 0; i < input->count; i++)
		union_copy(&union_user_input, &input->items[i], arena, &items[i]);
	user->input = (struct task_input){.items = items, .count = input->count};
	user->input.client_id = arena_str(arena, input->client_id);
	user->first = *lines;
	buf_init(lines, 0);
}

/* Creates a task without input and without a turn. */
static struct task_user *create(const struct task_owner *owner, struct str id)
{
	struct task_user *user = user_of(task_create(&kind, owner, id));
	buf_init(&user->first, LIMIT_USER_ITEM);
	buf_init(&user->pending, LIMIT_USER_ITEM);
	return user;
}

void task_start_user(const struct task_owner *owner, struct str id, const struct task_input *input)
{
	struct session *session = owner->session;
	if (input->count == 0 && !session->env->runs_unasked) { /* without input there is no task */
		session_emit(session, id, EV_task_complete, &(struct ev_task_complete){0});
		return;
	}
	struct task_user *user = create(owner, id);
	struct task *task = &user->task;
	auto_buf struct buf lines;
	buf_init(&lines, LIMIT_USER_ITEM);
	task->turn_env.output_schema = arena_str(&task->arena, input->output_schema);
	session_warn_unknown_model(session, task->id, task->settings);
	if (input->count && !add_input(user, input, &lines)) {
		emit_too_large(task);
		task_complete(task);
	} else if (task_needs_compact(task)) {
		keep_input(user, input, &lines);
		task_compact(task);
	} else {
		begin(task, buf_str(&lines), input);
	}
}

/* Starts a turn on the inbox and the pending input. */
static void begin_pending(struct task_user *user, bool interrupts_only)
{
	struct task *task = &user->task;
	if (task_needs_compact(task)) { /* the messages stay in the inbox meanwhile */
		task_compact(task);
		return;
	}
	preamble_update(&task->session->conversation, task->settings);
	session_record_unheard(task->session);
	read_inbox(task, interrupts_only);
	take_pending(user);
	conversation_record_settings(&task->session->conversation, task->id, task->settings);
	task->turn = turn_start(&task->turn_env);
}

void task_start_inbox(const struct task_owner *owner, struct str id, bool interrupts_only)
{
	begin_pending(create(owner, id), interrupts_only);
}

/* ---- after a user shell command ---- */

struct task *task_start_waiting(const struct task_owner *owner, struct str id)
{
	struct session *session = owner->session;
	struct task_user *user = create(owner, id);
	user->waits = true;
	preamble_update(&session->conversation, user->task.settings);
	conversation_record_settings(&session->conversation, user->task.id, user->task.settings);
	return &user->task;
}

bool task_is_waiting(const struct task *task)
{
	return task->kind == &kind && container_of(task, const struct task_user, task)->waits;
}

void task_end_waiting(struct task *task)
{
	struct task_user *user = user_of(task);
	user->waits = false;
	if (user->pending.len == 0) {
		task_complete(task);
		return;
	}
	session_warn_unknown_model(task->session, task->id, task->settings);
	begin_pending(user, false);
}
