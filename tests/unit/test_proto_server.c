/* The event protocol's server between a client and an engine that is not ready for its submissions. */
#include "engine_fixture.h"

#include <poll.h>
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include "server/proto_server.h"

enum { SUBMISSIONS = 4 * LIMIT_SUBMISSIONS };

struct blocker {
	sem_t go_on;
	bool is_done;
};

static void on_work(void *self)
{
	struct blocker *blocker = self;
	sem_wait(&blocker->go_on);
}

static void on_done(void *self)
{
	struct blocker *blocker = self;
	blocker->is_done = true;
}

static void on_end(void *self)
{
	bool *has_ended = self;
	*has_ended = true;
}

/* Occupies the only thread of the pool, so that a session that is to be resumed is not loaded and its Codex carries
 * out nothing. */
static void block_workers(struct fixture *f, struct blocker *blocker)
{
	sem_init(&blocker->go_on, 0, 0);
	blocker->is_done = false;
	worker_run(f->loop, on_work, on_done, blocker);
}

static void let_workers_go_on(struct fixture *f, struct blocker *blocker)
{
	sem_post(&blocker->go_on);
	while (!blocker->is_done)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	sem_destroy(&blocker->go_on);
}

static void send_interrupts(int client)
{
	auto_buf struct buf lines;
	buf_init(&lines, MIB);
	for (int i = 0; i < SUBMISSIONS; i++)
		buf_printf(&lines, "{\"id\":\"%d\",\"op\":{\"type\":\"interrupt\"}}\n", i);
	assert_int_equal(write(client, lines.data, lines.len), lines.len);
	shutdown(client, SHUT_WR);
}

static void read_all(int client, struct buf *ret)
{
	char bytes[4096];
	ssize_t got;
	while ((got = read(client, bytes, sizeof(bytes))) > 0)
		buf_append_str(ret, str_n(bytes, (size_t)got));
}

static struct proto_server *serve(struct fixture *f, const char *resume_path, int client[2], bool *has_ended)
{
	struct error err;
	*has_ended = false;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, client), 0);
	struct proto_options options = {
		.loop = f->loop,
		.engine = {f->services, f->config, temp_root},
		.in = client[1],
		.out = dup(client[1]),
		.resume_path = resume_path,
		.on_end = on_end,
		.self = has_ended,
	};
	struct proto_server *server = proto_server_create(&options, &err);
	if (!server)
		fail_msg("%s", err.text);
	return server;
}

static void expect_answers_in_order(const struct buf *lines)
{
	size_t from = 0;
	for (int i = 0; i < SUBMISSIONS; i++) {
		auto_free char *start = xasprintf("{\"id\":\"%d\",\"msg\":{\"type\":\"error\"", i);
		ptrdiff_t at = str_find(str_skip(buf_str(lines), from), str_of(start));
		if (at < 0)
			fail_msg("no answer to submission %d, or not in its place", i);
		from += (size_t)at + 1;
	}
}

static void a_full_engine_is_offered_nothing_until_it_has_room(void **state)
{
	struct fixture *f = *state;
	int client[2];
	bool has_ended;
	struct blocker blocker;
	auto_buf struct buf lines;
	buf_init(&lines, MIB);
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	block_workers(f, &blocker);
	struct proto_server *server = serve(f, temp_path("no-such-rollout.jsonl"), client, &has_ended);
	send_interrupts(client[0]);
	for (int i = 0; i < 100; i++)
		uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
	assert_int_not_equal(uv_backend_timeout(loop_uv(f->loop)), 0); /* the loop sleeps */
	let_workers_go_on(f, &blocker);
	while (!has_ended)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	proto_server_destroy(server);
	settle(f);
	read_all(client[0], &lines);
	expect_answers_in_order(&lines);
	close(client[0]);
}

int main(void)
{
	setenv("UV_THREADPOOL_SIZE", "1", 1);
	const struct CMUnitTest tests[] = {
		TEST(a_full_engine_is_offered_nothing_until_it_has_room),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
