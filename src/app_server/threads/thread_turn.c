/* A turn exists from the request on that starts it, before the engine has started its task: input that arrives in
 * between joins it. */
#include "app_server/threads/thread_turn.h"

#include "app_server/rpc/server.h"
#include "app_server/rpc/connection.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_items.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"

struct thread_turn *thread_turn_create(struct thread *thread, struct str id)
{
	struct thread_turn *turn = xnew(struct thread_turn);
	turn->thread = thread;
	if (id.len == UUID_TEXT_SIZE - 1)
		memcpy(turn->id, id.ptr, id.len);
	else
		uuid_v7(turn->id);
	thread->turn = turn;
	return turn;
}

static void answer_interrupts(struct thread_turn *turn)
{
	struct app_turn_interrupt_response response = {0};
	while (turn->interrupts.count)
		rpc_reply(turn->interrupts.items[--turn->interrupts.count], &response);
}

void thread_turn_destroy(struct thread_turn *turn)
{
	if (!turn)
		return;
	if (turn->thread->turn == turn)
		turn->thread->turn = NULL;
	answer_interrupts(turn);
	vec_finish(&turn->interrupts);
	arena_finish(&turn->kept);
	arena_finish(&turn->last_arena);
	free(turn);
}

void thread_turn_view(const struct thread_turn *turn, struct app_turn *ret)
{
	const struct thread *root = turn->thread->root;
	*ret = (struct app_turn){
		.id = str_of(turn->id),
		.root_turn_id = str_of(root && root->turn ? root->turn->id : turn->id),
		.items_view = app_turn_items_view_not_loaded,
		.status = app_turn_status_in_progress,
		.has_started_at = turn->is_started,
		.started_at = turn->started_at_ms / 1000,
	};
}

/* ---- the contents of turn/completed ---- */

void thread_turn_keep_message(struct thread_turn *turn, const struct app_item_agent_message *message,
                              const struct arena *from)
{
	arena_reset(&turn->last_arena);
	arena_hold_all(&turn->last_arena, from);
	turn->last_message = arena_new(&turn->last_arena, struct app_item_agent_message);
	record_copy(&record_app_item_agent_message, message, &turn->last_arena, turn->last_message);
}

void thread_turn_keep_error(struct thread_turn *turn, const struct app_turn_error *error)
{
	struct app_turn_error *copy = arena_new(&turn->kept, struct app_turn_error);
	record_copy(&record_app_turn_error, error, &turn->kept, copy);
	turn->error = copy;
}

static void on_cancel(struct rpc_request *request)
{
	struct thread_turn *turn = request->self;
	for (size_t i = turn->interrupts.count; i-- > 0;) {
		if (turn->interrupts.items[i] == request)
			turn->interrupts.items[i] = turn->interrupts.items[--turn->interrupts.count];
	}
}

enum rpc_verdict thread_turn_wait(struct thread_turn *turn, struct rpc_request *request)
{
	vec_push(&turn->interrupts, request);
	return rpc_wait(request, on_cancel, turn);
}

/* ---- begin and end ---- */

void thread_turn_begin(struct thread_turn *turn)
{
	struct app_turn view;
	struct thread *thread = turn->thread;
	turn->is_started = true;
	turn->started_at_ms = clock_unix_ms();
	thread->has_failed = false;
	thread_notify_status(thread);
	thread_turn_view(turn, &view);
	struct app_turn_started_notification event = {str_of(thread->id), &view};
	thread_notify(thread, NOTIFY_turn_started, &event);
}

static void notify_outcome(struct thread *thread, enum app_turn_status status, struct app_turn *view)
{
	struct app_turn_failed_notification failed = {str_of(thread->id), view};
	struct app_turn_cancelled_notification cancelled = {str_of(thread->id), view};
	if (status == app_turn_status_failed)
		thread_notify_outcome(thread, NOTIFY_turn_failed, &failed);
	else if (status == app_turn_status_interrupted)
		thread_notify_outcome(thread, NOTIFY_turn_cancelled, &cancelled);
}

static void add_message(struct thread_turn *turn, struct app_turn *view)
{
	view->items = arena_new(&turn->last_arena, struct app_thread_item);
	*view->items = (struct app_thread_item){app_thread_item_agent_message, .agent_message = turn->last_message};
	view->items_count = 1;
	view->items_view = app_turn_items_view_summary;
}

/* On standard streams the client has read item/completed before a large message is encoded again here. */
static void notify_completed(struct thread_turn *turn, struct app_turn *view, bool has_message)
{
	struct thread *thread = turn->thread;
	struct app_turn_completed_notification event = {str_of(thread->id), view}, *late;
	size_t size = has_message ? turn->last_message->text.len : 0;
	if (size >= LIMIT_SHARED_TEXT) {
		late = arena_new(&turn->last_arena, struct app_turn_completed_notification);
		record_copy(&record_app_turn_completed_notification, &event, &turn->last_arena, late);
		add_message(turn, late->turn);
		thread_notify_later(thread, NOTIFY_turn_completed, late, &turn->last_arena, size);
		return;
	}
	if (has_message)
		add_message(turn, view);
	thread_notify(thread, NOTIFY_turn_completed, &event);
}

static void notify_end(struct thread_turn *turn, enum app_turn_status status)
{
	struct app_turn view;
	struct thread *thread = turn->thread;
	int64_t now_ms = clock_unix_ms();
	thread_turn_view(turn, &view);
	view.status = status;
	view.error = (struct app_turn_error *)(uintptr_t)turn->error;
	view.has_completed_at = view.has_duration_ms = true;
	view.completed_at = now_ms / 1000;
	view.duration_ms = turn->is_started ? now_ms - turn->started_at_ms : 0;
	notify_outcome(thread, status, &view);
	notify_completed(turn, &view, turn->last_message && status == app_turn_status_completed);
}

void thread_turn_end(struct thread_turn *turn, enum app_turn_status status)
{
	struct thread *thread = turn->thread;
	thread_items_close(thread);
	thread->turn = NULL;
	thread_set_last_turn(thread, str_of(turn->id));
	/* A turn that ends with only a plan stays read, as in codex 0.169. */
	bool is_unread = turn->last_message || status == app_turn_status_failed;
	if (status != app_turn_status_interrupted && !turn->is_service && is_unread)
		thread_read_state_on_turn_end(thread, str_of(turn->id));
	thread->updated_at = clock_unix_ms() / 1000;
	answer_interrupts(turn); /* answer interrupts before the notifications about their effects */
	if (status != app_turn_status_failed)
		thread_notify_status(thread);
	notify_end(turn, status);
	thread_asks_withdraw(thread);
	thread_turn_destroy(turn);
}
