/* A message that is sent leaves its file first, and returns to its place if it cannot start. */
#include "test.h"

#include "app_server/threads/thread_queue.h"
#include "base/error.h"
#include "base/file.h"
#include "base/mem.h"

#define ID "00000000-0000-7000-8000-000000000001"

static char home[] = "/tmp/codex-queue-XXXXXX";

static int setup(void **state)
{
	*state = mkdtemp(home);
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	auto_free char *folder = path_join(*state, "thread_queues");
	auto_free char *lock = path_join(folder, "lock");
	thread_queue_remove(*state, STR(ID));
	unlink(lock);
	rmdir(folder);
	return rmdir(*state);
}

static int add(const char *words, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct app_queued_submission added;
	struct app_input_text text = {.text = str_of(words)};
	struct app_user_input input = {.tag = app_user_input_text, .text = &text};
	struct app_queued_submission message = {
		.client_user_message_id = str_of(words), .input = &input, .input_count = 1};
	return thread_queue_add(home, STR(ID), &message, &arena, &added, err);
}

/* Returns the client's ids of the messages, joined. */
static const char *queued(struct arena *arena)
{
	struct thread_queue queue;
	struct error err;
	const char *text = "";
	assert_int_equal(thread_queue_read(home, STR(ID), arena, &queue, &err), 0);
	for (size_t i = 0; i < queue.count; i++)
		text = arena_printf(arena, "%s%.*s", text, STR_ARG(queue.items[i].client_user_message_id));
	return text;
}

static int take_second(struct thread_queue *queue, struct arena *arena, void *self, struct error *err)
{
	(void)arena;
	(void)self;
	(void)err;
	thread_queue_take(queue, &queue->items[1]);
	return 1;
}

/* Fails with the error of another writer, which is excluded while the message starts. */
static int pass_badly(struct arena *arena, void *self, struct error *err)
{
	(void)self;
	assert_string_equal(queued(arena), "ac");
	return add("d", err);
}

static int succeed(struct arena *arena, void *self, struct error *err)
{
	(void)arena;
	(void)self;
	(void)err;
	return 1;
}

static void a_message_that_cannot_start_returns_to_its_place(void **state)
{
	auto_arena struct arena arena = {0};
	struct error err;
	(void)state;
	assert_int_equal(add("a", &err), 1);
	assert_int_equal(add("b", &err), 1);
	assert_int_equal(add("c", &err), 1);
	assert_int_equal(thread_queue_pass(home, STR(ID), &arena, take_second, pass_badly, NULL, &err), -ERR_busy);
	assert_string_equal(queued(&arena), "abc");
	assert_int_equal(thread_queue_pass(home, STR(ID), &arena, take_second, succeed, NULL, &err), 1);
	assert_string_equal(queued(&arena), "ac");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_that_cannot_start_returns_to_its_place),
	};
	return cmocka_run_group_tests(tests, setup, teardown);
}
