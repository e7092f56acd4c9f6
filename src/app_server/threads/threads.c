/* Every request looks a thread up by id, and there may be thousands: a hash table. */
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

/* Refuses an invalid UUID with the message of codex 0.169, which states the position of the error. */
enum rpc_verdict threads_refuse_id(struct rpc_request *request, enum app_error_code code, const char *what,
                                   struct str id)
{
	static const char digits[] = "0123456789abcdefABCDEF-";
	for (size_t i = 0; i < id.len; i++) {
		if (!id.ptr[i] || !strchr(digits, id.ptr[i]))
			return rpc_fail(request, code,
			                "invalid %s id: invalid character: expected an optional prefix of "
			                "`urn:uuid:` followed by [0-9a-fA-F-], found `%c` at %zu",
			                what, id.ptr[i] >= ' ' && id.ptr[i] <= '~' ? id.ptr[i] : '?', i + 1);
	}
	return rpc_fail(request, code,
	                "invalid %s id: invalid length: expected length 32 for "
	                "simple format, found %zu",
	                what, id.len);
}

struct thread *threads_get(struct rpc_request *request, struct str id)
{
	struct thread *thread = threads_find(request->server, id);
	if (thread)
		return thread;
	if (!uuid_is_valid(id))
		threads_refuse_id(request, APP_INVALID_REQUEST, "thread", id);
	else
		rpc_fail(request, APP_INVALID_REQUEST, "thread not found: %.*s", STR_ARG(id));
	return NULL;
}
