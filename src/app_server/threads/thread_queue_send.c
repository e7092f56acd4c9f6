/* A message leaves the file before its turn starts, so that it is never sent twice; if the turn cannot start, it
 * returns to its place. After an interrupted or failed turn the queue waits for the user. */
#include "app_server/threads/thread_queue_send.h"

#include <stdio.h>

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_input.h"
#include "app_server/threads/thread_queue.h"
#include "base/limits.h"
#include "config/config.h"
#include "loop/loop.h"

bool thread_queue_is_ready(const struct thread *thread)
{
	return thread->id[0] && !thread->root && !thread->turn && !thread->is_dead;
}

void thread_queue_notify(struct thread *thread)
{
	struct app_thread_queue_changed_notification changed = {str_of(thread->id)};
	thread_notify(thread, NOTIFY_thread_queue_changed, &changed);
}

/* The message that is taken. */
struct passage {
	struct thread *thread;
	struct str id; /* STR_NONE: the first */
	struct app_queued_submission message;
};

static int take(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	struct passage *passage = self;
	const struct app_queued_submission *found = queue->items;
	(void)arena;
	if (passage->id.ptr && !(found = thread_queue_find(queue, passage->id)))
		return error_set(err, ERR_not_found, "queued submission not found: %.*s", STR_ARG(passage->id));
	if (!queue->count)
		return 0;
	passage->message = *found;
	thread_queue_take(queue, found);
	return 1;
}

static int start(struct arena *arena, void *self, struct error *err)
{
	const struct passage *passage = self;
	const struct app_queued_submission *message = &passage->message;
	struct op_user_input input = {0};
	if (thread_input_copy(message->input, message->input_count, arena, &input, err) != 0)
		return -(int)err->code;
	return thread_input_start(passage->thread, &input, message->client_user_message_id, err) ? 1 : -(int)err->code;
}

int thread_queue_send(struct thread *thread, struct str id, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct passage passage = {.thread = thread, .id = id};
	int status = thread_queue_pass(config_home(thread->server->config), str_of(thread->id), &arena, take, start,
	                               &passage, err);
	if (passage.message.id.ptr)
		thread_queue_notify(thread);
	return status;
}

static void send_again(void *self)
{
	thread_queue_send_next(self);
}

/* Another process holds the lock, which it does for one small file. */
static bool waits(struct thread *thread, const struct error *err)
{
	if (err->code != ERR_busy || thread->queue_tries >= LIMIT_THREAD_QUEUE_TRIES)
		return false;
	if (!thread->queue_timer)
		thread->queue_timer = loop_timer_create(thread->server->loop, send_again, thread);
	thread->queue_tries++;
	loop_timer_start(thread->queue_timer, LIMIT_THREAD_QUEUE_WAIT_MS);
	return true;
}

void thread_queue_send_next(struct thread *thread)
{
	struct error err;
	char text[ERROR_TEXT_MAX + 64];
	if (!thread_queue_is_ready(thread) ||
	    thread_queue_is_empty(config_home(thread->server->config), str_of(thread->id))) {
		thread->queue_tries = 0;
		return;
	}
	int status = thread_queue_send(thread, STR_NONE, &err);
	if (status < 0 && waits(thread, &err))
		return;
	thread->queue_tries = 0;
	if (status >= 0)
		return;
	snprintf(text, sizeof(text), "The queued messages of this thread were not sent: %s", err.text);
	struct app_warning_notification warning = {str_of(thread->id), str_of(text)};
	thread_notify(thread, NOTIFY_warning, &warning);
}
