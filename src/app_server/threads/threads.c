/* Every request looks up a thread by its id, and there may be thousands, so threads are in a hash table. */
#include "app_server/threads/threads.h"

#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/codex/codex.h"
#include "remote/environments.h"

struct threads *threads_create(void)
{
	struct threads *threads = xnew(struct threads);
	list_init(&threads->all);
	for (size_t i = 0; i < THREAD_BUCKETS; i++)
		list_init(&threads->buckets[i]);
	thread_configs_init(&threads->configs);
	return threads;
}

void threads_destroy(struct threads *threads)
{
	if (!threads)
		return;
	loop_timer_destroy(threads->idle);
	loop_timer_destroy(threads->farewell.limit);
	thread_configs_finish(&threads->configs);
	free(threads);
}

/* ---- environments ---- */

static bool has_selected(const struct thread *thread, struct str id)
{
	for (size_t i = 0; thread->settings && i < thread->settings->environments_count; i++)
		if (str_eq(thread->settings->environments[i].environment_id, id))
			return true;
	return false;
}

static void on_environment_change(const struct environment *environment, bool is_connected, void *self)
{
	struct app_server *server = self;
	struct app_environment_connection_notification event = {.environment_id = environment->id};
	struct thread *thread;
	if (environments_find(services_environments(server->services), environment->id) != environment)
		return; /* another machine has its id now */
	list_for_each(thread, &server->threads->all, link) {
		if (!has_selected(thread, environment->id))
			continue;
		event.thread_id = str_of(thread->id);
		thread_notify(thread,
		              is_connected ? NOTIFY_thread_environment_connected
		                           : NOTIFY_thread_environment_disconnected,
		              &event);
	}
}

void threads_watch_environments(struct app_server *server)
{
	environments_watch(services_environments(server->services),
	                   (struct environment_watcher){on_environment_change, server});
}

void threads_ignore_environments(struct app_server *server)
{
	environments_watch(services_environments(server->services), (struct environment_watcher){0});
}

/* ---- the end ---- */

static void on_farewell_limit(void *self)
{
	struct threads *threads = self;
	threads->farewell.left = 0;
	threads->farewell.done(threads->farewell.self);
}

static void start_farewells(struct threads *threads);

static void on_farewell(void *self)
{
	struct threads *threads = self;
	if (!threads->farewell.left)
		return;
	threads->farewell.left--;
	threads->farewell.running--;
	start_farewells(threads);
	if (threads->farewell.left)
		return;
	loop_timer_stop(threads->farewell.limit);
	threads->farewell.done(threads->farewell.self);
}

static void start_farewells(struct threads *threads)
{
	struct thread *it;
	list_for_each(it, &threads->all, link) {
		if (threads->farewell.running >= LIMIT_END_HOOKS)
			return;
		if (!it->awaits_farewell)
			continue;
		it->awaits_farewell = false;
		if (codex_bid_farewell(it->codex, on_farewell, threads))
			threads->farewell.running++;
		else
			threads->farewell.left--;
	}
}

/* Subagents have SubagentStop hooks in place of SessionEnd hooks, and end with their root. */
void threads_shut_down(struct threads *threads)
{
	struct thread *it;
	list_for_each(it, &threads->all, link) {
		it->awaits_farewell = !it->root && it->codex && codex_shut_down(it->codex);
		it->is_dead |= !it->root && !it->awaits_farewell;
		threads->farewell.left += it->awaits_farewell;
	}
}

bool threads_bid_farewell(struct app_server *server, void (*done)(void *self), void *self)
{
	struct threads *threads = server->threads;
	threads->farewell.done = done;
	threads->farewell.self = self;
	start_farewells(threads);
	if (!threads->farewell.left)
		return false;
	threads->farewell.limit = loop_timer_create(server->loop, on_farewell_limit, threads);
	loop_timer_start(threads->farewell.limit, LIMIT_END_HOOKS_MS);
	return true;
}

/* ---- by id ---- */

static struct list *bucket_of(struct app_server *server, struct str id)
{
	return &server->threads->buckets[str_hash(id) % THREAD_BUCKETS];
}

struct thread *threads_find(struct app_server *server, struct str id)
{
	struct thread *it;
	list_for_each(it, bucket_of(server, id), bucket) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

void threads_add(struct thread *thread)
{
	list_append(&thread->server->threads->all, &thread->link);
}

void threads_add_id(struct thread *thread)
{
	list_append(bucket_of(thread->server, str_of(thread->id)), &thread->bucket);
}

const struct rpc_error *threads_not_found(struct rpc_request *request, struct str id)
{
	if (!uuid_is_valid(id))
		return rpc_error_bad_id(&request->arena, APP_INVALID_REQUEST, "thread", id);
	return rpc_error(&request->arena, APP_INVALID_REQUEST, "thread not found: %.*s", STR_ARG(id));
}
