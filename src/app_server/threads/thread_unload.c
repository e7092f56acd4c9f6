/* The timer is set to the earliest moment at which a thread can be due; activity in between moves that moment, and the
 * timer is then set again. A thread with a background command is not idle. A thread and the threads of its subagents
 * are one family: closing the root closes them all, so the family is idle when each of them is, and only the root is
 * closed. */
#include "app_server/threads/thread_unload.h"

#include <string.h>

#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_items.h"
#include "app_server/threads/thread_load.h"
#include "app_server/threads/thread_queue.h"
#include "app_server/threads/thread_read_state.h"
#include "app_server/threads/thread_turn.h"
#include "app_server/threads/threads.h"
#include "base/clock.h"
#include "config/config.h"
#include "engine/codex/codex.h"

/* ---- the end of one thread ---- */

void thread_destroy(struct thread *thread)
{
	if (!thread)
		return;
	if (!thread->root)
		codex_close(thread->codex);
	thread_load_destroy(thread->opening.load);
	thread_asks_withdraw(thread);
	thread_turn_destroy(thread->turn);
	thread_items_finish(thread);
	thread_read_state_save(thread);
	if (thread->is_ephemeral && !thread->root && thread->id[0])
		thread_queue_remove(config_home(thread->server->config), str_of(thread->id));
	thread_free(thread);
}

/* Detaches the Codex, which keeps running without its thread: the root's Codex owns it. */
static void detach(struct thread *thread)
{
	codex_listen(thread->codex, NULL, NULL);
	vec_for_each(it, &thread->subscribers) {
		if (it->is_held)
			codex_release(thread->codex);
	}
	if (thread->elicitations)
		codex_release(thread->codex);
}

void thread_unload(struct thread *thread)
{
	if (thread->root)
		detach(thread);
	if (thread->turn)
		thread_turn_end(thread->turn, app_turn_status_interrupted);
	thread_notify_not_loaded(thread);
	thread_destroy(thread);
}

static struct thread *find_dead(struct threads *threads)
{
	struct thread *it;
	list_for_each(it, &threads->all, link) {
		if (it->is_dead)
			return it;
	}
	return NULL;
}

/* Destroying a thread also destroys those of its subagents, so the search starts again after each. */
void thread_unload_dead(struct threads *threads)
{
	struct thread *thread;
	while ((thread = find_dead(threads)))
		thread_destroy(thread);
}

void thread_unload_all(struct threads *threads)
{
	struct thread *thread;
	while ((thread = list_first(&threads->all, struct thread, link)))
		thread_destroy(thread);
}

/* ---- idle threads ---- */

static uint64_t limit_of(const struct app_server *server)
{
	return (uint64_t)server->config->app_server.idle_thread_timeout_ms;
}

static bool is_idle(const struct thread *thread)
{
	return thread->id[0] && !thread->starting && !thread->subscribers.count && !thread_is_attached(thread) &&
	       !thread->turn && list_empty(&thread->items) && codex_get_state(thread->codex) == CODEX_IDLE;
}

static void close_thread(struct thread *thread)
{
	struct app_server *server = thread->server;
	char id[UUID_TEXT_SIZE];
	memcpy(id, thread->id, sizeof(id));
	struct app_thread_closed_notification closed = {str_of(id)};
	thread_unload(thread);
	app_server_notify(server, NOTIFY_thread_closed, &closed);
}

/* Computes for each family whether it has subscribers, whether it is busy, and when the last subscriber left. */
static void review_families(struct app_server *server)
{
	struct thread *it;
	list_for_each(it, &server->threads->all, link) {
		struct thread *root = it->root ? it->root : it;
		bool is_followed = it->subscribers.count || thread_is_attached(it), is_busy = !is_idle(it);
		if (it == root)
			root->family = (struct thread_family){.left_ms = it->left_ms};
		root->family.is_followed |= is_followed;
		root->family.is_busy |= is_busy;
		if (it->left_ms > root->family.left_ms)
			root->family.left_ms = it->left_ms;
	}
}

/* Returns in how many milliseconds the family is due; UINT64_MAX while it has subscribers. */
static uint64_t due_in(const struct thread *root, uint64_t now_ms, uint64_t limit_ms)
{
	uint64_t end_ms = root->family.left_ms + limit_ms;
	if (root->family.is_followed)
		return UINT64_MAX;
	if (root->family.is_busy)
		return limit_ms;
	return end_ms > now_ms ? end_ms - now_ms : 0;
}

/* Moves the roots that are due from the list of all threads to `due`; returns in how many milliseconds the next one may
 * be. */
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

/* Destroys due threads. Each one is taken from the head of the list, because closing a thread also destroys those of
 * its subagents. */
static void on_time(void *self)
{
	struct app_server *server = self;
	struct list due;
	struct thread *thread;
	list_init(&due);
	if (server->threads->farewell.left) /* all threads end, and their hooks run */
		return;
	review_families(server);
	uint64_t next_ms = take_due(server, &due);
	while ((thread = list_first(&due, struct thread, link)))
		close_thread(thread);
	if (next_ms != UINT64_MAX)
		loop_timer_start(server->threads->idle, next_ms);
}

void thread_unload_when_idle(struct thread *thread)
{
	struct app_server *server = thread->server;
	if (thread->subscribers.count || thread_is_attached(thread) || !limit_of(server))
		return;
	thread->left_ms = clock_now_ms();
	if (!server->threads->idle)
		server->threads->idle = loop_timer_create(server->loop, on_time, server);
	if (!loop_timer_is_active(server->threads->idle))
		loop_timer_start(server->threads->idle, limit_of(server));
}

/* ---- subscribers ---- */

/* Holds and releases are counted by the Codex: each slow subscriber is one, and all elicitations together are one. */

static void review_holds(struct thread *thread)
{
	vec_for_each(it, &thread->subscribers) {
		const struct connection *connection = it->connection;
		bool holds = connection->is_slow && (!connection->is_overdue || thread->subscribers.count == 1);
		if (holds == it->is_held)
			continue;
		it->is_held = holds;
		if (holds)
			codex_hold(thread->codex);
		else
			codex_release(thread->codex);
	}
}

void subscribers_review_holds(struct threads *threads)
{
	struct thread *it;
	list_for_each(it, &threads->all, link)
		review_holds(it);
}

void subscribers_add(struct thread *thread, struct connection *connection)
{
	if (thread_has_subscriber(thread, connection))
		return;
	vec_push(&thread->subscribers, (struct thread_subscriber){.connection = connection});
	review_holds(thread);
	rpc_asks_repeat(&thread->server->asks, connection, thread);
}

/* Called when no client is left that could end the elicitations or answer a call of its tools. */
static void on_last_removed(struct thread *thread)
{
	if (thread->elicitations) {
		thread->elicitations = 0;
		codex_release(thread->codex);
	}
	thread_asks_abandon(thread);
}

bool subscribers_remove(struct thread *thread, const struct connection *connection)
{
	for (size_t i = 0; i < thread->subscribers.count; i++) {
		if (thread->subscribers.items[i].connection != connection)
			continue;
		if (thread->subscribers.items[i].is_held)
			codex_release(thread->codex);
		thread->subscribers.items[i] = thread->subscribers.items[--thread->subscribers.count];
		review_holds(thread);
		if (!thread->subscribers.count)
			on_last_removed(thread);
		thread_unload_when_idle(thread);
		return true;
	}
	return false;
}

void subscribers_forget_client(struct threads *threads, const struct connection *client)
{
	struct thread *it;
	list_for_each(it, &threads->all, link)
		subscribers_remove(it, client);
}
