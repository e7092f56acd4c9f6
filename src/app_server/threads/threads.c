/* Every request looks up a thread by its id, and there may be thousands, so threads are in a hash table. */
#include "app_server/threads/threads.h"

#include <string.h>

#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "base/mem.h"
#include "base/uuid.h"

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
	thread_configs_finish(&threads->configs);
	free(threads);
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
