/* Sessions that outlive their clients: when they end by themselves, and what they remember. */
#include "engine_fixture.h"

#include "server/kept_memory.h"
#include "server/kept_session.h"
#include "server/server_limits.h"

static void on_end(void *self)
{
	bool *has_ended = self;
	*has_ended = true;
}

static void on_news(void *self)
{
	unsigned *count = self;
	++*count;
}

static struct kept_session *keep(struct fixture *f, size_t keep_events, uint64_t idle_ms, bool *has_ended)
{
	*has_ended = false;
	struct kept_session_options options = {
		.loop = f->loop,
		.engine = {f->services, f->config, temp_root},
		.keep_events = keep_events,
		.idle_ms = idle_ms,
		.on_end = on_end,
		.self = has_ended,
	};
	return kept_session_create(&options);
}

static void run_loop_until(struct fixture *f, const bool *condition)
{
	while (!*condition)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
}

static void an_idle_session_without_watchers_ends(void **state)
{
	struct fixture *f = *state;
	bool has_ended;
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	struct kept_session *session = keep(f, 10, 1, &has_ended);
	run_loop_until(f, &has_ended);
	assert_true(kept_session_has_ended(session));
	kept_session_destroy(session);
	settle(f);
}

static void an_idle_session_ends_only_after_its_last_watcher(void **state)
{
	struct fixture *f = *state;
	bool has_ended;
	unsigned news = 0;
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	struct kept_session *session = keep(f, 10, 1, &has_ended);
	struct kept_watcher *watcher = kept_watcher_create(session, 0, on_news, &news);
	const uint64_t start_ms = uv_now(loop_uv(f->loop));
	while (uv_now(loop_uv(f->loop)) < start_ms + 50) {
		uv_run(loop_uv(f->loop), UV_RUN_NOWAIT);
		assert_false(kept_session_is_ending(session));
	}
	assert_int_not_equal(news, 0);
	kept_watcher_destroy(watcher);
	run_loop_until(f, &has_ended);
	kept_session_destroy(session);
	settle(f);
}

/* Submits an interrupt with this id; true if it was carried out. */
static bool submit_interrupt(struct kept_session *session, unsigned id)
{
	struct error err;
	char text[80];
	snprintf(text, sizeof(text), "{\"id\":\"%u\",\"op\":{\"type\":\"interrupt\"}}", id);
	return kept_session_submit(session, submission_decode(str_of(text), &err));
}

static void the_last_ids_are_remembered_and_no_more(void **state)
{
	struct fixture *f = *state;
	bool has_ended;
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	struct kept_session *session = keep(f, 10, 0, &has_ended);
	for (unsigned id = 0; id <= LIMIT_KEPT_IDS; id++) {
		while (!kept_session_room(session))
			uv_run(loop_uv(f->loop), UV_RUN_ONCE);
		assert_true(submit_interrupt(session, id));
	}
	while (kept_session_room(session) < 2)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	assert_false(submit_interrupt(session, 1));
	assert_true(submit_interrupt(session, 0)); /* the oldest id was forgotten */
	kept_session_shut_down(session);
	run_loop_until(f, &has_ended);
	kept_session_destroy(session);
	settle(f);
}

static void events_are_kept_up_to_their_number_and_size(void **state)
{
	struct kept_events events;
	auto_buf struct buf line;
	(void)state;
	buf_init(&line, 2 * LIMIT_KEPT_BYTES);
	kept_events_init(&events, 20);
	while (line.len < LIMIT_KEPT_BYTES / 16)
		buf_append_char(&line, 'x');
	for (unsigned seq = 1; seq <= 17; seq++)
		kept_events_add(&events, buf_str(&line));
	assert_int_equal(events.first_seq, 2);
	assert_null(kept_events_get(&events, 1).ptr);
	assert_int_equal(kept_events_get(&events, 2).len, line.len);
	while (line.len <= LIMIT_KEPT_BYTES)
		buf_append_char(&line, 'x');
	kept_events_add(&events, buf_str(&line)); /* the newest is kept in any case */
	assert_int_equal(events.first_seq, 18);
	for (unsigned count = 0; count < 30; count++)
		kept_events_add(&events, STR("short"));
	assert_int_equal(events.last_seq - events.first_seq + 1, 20);
	kept_events_finish(&events);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(an_idle_session_without_watchers_ends),
		TEST(an_idle_session_ends_only_after_its_last_watcher),
		TEST(the_last_ids_are_remembered_and_no_more),
		cmocka_unit_test(events_are_kept_up_to_their_number_and_size),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
