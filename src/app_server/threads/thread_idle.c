/* A thread is checked when it may be due; activity moves its time forward. A thread with a background command is
 * never idle. A thread and the threads of its subagents are one family: closing the root closes them all, so the
 * family is idle when all of them are, and only the root is closed. */
#include "app_server/threads/thread_idle.h"

#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_turn.h"
#include "base/clock.h"
#include "config/config.h"
#include "engine/codex/codex.h"

static uint64_t limit_of(const struct app_server *server)
{
	return (uint64_t)server->config->app_server.idle_thread_timeout_ms;
}

static bool is_idle(const struct thread *thread)
{
	return thread->id[0] && !thread->starting && !thread->watchers.count && !thread->turn &&
	       list_empty(&thread->items.open) && codex_get_state(thread->codex) == CODEX_IDLE;
}

/* The Codex of a subagent is owned by its root and continues. */
static void detach(struct thread *thread)
{
	codex_listen(thread->codex, NULL, NULL);
	vec_for_each(it, &thread->watchers) {
		if (it->is_held)
			codex_release(thread->codex);
	}
	if (thread->elicitations)
		codex_release(thread->codex);
}

void thread_idle_unload(struct thread *thread)
{
	if (thread->root)
		detach(thread);
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

/* Computes for each family whether it is idle, and since when. */
static void review_families(struct app_server *server)
{
	struct thread *it;
	list_for_each(it, &server->threads->all, link) {
		struct thread *root = it->root ? it->root : it;
		bool is_followed = it->watchers.count > 0, is_busy = !is_idle(it);
		if (it == root)
			root->family = (struct thread_family){.left_ms = it->left_ms};
		root->family.is_followed |= is_followed;
		root->family.is_busy |= is_busy;
		if (it->left_ms > root->family.left_ms)
			root->family.left_ms = it->left_ms;
	}
}

/* Milliseconds until the family is due; UINT64_MAX while it has watchers. */
static uint64_t due_in(const struct thread *root, uint64_t now_ms, uint64_t limit_ms)
{
	uint64_t end_ms = root->family.left_ms + limit_ms;
	if (root->family.is_followed)
		return UINT64_MAX;
	if (root->family.is_busy)
		return limit_ms;
	return end_ms > now_ms ? end_ms - now_ms : 0;
}

/* Moves the due roots from the server's list to `due`; returns the time until the next one. */
static uint64_t take_due(struct app_server *server, struct list *due)
{
	uint64_t now_ms = clock_now_ms(), next_ms = UINT64_MAX;
	struct thread *it;
	list_for_each(it, &server->threads->all, link) {
		uint64_t in_ms = it->root ? UINT64_MAX : due_in(it, now_ms, limit_of(server));
		if (in_ms && in_ms < next_ms)
			next_ms = in_ms;
		if (in_ms)
			continue;
		list_remove(&it->link);
		list_append(due, &it->link);
	}
	return next_ms;
}

/* Closing a thread also destroys the threads of its subagents, so the search starts again after each. */
static void on_time(void *self)
{
	struct app_server *server = self;
	struct list due;
	struct thread *thread;
	list_init(&due);
	review_families(server);
	uint64_t next_ms = take_due(server, &due);
	while ((thread = list_first(&due, struct thread, link)))
		close_thread(thread);
	if (next_ms != UINT64_MAX)
		loop_timer_start(server->threads->idle, next_ms);
}

void thread_idle_review(struct thread *thread)
{
	struct app_server *server = thread->server;
	if (thread->watchers.count || !limit_of(server))
		return;
	thread->left_ms = clock_now_ms();
	if (!server->threads->idle)
		server->threads->idle = loop_timer_create(server->loop, on_time, server);
	if (!loop_timer_is_active(server->threads->idle))
		loop_timer_start(server->threads->idle, limit_of(server));
}
