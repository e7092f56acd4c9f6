/* A task for user input runs turns until the model makes no more calls and no input is pending. If the history is
 * too long, it is compacted first; the input waits, because it must follow the summary. Pending input is recorded in
 * the history however the Task ends. */
#include "engine/task/task.h"

#include <stdio.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/session/preamble.h"
#include "engine/session/session.h"
#include "engine/session/session_goal.h"
#include "engine/session/session_model.h"
#include "engine/session/session_window.h"
#include "engine/session/conversation.h"
#include "engine/session/session_skills.h"
#include "engine/turn/turn.h"
#include "engine/history/history_item.h"
#include "engine/session/session_hooks.h"

struct task_user {
	struct task task;
	struct buf first;   /* the first input while a compaction precedes it: lines as in `pending` */
	struct buf pending; /* input for the next turn: lines of a mark followed by JSON, one per item */
	struct skills_given given;
	/* the input that `first` contains, to be emitted with it; allocated in the task's arena */
	struct task_input input;
	bool waits; /* waits for the end of a user shell command before the next turn */
	/* the hooks of the first input have not ended: it may still be refused */
	bool is_checking;
	bool interrupts_only; /* for the messages in the inbox, while the hooks of the start run */
	struct list steers;   /* struct steer: input that joins the task after its hooks */
	bool has_ended;       /* the turn has ended, and the task waits for the hooks of input */
	bool needs_turn;      /* of that turn */
	unsigned blocks;      /* times that Stop hooks have continued the task */
};

/* Input that joins the task, while its hooks run. */
struct steer {
	struct list link;
	struct task_user *user;
	struct task_input input; /* allocated in the arena */
	struct arena arena;
	struct hook_batch *batch;
};

static struct task_user *user_of(struct task *task)
{
	return container_of(task, struct task_user, task);
}

/* Marks of lines: a user message, or a skill that it mentions. */
enum { MARK_WORDS = 'w', MARK_SKILL = 's' };

static void record_lines(struct session *session, struct str lines)
{
	struct str line;
	while (str_next_line(&lines, &line)) {
		if (line.ptr[0] == MARK_WORDS) {
			session->conversation.context.user_turns++;
			session_goal_hear(session);
		}
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

/* ---- the Turns ---- */

static void steer_destroy(struct steer *it)
{
	list_remove(&it->link);
	hook_batch_cancel(it->batch);
	arena_finish(&it->arena);
	free(it);
}

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

static void next_turn(struct task *task)
{
	if (task_needs_compact(task)) {
		task_compact(task);
		return;
	}
	take_pending(user_of(task));
	task->turn = turn_start(&task->turn_env);
}

/* A Stop hook that blocks continues the task with its reason; so does input that has arrived meanwhile. */
static void on_stop_hooks(struct task *task, const struct hook_result *result)
{
	struct task_user *user = user_of(task);
	bool continues = task_is_continued(task, result, &user->blocks);
	if (!list_empty(&user->steers)) {
		user->has_ended = true;
		user->needs_turn = continues;
	} else if (continues || user->pending.len) {
		next_turn(task);
	} else {
		context_mark_task_end(&task->session->conversation.context);
		task_succeed(task);
	}
}

static void on_turn_end(struct task *task, bool needs_turn)
{
	struct task_user *user = user_of(task);
	bool has_messages = read_inbox(task, false), has_input = user->pending.len;
	user->has_ended = !list_empty(&user->steers);
	user->needs_turn = needs_turn || has_messages;
	if (user->has_ended)
		return;
	if (!needs_turn && !has_input && !has_messages)
		task_run_stop_hooks(task, user->blocks > 0, on_stop_hooks);
	else
		next_turn(task);
}

static void begin_kept(struct task_user *user)
{
	auto_buf struct buf first = user->first;
	buf_init(&user->first, LIMIT_USER_ITEM);
	begin(&user->task, buf_str(&first), &user->input);
}

static void on_compacted(struct task *task)
{
	struct task_user *user = user_of(task);
	if (user->first.len) {
		begin_kept(user);
		return;
	}
	take_pending(user);
	read_inbox(task, false);
	task->turn = turn_start(&task->turn_env);
}

static void record_kept(struct task_user *user)
{
	if (!user->first.len)
		return;
	preamble_update(&user->task.session->conversation, user->task.settings);
	record_lines(user->task.session, buf_str(&user->first));
	buf_clear(&user->first);
}

static void drop_steers(struct task_user *user)
{
	struct steer *it;
	list_for_each(it, &user->steers, link)
		steer_destroy(it);
}

/* Input whose hooks have not ended is not recorded: they might have refused it. */
static void drop_unchecked(struct task_user *user)
{
	bool has_some = (user->is_checking && user->first.len) || !list_empty(&user->steers);
	if (user->is_checking)
		buf_clear(&user->first);
	drop_steers(user);
	user->is_checking = false;
	if (has_some)
		session_warn(user->task.session, user->task.id,
		             "The input was discarded, because its hooks had not ended.");
}

/* Input that the model has not read is recorded, so that the next Task sends it, even after a resume. It follows the
 * note about the interruption, which is about what the model has read. */
static void on_cut_short(struct task *task, bool by_user)
{
	struct task_user *user = user_of(task);
	drop_unchecked(user);
	if (user->first.len)
		task_emit_message(task, &user->input);
	record_kept(user);
	if (by_user && !user->waits) /* while the task waits, the model does not work */
		preamble_add_abort(&task->session->conversation);
	task->has_unread = take_pending(user);
}

/* ---- input ---- */

static void add_contexts(const struct hook_result *result, struct buf *lines)
{
	vec_for_each(text, &result->contexts) {
		auto_buf struct buf item;
		buf_init(&item, LIMIT_USER_ITEM);
		text_message_write(&item, "developer", *text);
		add_line(lines, MARK_SKILL, buf_str(&item));
	}
}

static void join(struct task *task, const struct task_input *input)
{
	struct task_user *user = user_of(task);
	if (!add_input(user, input, &user->pending)) {
		task_emit_too_large(task);
		return;
	}
	if (user->waits)
		task->turn_env.output_schema = arena_str(&task->arena, input->output_schema);
	task_emit_message(task, input);
}

static void on_steer_hooks(const struct hook_result *result, void *self)
{
	struct steer *it = self;
	struct task_user *user = it->user;
	it->batch = NULL;
	if (!result->is_blocked && !result->is_stopped) {
		join(&user->task, &it->input);
		add_contexts(result, &user->pending);
	}
	steer_destroy(it);
	if (user->has_ended && list_empty(&user->steers))
		on_turn_end(&user->task, user->needs_turn);
}

static void steer(struct task *task, const struct task_input *input)
{
	struct task_user *user = user_of(task);
	if (input->count == 0)
		return;
	struct steer *it = xnew(struct steer);
	it->user = user;
	list_init(&it->link);
	it->batch = task_start_prompt_hooks(task, input, on_steer_hooks, it);
	if (!it->batch) {
		steer_destroy(it);
		join(task, input);
		return;
	}
	it->input = task_input_copy(input, &it->arena);
	list_append(&user->steers, &it->link);
}

static void finish(struct task *task)
{
	drop_steers(user_of(task));
	if (user_of(task)->is_checking)
		buf_clear(&user_of(task)->first);
	record_kept(user_of(task));
	take_pending(user_of(task));
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
	user->input = task_input_copy(input, &user->task.arena);
	user->first = *lines;
	buf_init(lines, 0);
}

/* ---- the hooks of the first input ---- */

static void begin_pending(struct task_user *user);

static void begin_first(struct task_user *user)
{
	struct task *task = &user->task;
	user->is_checking = false;
	if (task_needs_compact(task))
		task_compact(task);
	else
		begin_kept(user);
}

static void refuse_first(struct task_user *user)
{
	buf_clear(&user->first);
	user->is_checking = false;
	task_complete(&user->task);
}

static void on_prompt_hooks(struct task *task, const struct hook_result *result)
{
	struct task_user *user = user_of(task);
	if (result->is_blocked || result->is_stopped) {
		refuse_first(user);
		return;
	}
	add_contexts(result, &user->first);
	begin_first(user);
}

/* The contexts of the start precede the input. */
static void on_start_hooks(struct task *task, const struct hook_result *result)
{
	struct task_user *user = user_of(task);
	auto_buf struct buf lines;
	buf_init(&lines, LIMIT_USER_ITEM);
	if (result->is_stopped) {
		refuse_first(user);
		return;
	}
	add_contexts(result, &lines);
	if (!user->first.len) {
		session_hooks_add_contexts(&task->session->conversation, result);
		user->is_checking = false;
		begin_pending(user);
		return;
	}
	buf_append_str(&lines, buf_str(&user->first));
	if (!lines.over) {
		buf_finish(&user->first);
		user->first = lines;
		buf_init(&lines, 0);
	}
	task_run_prompt_hooks(task, &user->input, on_prompt_hooks);
}

/* Creates a task without input and without a turn. */
static struct task_user *create(const struct task_owner *owner, struct str id)
{
	struct task_user *user = user_of(task_create(&kind, owner, id));
	buf_init(&user->first, LIMIT_USER_ITEM);
	buf_init(&user->pending, LIMIT_USER_ITEM);
	list_init(&user->steers);
	return user;
}

static bool has_checks(const struct session *session)
{
	return session_hooks_has(session, session_hooks_start_event(session)) ||
	       session_hooks_has(session, hook_event_user_prompt_submit);
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
	session_check_window(session, task->id, task->settings);
	if (input->count && !add_input(user, input, &lines)) {
		task_emit_too_large(task);
		task_complete(task);
	} else if (!has_checks(session) && !task_needs_compact(task)) {
		begin(task, buf_str(&lines), input);
	} else {
		keep_input(user, input, &lines);
		user->is_checking = true;
		task_run_start_hooks(task, on_start_hooks);
	}
}

/* Starts a turn on the inbox and the pending input. */
static void begin_pending(struct task_user *user)
{
	struct task *task = &user->task;
	if (task_needs_compact(task)) { /* the messages stay in the inbox meanwhile */
		task_compact(task);
		return;
	}
	preamble_update(&task->session->conversation, task->settings);
	session_record_unheard(task->session);
	read_inbox(task, user->interrupts_only);
	take_pending(user);
	conversation_record_settings(&task->session->conversation, task->id, task->settings);
	task->turn = turn_start(&task->turn_env);
}

void task_start_inbox(const struct task_owner *owner, struct str id, bool interrupts_only)
{
	struct task_user *user = create(owner, id);
	user->interrupts_only = interrupts_only;
	task_run_start_hooks(&user->task, on_start_hooks);
}

void task_start_goal(const struct task_owner *owner, struct str id)
{
	struct task_user *user = create(owner, id);
	auto_buf struct buf item;
	buf_init(&item, LIMIT_USER_ITEM);
	session_goal_write_prompt(owner->session, &item);
	add_line(&user->pending, MARK_SKILL, buf_str(&item));
	session_check_window(owner->session, user->task.id, user->task.settings);
	task_run_start_hooks(&user->task, on_start_hooks);
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
	session_check_window(task->session, task->id, task->settings);
	task_run_start_hooks(task, on_start_hooks);
}

/* ---- after the loss of the process that began it ---- */

struct task *task_start_continued(const struct task_owner *owner, struct str id)
{
	return &create(owner, id)->task;
}

void task_add_input(struct task *task, const struct task_input *input)
{
	if (!add_input(user_of(task), input, &user_of(task)->pending))
		task_emit_too_large(task);
}

void task_next_turn(struct task *task)
{
	next_turn(task);
}
