/* Backpressure: a peer that reads slowly stops its sender in time, gets nothing twice and misses nothing. */
#include "temp.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/stream.h"
#include "transport/transport_listen.h"
#include "transport/transport_stdio.h"
#include "transport/unix_socket.h"

struct fixture {
	struct loop *loop;
	struct transport *transport;
	int own, peer;         /* own: the descriptor of the transport */
	size_t sent, received; /* number of frames; each contains its number */
	int drained, ended;
	bool is_full, is_broken;
};

static void on_frame(struct str frame, void *self)
{
	(void)frame, (void)self;
}

static void on_long_frame(struct str head, void *self)
{
	(void)head, (void)self;
}

static void on_end(const struct error *err, void *self)
{
	struct fixture *f = self;
	f->is_broken = err != NULL;
	f->ended++;
}

static void on_drain(void *self)
{
	struct fixture *f = self;
	f->drained++;
	f->is_full = false;
}

static const struct transport_events events = {on_frame, on_long_frame, on_end, on_drain};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	struct error err;
	int ends[2];
	temp_make(state);
	f->loop = loop_create(&err);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	f->own = ends[0];
	f->peer = ends[1];
	f->transport = transport_stdio_create(f->loop, ends[0], dup(ends[0]), &events, f, &err);
	assert_non_null(f->transport);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	transport_destroy(f->transport, false);
	mem_close_slot(&f->peer);
	loop_destroy(f->loop);
	free(f);
	return temp_remove(state);
}

enum { FRAME_SIZE = 1 * KIB };

static void send_frame(struct fixture *f)
{
	char frame[FRAME_SIZE + 1];
	snprintf(frame, sizeof(frame), "%*zu\n", FRAME_SIZE - 1, f->sent++);
	f->is_full = !transport_send(f->transport, str_of(frame));
}

static size_t fill(struct fixture *f)
{
	size_t before = f->sent;
	while (!f->is_full)
		send_frame(f);
	return (f->sent - before) * FRAME_SIZE;
}

/* Receives what the peer's end contains: complete frames or parts. */
static void receive(struct fixture *f, struct buf *bytes)
{
	char some[64 * KIB];
	ssize_t count;
	while ((count = read(f->peer, some, sizeof(some))) > 0)
		buf_append(bytes, some, (size_t)count);
	while (bytes->len >= FRAME_SIZE) {
		uint64_t number;
		assert_true(str_to_u64(str_trim(str_n(bytes->data, FRAME_SIZE)), &number));
		assert_int_equal(number, f->received++);
		buf_consume(bytes, FRAME_SIZE);
	}
}

static void turn(struct fixture *f)
{
	uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
}

static size_t socket_room(int fd)
{
	int room;
	socklen_t size = sizeof(room);
	assert_int_equal(getsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, &size), 0);
	return (size_t)room;
}

static void a_reader_that_stops_fills_the_queue_and_no_more(void **state)
{
	struct fixture *f = *state;
	size_t bytes = fill(f);
	assert_true(bytes > LIMIT_STREAM_QUEUE);
	assert_true(bytes <= LIMIT_STREAM_QUEUE + 2 * socket_room(f->peer) + FRAME_SIZE);
	turn(f);
	assert_int_equal(f->drained, 0); /* nothing was read */
	send_frame(f);
	assert_true(f->is_full); /* remains true until on_drained */
}

static void a_paused_reader_misses_nothing(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	for (int round = 1; round <= 3; round++) {
		fill(f);
		for (int i = 0; i < 4; i++)
			send_frame(f); /* a frame that was on its way when the queue became full */
		for (int i = 0; i < 1000 && f->received < f->sent; i++) {
			turn(f);
			receive(f, &bytes);
		}
		assert_int_equal(f->received, f->sent);
		turn(f);
		assert_int_equal(f->drained, round);
		f->is_full = false;
	}
	assert_int_equal(f->ended, 0);
}

static void a_closed_reader_does_not_drain(void **state)
{
	struct fixture *f = *state;
	fill(f);
	mem_close_slot(&f->peer);
	for (int i = 0; i < 10 && !f->ended; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	assert_int_equal(f->drained, 0);
	assert_true(transport_send(f->transport, STR("more\n"))); /* discarded, without waiting */
}

/* A client that has closed its output and reads slowly may still disconnect. */
static void a_broken_connection_is_reported_after_the_end_and_while_paused(void **state)
{
	struct fixture *f = *state;
	assert_int_equal(shutdown(f->peer, SHUT_WR), 0);
	for (int i = 0; i < 10 && !f->ended; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	assert_false(f->is_broken);
	transport_pause(f->transport);
	fill(f);
	mem_close_slot(&f->peer);
	for (int i = 0; i < 10 && !f->is_broken; i++)
		turn(f);
	assert_int_equal(f->ended, 2);
	assert_true(f->is_broken);
	transport_resume(f->transport);
	turn(f);
	assert_int_equal(f->ended, 2);
}

static void queued_output_is_flushed_at_the_end(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	fill(f);
	transport_destroy(steal(f->transport), true);
	for (int i = 0; i < 1000 && f->received < f->sent; i++) {
		receive(f, &bytes);
		turn(f);
	}
	assert_int_equal(f->received, f->sent);
	assert_int_equal(f->drained, 0);
}

static void append_frame(struct fixture *f, struct buf *out)
{
	buf_printf(out, "%*zu\n", FRAME_SIZE - 1, f->sent++);
}

/* Head, body and tail contain whole frames here, so that receive can count them. */
static void send_large(struct fixture *f, size_t frames)
{
	struct buf head, body, tail;
	buf_init(&head, 1 * MIB), buf_init(&body, 64 * MIB), buf_init(&tail, 1 * MIB);
	append_frame(f, &head);
	for (size_t i = 0; i < frames; i++)
		append_frame(f, &body);
	append_frame(f, &tail);
	transport_send_large(f->transport, buf_str(&head), &body, buf_str(&tail));
	assert_null(body.data); /* its memory was taken */
	buf_finish(&head), buf_finish(&tail);
}

static void large_frames_keep_their_place(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	for (int round = 1; round <= 2; round++) {
		send_frame(f);
		send_large(f, 8 * KIB);
		send_frame(f);
		send_large(f, 1);
		send_large(f, 4 * KIB);
		send_frame(f);
		for (int i = 0; i < 10000 && f->received < f->sent; i++) {
			turn(f);
			receive(f, &bytes);
		}
		assert_int_equal(f->received, f->sent);
		turn(f);
		assert_int_equal(f->drained, round);
	}
}

static void a_large_frame_is_flushed_at_the_end(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	send_large(f, 8 * KIB);
	send_frame(f);
	transport_destroy(steal(f->transport), true);
	for (int i = 0; i < 10000 && f->received < f->sent; i++) {
		receive(f, &bytes);
		turn(f);
	}
	assert_int_equal(f->received, f->sent);
}

struct late {
	struct stream_source source;
	size_t first, count; /* frames */
	int made, destroyed;
	const char *memory; /* of the buffer, before anything was written into it */
};

static void late_write(struct stream_source *source, struct buf *out)
{
	struct late *late = container_of(source, struct late, source);
	late->made++;
	late->memory = out->data;
	assert_int_equal(out->len, 0);
	for (size_t i = 0; i < late->count; i++)
		buf_printf(out, "%*zu\n", FRAME_SIZE - 1, late->first + i);
}

static void late_destroy(struct stream_source *source)
{
	container_of(source, struct late, source)->destroyed++;
}

static void send_late(struct fixture *f, struct late *late, size_t frames)
{
	*late = (struct late){.source = {late_write, late_destroy}, .first = f->sent, .count = frames};
	f->sent += frames;
	assert_true(transport_sends_later(f->transport));
	transport_send_later(f->transport, &late->source, frames ? frames * FRAME_SIZE : 1);
}

static void receive_all(struct fixture *f)
{
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	for (int i = 0; i < 20000 && f->received < f->sent; i++) {
		receive(f, &bytes);
		turn(f);
	}
	assert_int_equal(f->received, f->sent);
}

static void a_late_frame_is_made_when_the_peer_has_read_what_came_before(void **state)
{
	struct fixture *f = *state;
	struct late late, none;
	send_large(f, 8 * KIB);
	send_late(f, &none, 0);
	send_late(f, &late, 4 * KIB);
	send_frame(f);
	turn(f);
	assert_int_equal(late.made, 0);
	receive_all(f);
	turn(f);
	assert_int_equal(late.made, 1);
	assert_int_equal(late.destroyed, 1);
	assert_int_equal(none.made, 1);
	assert_int_equal(none.destroyed, 1);
	assert_int_equal(f->drained, 1); /* what was promised is not counted any more */
	send_late(f, &late, 1);
	assert_int_equal(late.made, 0);
	receive_all(f);
	assert_int_equal(late.destroyed, 1);
}

static void a_late_frame_uses_the_memory_of_the_frame_before(void **state)
{
	struct fixture *f = *state;
	struct late small, late;
	struct buf body;
	buf_init(&body, 64 * MIB);
	for (size_t i = 0; i < 8 * KIB; i++)
		append_frame(f, &body);
	const char *memory = body.data;
	transport_send_large(f->transport, STR(""), &body, STR(""));
	send_frame(f);
	send_late(f, &small, 1);
	send_late(f, &late, 8 * KIB);
	receive_all(f);
	assert_ptr_equal(late.memory, memory);
	assert_null(small.memory); /* which it would keep until it is written */
}

static void a_late_frame_is_flushed_or_destroyed_at_the_end(void **state)
{
	struct fixture *f = *state;
	struct late late, lost;
	send_large(f, 8 * KIB);
	send_late(f, &late, 8 * KIB);
	transport_destroy(steal(f->transport), true);
	assert_int_equal(late.made, 0);
	receive_all(f);
	assert_int_equal(late.destroyed, 1);
	turn(f);

	struct error err;
	int ends[2];
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends), 0);
	f->transport = transport_stdio_create(f->loop, ends[0], dup(ends[0]), &events, f, &err);
	assert_non_null(f->transport);
	send_large(f, 8 * KIB);
	send_late(f, &lost, 1);
	close(ends[1]);
	for (int i = 0; i < 10 && !f->ended; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	transport_destroy(steal(f->transport), false);
	turn(f);
	assert_int_equal(lost.made, 0);
	assert_int_equal(lost.destroyed, 1);
}

static void more_than_the_hard_limit_ends_the_connection(void **state)
{
	struct fixture *f = *state;
	enum { SOME = 16 * MIB };
	for (size_t sent = 0; sent < (size_t)LIMIT_STREAM_QUEUE_HARD + 2 * SOME; sent += SOME) {
		struct buf body;
		buf_init(&body, SOME);
		assert_non_null(buf_reserve(&body, SOME - 1));
		body.len = SOME - 1;
		transport_send_large(f->transport, STR(""), &body, STR("\n"));
		assert_null(body.data);
	}
	for (int i = 0; i < 10 && !f->ended; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	assert_true(f->is_broken);
}

static void on_connect(int fd, void *self)
{
	(void)self;
	close(fd);
}

/* The socket file of a killed program is replaced; any other file at the path is kept. */
static void only_a_dead_socket_makes_room_for_a_listener(void **state)
{
	struct fixture *f = *state;
	struct error err;
	auto_free char *address = xasprintf("unix://%s", temp_path("at"));
	temp_put("at", STR("a file"));
	assert_null(transport_listener_create(f->loop, address, on_connect, NULL, &err));
	auto_free char *text = temp_get(temp_path("at"));
	assert_string_equal(text, "a file");
	assert_int_equal(unlink(temp_path("at")), 0);
	int dead = unix_socket_listen(temp_path("at"), 1, &err);
	assert_true(dead >= 0);
	assert_null(transport_listener_create(f->loop, address, on_connect, NULL, &err)); /* it still listens */
	assert_int_equal(access(temp_path("at"), F_OK), 0);
	close(dead);
	struct transport_listener *listener = transport_listener_create(f->loop, address, on_connect, NULL, &err);
	assert_non_null(listener);
	transport_listener_destroy(listener);
	assert_int_equal(access(temp_path("at"), F_OK), -1);
}

static void on_signal(int number)
{
	(void)number;
}

static void *accept_one(void *self)
{
	kill(getpid(), SIGUSR1); /* the waiting connect continues after it */
	int fd = accept(*(int *)self, NULL, NULL);
	assert_true(fd >= 0 || errno == EAGAIN);
	return (void *)(intptr_t)fd;
}

static void a_full_listener_is_waited_for_up_to_a_limit(void **state)
{
	struct error err;
	int clients[16], count = 0, fd;
	pthread_t thread;
	void *accepted;
	(void)state;
	int server = unix_socket_listen(temp_path("full"), 1, &err);
	assert_true(server >= 0);
	while ((fd = unix_socket_connect(temp_path("full"), 0, &err)) >= 0)
		clients[count++] = fd;
	assert_int_equal(err.code, ERR_timeout);
	assert_true(count > 0);
	assert_int_equal(unix_socket_connect(temp_path("full"), 10, &err), -1);
	assert_int_equal(err.code, ERR_timeout);
	assert_non_null(strstr(err.text, "accepts no connection"));
	const struct sigaction quiet = {.sa_handler = on_signal};
	assert_int_equal(sigaction(SIGUSR1, &quiet, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, accept_one, &server), 0);
	fd = unix_socket_connect(temp_path("full"), 60 * 1000, &err);
	pthread_join(thread, &accepted);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	close(fd);
	close((int)(intptr_t)accepted);
	while (count > 0)
		close(clients[--count]);
	close(server);
}

/* If the client stayed in the backlog, it would wait, and the loop would wake forever. */
static void a_client_is_rejected_if_no_descriptor_is_free(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct rlimit old, none;
	char byte;
	auto_free char *address = xasprintf("unix://%s", temp_path("at"));
	struct transport_listener *listener = transport_listener_create(f->loop, address, on_connect, NULL, &err);
	assert_non_null(listener);
	int client = unix_socket_connect(temp_path("at"), 0, &err), next = dup(client);
	assert_true(next >= 0);
	close(next);
	getrlimit(RLIMIT_NOFILE, &old);
	none = (struct rlimit){(rlim_t)next, old.rlim_max};
	setrlimit(RLIMIT_NOFILE, &none);
	turn(f);
	setrlimit(RLIMIT_NOFILE, &old);
	ssize_t got = recv(client, &byte, 1, MSG_DONTWAIT);
	close(client);
	transport_listener_destroy(listener);
	assert_int_equal(got, 0); /* the end of the connection, not "try again" */
}

/* Otherwise each frame that the socket accepts would wake a sender that may send only one more. */
static void a_sender_resumes_when_half_of_the_queue_is_sent(void **state)
{
	struct fixture *f = *state;
	const int small = 8 * KIB;
	auto_buf struct buf bytes;
	buf_init(&bytes, 1 * MIB);
	assert_int_equal(setsockopt(f->own, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small)), 0);
	for (int i = 0; i < 64; i++) { /* until the socket is full, with a frame sent in part */
		send_frame(f);
		turn(f);
	}
	fill(f);
	receive(f, &bytes);
	for (int i = 0; i < 4; i++)
		turn(f);
	assert_true(f->received > 0);
	assert_int_equal(f->drained, 0); /* less than half was sent */
	for (int i = 0; i < 1000 && !f->drained; i++) {
		receive(f, &bytes);
		turn(f);
	}
	assert_int_equal(f->drained, 1);
	f->is_full = false;
	assert_true(fill(f) >= LIMIT_STREAM_QUEUE / 2);
}

/* SIGALRM would end the test program. */
static void a_peer_that_never_reads_does_not_keep_the_program(void **state)
{
	struct fixture *f = *state;
	fill(f);
	transport_destroy(steal(f->transport), true);
	loop_hurry(f->loop);
	alarm(60);
	loop_run(f->loop);
	alarm(0);
	assert_int_equal(f->received, 0);
}

static void a_hang_up_is_noticed_with_nothing_to_send(void **state)
{
	struct fixture *f = *state;
	struct error err;
	int in[2], out[2];
	assert_int_equal(pipe(in) | pipe(out), 0);
	transport_destroy(f->transport, false);
	f->transport = transport_stdio_create(f->loop, in[0], out[1], &events, f, &err);
	assert_non_null(f->transport);
	turn(f);
	assert_int_equal(f->ended, 0);
	close(out[0]);
	for (int i = 0; i < 100 && !f->ended; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	assert_true(f->is_broken);
	close(in[1]);
}

static void the_input_of_a_broken_connection_is_not_read(void **state)
{
	struct fixture *f = *state;
	struct error err;
	int in[2], out[2], written = 0;
	assert_int_equal(pipe2(in, O_NONBLOCK) | pipe(out), 0);
	transport_destroy(f->transport, false);
	f->transport = transport_stdio_create(f->loop, in[0], out[1], &events, f, &err);
	assert_non_null(f->transport);
	close(out[0]);
	for (int i = 0; i < 100 && !f->ended; i++)
		turn(f);
	assert_true(f->is_broken);
	while (written < 1 * MIB && write(in[1], "text\ntext", 9) == 9) {
		written += 9;
		turn(f);
	}
	assert_true(written < 1 * MIB);
	close(in[1]);
}

/* The end of the peer's output is not a hangup: it may still read. */
static void a_peer_that_has_closed_its_output_still_reads(void **state)
{
	struct fixture *f = *state;
	shutdown(f->peer, SHUT_WR);
	for (int i = 0; i < 100; i++)
		turn(f);
	assert_int_equal(f->ended, 1);
	assert_false(f->is_broken);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_reader_that_stops_fills_the_queue_and_no_more, setup, teardown),
		cmocka_unit_test_setup_teardown(a_paused_reader_misses_nothing, setup, teardown),
		cmocka_unit_test_setup_teardown(a_closed_reader_does_not_drain, setup, teardown),
		cmocka_unit_test_setup_teardown(a_broken_connection_is_reported_after_the_end_and_while_paused, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(queued_output_is_flushed_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(large_frames_keep_their_place, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_frame_is_flushed_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_frame_is_made_when_the_peer_has_read_what_came_before, setup,
	                                        teardown),
		cmocka_unit_test_setup_teardown(a_late_frame_uses_the_memory_of_the_frame_before, setup, teardown),
		cmocka_unit_test_setup_teardown(a_late_frame_is_flushed_or_destroyed_at_the_end, setup, teardown),
		cmocka_unit_test_setup_teardown(more_than_the_hard_limit_ends_the_connection, setup, teardown),
		cmocka_unit_test_setup_teardown(only_a_dead_socket_makes_room_for_a_listener, setup, teardown),
		cmocka_unit_test_setup_teardown(a_full_listener_is_waited_for_up_to_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(a_client_is_rejected_if_no_descriptor_is_free, setup, teardown),
		cmocka_unit_test_setup_teardown(a_sender_resumes_when_half_of_the_queue_is_sent, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_never_reads_does_not_keep_the_program, setup, teardown),
		cmocka_unit_test_setup_teardown(a_hang_up_is_noticed_with_nothing_to_send, setup, teardown),
		cmocka_unit_test_setup_teardown(the_input_of_a_broken_connection_is_not_read, setup, teardown),
		cmocka_unit_test_setup_teardown(a_peer_that_has_closed_its_output_still_reads, setup, teardown),
	};
	signal(SIGPIPE, SIG_IGN); /* like every front end */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
