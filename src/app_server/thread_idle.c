/* A thread is looked at when its time may have come, and not before: what it does meanwhile moves that time on. One
 * with a command behind its turns is not idle, however long nobody looks. */
#include "app_server/thread_idle.h"

#include <string.h>

#include "app_server/app_server_priv.h"
#include "app_server/thread.h"
#include "app_server/thread_turn.h"
#include "base/clock.h"
#include "config/config.h"
#include "engine/codex.h"

static uint64_t limit_of(const struct app_server *server)
{
	return (uint64_t)server->options.config->app_server.idle_thread_timeout_ms;
}

static bool is_idle(const struct thread *thread)
{
	return thread->id[0] && !thread->starting && !thread->watchers.count && !thread->turn &&
	       list_empty(&thread->items.open) && codex_get_state(thread->codex) == CODEX_IDLE;
}

void thread_idle_unload(struct thread *thread)
{
	if (thread->turn)
		thread_turn_end(thread->turn, app_turn_status_interrupted);
	struct app_thread_status status = {.tag = app_thread_status_not_loaded};
	struct app_thread_status_changed_notification event = {str_of(thread->id), &status};
	thread_notify(thread, NOTIFY_thread_status_changed, &event);
	thread_destroy(thread);
}

static void close_thread(struct thread *thread)
{
	struct app_server *server = thread->server;
	char id[UUID_TEXT_SIZE];
	memcpy(id, thread->id, sizeof(id));
	struct app_thread_closed_notification closed = {str_of(id)};
	thread_idle_unload(thread);
	app_server_notify(server, NOTIFY_thread_closed, &closed);
}

static void on_time(void *self)
{
	struct app_server *server = self;
	uint64_t now_ms = clock_now_ms(), limit_ms = limit_of(server), next_ms = UINT64_MAX;
	struct thread *it;
	list_for_each(it, &server->threads, link) {
		uint64_t left_ms = limit_ms;
		if (it->watchers.count)
			continue;
		if (is_idle(it))
			left_ms = it->left_ms + limit_ms > now_ms ? it->left_ms + limit_ms - now_ms : 0;
		if (left_ms && left_ms < next_ms)
			next_ms = left_ms;
		if (left_ms)
			continue;
		close_thread(it);
	}
	if (next_ms != UINT64_MAX)
		loop_timer_start(server->idle, next_ms);
}

void thread_idle_review(struct thread *thread)
{
	struct app_server *server = thread->server;
	if (thread->watchers.count || !limit_of(server))
		return;
	thread->left_ms = clock_now_ms();
	if (!server->idle)
		server->idle = loop_timer_create(server->options.loop, on_time, server);
	if (!loop_timer_is_active(server->idle))
		loop_timer_start(server->idle, limit_of(server));
}

void thread_idle_finish(struct app_server *server)
{
	loop_timer_destroy(server->idle);
}
