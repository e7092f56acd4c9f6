/* The Codex counts its holds: each slow subscriber is one, and all elicitations together are one. */
#include "app_server/threads/subscribers.h"

#include "app_server/rpc/connection.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/thread_ask.h"
#include "app_server/threads/thread_unload.h"
#include "app_server/threads/threads.h"
#include "engine/codex/codex.h"

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

/* No client is left that could end the elicitations or answer a call of its tools. */
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
