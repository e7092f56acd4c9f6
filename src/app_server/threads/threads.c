/* Every request looks up a thread by its id, and there may be thousands, so threads are in a hash table. */
#include "app_server/threads/threads.h"

#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "engine/codex/codex.h"

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

/* ---- the end ---- */

static void on_farewell_limit(void *self)
{
	struct threads *threads = self;
	threads->farewell.left = 0;
	threads->farewell.done(threads->farewell.self);
}

static void on_farewell(void *self)
{
	struct threads *threads = self;
	if (!threads->farewell.left || --threads->farewell.left)
		return;
	loop_timer_stop(threads->farewell.limit);
	threads->farewell.done(threads->farewell.self);
}

/* Subagents have SubagentStop hooks in place of SessionEnd hooks, so only root threads count. */
bool threads_bid_farewell(struct app_server *server, void (*done)(void *self), void *self)
{
	struct threads *threads = server->threads;
	struct thread *it;
	threads->farewell.done = done;
	threads->farewell.self = self;
	list_for_each(it, &threads->all, link) {
		if (!it->root && it->codex)
			threads->farewell.left += codex_bid_farewell(it->codex, on_farewell, threads);
	}
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
