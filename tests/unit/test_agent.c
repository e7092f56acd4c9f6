/* The tree of agents without a Session: numbers, order of events, inboxes, waits, watchdogs, logs. */
#include "test.h"

#include "agent/agent_json.h"
#include "agent/agent_tree.h"
#include "agent/agent_wait.h"
#include "agent/agent_watchdog.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "protocol/message/message.h"

/* ---- Sessions that only record requests ---- */

struct fixture {
	struct loop *loop;
	struct agent_tree *tree;
	struct buf told; /* one word for each event */
	unsigned opened, closed, delivered, interrupted;
	bool refuses;
};

static int on_open(struct agent *agent, const struct agent_launch *launch, void *self, struct error *err)
{
	struct fixture *f = self;
	(void)launch;
	if (f->refuses)
		return error_set(err, ERR_invalid, "invalid model `x`");
	f->opened++;
	agent->session = f;
	return 0;
}

static int on_reopen(struct agent *agent, void *self, struct error *err)
{
	(void)err;
	((struct fixture *)self)->opened++;
	agent->session = self;
	return 0;
}

static void on_deliver(struct agent *agent, void *self)
{
	(void)agent;
	((struct fixture *)self)->delivered++;
}

static bool on_interrupt(struct agent *agent, void *self)
{
	(void)agent;
	((struct fixture *)self)->interrupted++;
	return true;
}

static void on_close(struct agent *agent, void *self)
{
	agent->session = NULL;
	((struct fixture *)self)->closed++;
}

static void on_tell(struct agent *about, enum event_tag tag, const void *body, void *self)
{
	struct fixture *f = self;
	unsigned long long id = about->id;
	if (tag == EV_agent_inbox) {
		const struct ev_agent_inbox *inbox = body;
		buf_printf(&f->told, "inbox%llu=%lld+%lld ", id, (long long)inbox->pending_messages,
		           (long long)inbox->pending_interrupts);
		return;
	}
	const struct ev_subagent_lifecycle *change = body;
	buf_printf(&f->told, "%s%llu", enum_wire(&enum_subagent_change, (int)change->event), id);
	if (change->has_status)
		buf_printf(&f->told, "=%s", enum_wire(&enum_subagent_status, (int)change->status));
	if (change->reasoning_header.ptr)
		buf_printf(&f->told, "=%.*s", STR_ARG(change->reasoning_header));
	buf_append_char(&f->told, ' ');
}

static const struct agent_ops ops = {NULL, on_open, on_reopen, on_deliver, on_interrupt, on_close, on_tell};

static int setup(void **state)
{
	struct fixture *f = xnew(struct fixture);
	f->loop = loop_create(NULL);
	buf_init(&f->told, 1 * MIB);
	struct agent_tree_options options = {
		.loop = f->loop,
		.ops = &ops,
		.self = f,
		.root_session = "00000000-0000-7000-8000-000000000000",
		.max_active = 3,
		.max_depth = 2,
		.clock_scale = 100000,
	};
	f->tree = agent_tree_create(&options);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	agent_tree_destroy(f->tree);
	loop_destroy(f->loop);
	buf_finish(&f->told);
	free(f);
	return 0;
}

static struct agent *launch(struct agent *parent, const char *prompt)
{
	struct error err = {0};
	struct agent_launch wish = {.prompt = str_of(prompt)};
	struct agent *agent = agent_launch(parent, &wish, &err);
	if (!agent)
		fail_msg("%s", err.text);
	return agent;
}

static void expect_emitted(struct fixture *f, const char *want)
{
	assert_string_equal(f->told.data ? f->told.data : "", want);
	buf_clear(&f->told);
	buf_append_c(&f->told, "");
}

/* ---- the tree ---- */

static void a_launch_emits_its_events_in_order(void **state)
{
	struct fixture *f = *state;
	struct agent *agent = launch(f->tree->root, "Look  at\nthis");
	expect_emitted(f, "created1 inbox1=0+0 status1=running ");
	assert_string_equal(agent->summary, "Look at this");
	assert_int_equal(agent->depth, 1);
	launch(agent, " ");
	expect_emitted(f, "created2 inbox2=0+0 status2=ready ");
	agent_begin(agent);
	expect_emitted(f, "");
}

/* The number of ended agents exceeds the limit: the oldest are unloaded first. */
static void the_agent_that_was_started_first_is_unloaded_first(void **state)
{
	struct fixture *f = *state;
	struct agent *agents[LIMIT_AGENTS_KEPT + 2];
	for (size_t i = 0; i < countof(agents); i++) {
		agents[i] = launch(f->tree->root, "work");
		agent_end(agents[i], agent_outcome_completed, STR("done"));
	}
	assert_int_equal(f->closed, 2);
	assert_null(agents[0]->session);
	assert_null(agents[1]->session);
	assert_non_null(agents[2]->session);
}

/* Unloading it would lose its unread messages. */
static void an_agent_with_unread_messages_is_not_unloaded(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct agent *unread = launch(f->tree->root, "work");
	agent_end(unread, agent_outcome_completed, STR("done"));
	assert_int_equal(agent_post(unread, 0, false, STR("one more thing"), &err), 0);
	struct agent *next = launch(f->tree->root, "work");
	agent_end(next, agent_outcome_completed, STR("done"));
	for (size_t i = 0; i < LIMIT_AGENTS_KEPT; i++)
		agent_end(launch(f->tree->root, "work"), agent_outcome_completed, STR("done"));
	assert_int_equal(f->closed, 1);
	assert_non_null(unread->session);
	assert_null(next->session);
}

/* It begins no turn, so it might stay unread for ever; it is read when the agent is loaded again. */
static void a_quiet_message_keeps_no_agent_loaded(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct agent *quiet = launch(f->tree->root, "work");
	agent_end(quiet, agent_outcome_completed, STR("done"));
	assert_int_equal(agent_post_quiet(quiet, 0, STR("by the way"), &err), 0);
	assert_true(agent_inbox_is_quiet(&quiet->inbox));
	for (size_t i = 0; i < LIMIT_AGENTS_KEPT; i++)
		agent_end(launch(f->tree->root, "work"), agent_outcome_completed, STR("done"));
	assert_null(quiet->session);
	assert_int_equal(agent_post(quiet, 0, true, STR("now"), &err), 0);
	assert_false(agent_inbox_is_quiet(&quiet->inbox));
	agent_message_destroy(agent_take(quiet));
	assert_true(agent_inbox_is_quiet(&quiet->inbox));
	assert_false(agent_inbox_is_quiet(&f->tree->root->inbox)); /* the ends of its agents */
}

static void numbers_are_not_used_again(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct agent *first = launch(f->tree->root, "a");
	agent_end(first, agent_outcome_completed, STR("done"));
	agent_prune(first);
	f->refuses = true;
	struct agent_launch wish = {.prompt = STR("b")};
	assert_null(agent_launch(f->tree->root, &wish, &err));
	assert_string_equal(err.text, "subagent launch failed: invalid model `x`");
	f->refuses = false;
	assert_int_equal(launch(f->tree->root, "c")->id, 3);
	assert_null(agent_tree_find(f->tree, 1));
	assert_null(agent_tree_find(f->tree, 2));
}

static void places_and_depth_are_limited(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct agent_launch wish = {.prompt = STR("x")};
	struct agent *child = launch(f->tree->root, "a");
	struct agent *deep = launch(child, "b");
	assert_null(agent_launch(deep, &wish, &err));
	assert_string_equal(err.text, "subagent depth limit reached: agents at depth 2 cannot start others");
	launch(f->tree->root, "c");
	assert_null(agent_launch(f->tree->root, &wish, &err));
	assert_string_equal(err.text, "subagent limit reached: at most 3 active subagents per session");
	agent_end(deep, agent_outcome_failed, STR("broken"));
	assert_non_null(agent_launch(f->tree->root, &wish, &err));
	assert_int_not_equal(agent_wake(deep, &err), 0);
}

static void a_completion_reaches_the_parent_after_the_status(void **state)
{
	struct fixture *f = *state;
	struct agent *child = launch(f->tree->root, "a");
	struct agent *grandchild = launch(child, "b");
	buf_clear(&f->told);
	agent_end(grandchild, agent_outcome_failed, STR("no disk"));
	expect_emitted(f, "status2=failed inbox1=1+0 ");
	struct agent_message *message = agent_take(child);
	assert_str(message->text, "subagent failed: no disk");
	agent_message_destroy(message);
	buf_clear(&f->told);
	agent_end(child, agent_outcome_completed, STR_NONE);
	expect_emitted(f, "status1=idle inbox0=1+0 ");
	message = agent_take(f->tree->root);
	assert_null(message->text.ptr);
	assert_int_equal(message->outcome, agent_outcome_completed);
	agent_message_destroy(message);
	agent_end(child, agent_outcome_failed, STR("again")); /* no effect, because it has ended */
	assert_int_equal(child->status, subagent_status_idle);
}

static void a_pause_is_no_end(void **state)
{
	struct fixture *f = *state;
	struct agent *child = launch(f->tree->root, "a");
	buf_clear(&f->told);
	agent_pause(child);
	/* the turn_aborted of the cancelled task arrives */
	agent_end(child, agent_outcome_canceled, STR("interrupted"));
	expect_emitted(f, "status1=ready ");
	assert_true(agent_inbox_is_empty(&f->tree->root->inbox));
}

static void cancel_takes_those_below_along(void **state)
{
	struct fixture *f = *state;
	struct agent *child = launch(f->tree->root, "a");
	struct agent *grandchild = launch(child, "b");
	struct agent *other = launch(f->tree->root, "c");
	agent_cancel_children(child);
	assert_int_equal(grandchild->status, subagent_status_canceled);
	assert_int_equal(other->status, subagent_status_running);
	assert_int_equal(f->interrupted, 1);
	agent_prune(child);
	assert_int_equal(f->closed, 2);
	assert_null(agent_tree_find(f->tree, 2));
	assert_non_null(agent_tree_find(f->tree, 3));
}

static void the_header_is_the_first_bold_of_the_work(void **state)
{
	struct fixture *f = *state;
	struct agent *child = launch(f->tree->root, "a");
	buf_clear(&f->told);
	agent_add_thinking(child, STR("well **** hm, *"));
	agent_add_thinking(child, STR("*Reading "));
	expect_emitted(f, "");
	agent_add_thinking(child, STR("tests** and **more**"));
	expect_emitted(f, "reasoning_header1=Reading tests ");
	agent_add_thinking(child, STR("**Other**"));
	expect_emitted(f, "");
	agent_begin(child);
	agent_add_thinking(child, STR("**Writing**"));
	expect_emitted(f, "reasoning_header1=Writing ");
}

/* ---- inboxes ---- */

static void interrupts_go_first_and_all_is_counted(void **state)
{
	struct fixture *f = *state;
	struct agent *child = launch(f->tree->root, "a");
	buf_clear(&f->told);
	assert_int_equal(agent_post(child, 0, false, STR("r1"), NULL), 0);
	assert_int_equal(agent_post(child, 0, false, STR("r2"), NULL), 0);
	assert_int_equal(agent_post(child, 0, true, STR("i"), NULL), 0);
	expect_emitted(f, "inbox1=1+0 inbox1=2+0 inbox1=2+1 ");
	static const char *const order[] = {"i", "r1", "r2"};
	for (size_t n = 0; n < 3; n++) {
		struct agent_message *message = agent_take(child);
		assert_true(str_is(message->text, order[n]));
		agent_message_destroy(message);
	}
	assert_null(agent_take(child));
	expect_emitted(f, "inbox1=2+0 inbox1=1+0 inbox1=0+0 ");
}

static void an_inbox_is_bounded_but_ends_always_fit(void **state)
{
	struct fixture *f = *state;
	struct error err;
	struct agent *child = launch(f->tree->root, "a");
	auto_free char *long_text = xcalloc(1, LIMIT_AGENT_MESSAGE + 1);
	memset(long_text, 'x', LIMIT_AGENT_MESSAGE + 1);
	assert_int_equal(agent_post(child, 0, false, str_n(long_text, LIMIT_AGENT_MESSAGE), &err), 0);
	assert_int_not_equal(agent_post(child, 0, false, str_n(long_text, LIMIT_AGENT_MESSAGE + 1), &err), 0);
	assert_string_equal(
		err.text,
		"agent_id 1 cannot be sent a message: a message may have at most 64 KiB; put more into a file");
	for (size_t i = 1; i < LIMIT_AGENT_INBOX; i++)
		assert_int_equal(agent_post(child, 0, false, STR("x"), &err), 0);
	assert_int_not_equal(agent_post(child, 0, true, STR("x"), &err), 0);
	struct agent *other = launch(f->tree->root, "interrupts count as well");
	for (size_t i = 0; i < LIMIT_AGENT_INBOX; i++)
		assert_int_equal(agent_post(other, 0, i % 2, STR("x"), &err), 0);
	assert_int_not_equal(agent_post(other, 0, false, STR("x"), &err), 0);
	agent_end(launch(child, "b"), agent_outcome_completed, STR("done"));
	assert_int_equal(child->inbox.regular_count, LIMIT_AGENT_INBOX + 1);
}

/* ---- waits ---- */

struct waited {
	enum agent_wake wake;
	uint64_t about;
	unsigned count;
	struct loop *loop;
};

static void on_wait_end(enum agent_wake wake, struct agent *about, void *self)
{
	struct waited *waited = self;
	waited->wake = wake;
	waited->about = about->id;
	waited->count++;
	loop_stop(waited->loop);
}

static void start_wait(struct agent *waiter, uint64_t timeout_s, struct waited *waited)
{
	struct agent_wait_options options = {
		.waiter = waiter, .timeout_ms = timeout_s * 1000, .on_end = on_wait_end, .self = waited};
	assert_non_null(agent_wait_start(&options));
}

static void a_wait_ends_with_the_first_news(void **state)
{
	struct fixture *f = *state;
	struct agent *first = launch(f->tree->root, "a"), *second = launch(f->tree->root, "b");
	struct waited waited = {.loop = f->loop};
	start_wait(f->tree->root, 1800, &waited);
	agent_end(second, agent_outcome_completed, STR("done"));
	loop_run(f->loop);
	assert_int_equal(waited.count, 1);
	assert_int_equal(waited.wake, AGENT_WAKE_news);
	assert_int_equal(waited.about, second->id);
	struct agent_news news = {.about = second};
	agent_take_news(f->tree->root, &news);
	assert_int_equal(news.count, 1);
	agent_news_finish(&news);
	start_wait(f->tree->root, 300, &waited);
	loop_run(f->loop);
	assert_int_equal(waited.wake,
	                 /* no news: the second completion was read, and the first agent is running */
	                 AGENT_WAKE_timeout);
	agent_cancel(first);
	start_wait(f->tree->root, 1800, &waited);
	loop_run(f->loop);
	assert_int_equal(waited.wake, AGENT_WAKE_news);
	assert_int_equal(waited.about, first->id);
}

static void a_wait_runs_out_or_gives_way_to_the_user(void **state)
{
	struct fixture *f = *state;
	launch(f->tree->root, "a");
	struct waited waited = {.loop = f->loop};
	start_wait(f->tree->root, 300, &waited);
	loop_run(f->loop);
	assert_int_equal(waited.wake, AGENT_WAKE_timeout);
	assert_int_equal(waited.about, 1);
	start_wait(f->tree->root, 1800, &waited);
	agent_waits_interrupt(f->tree->root);
	loop_run(f->loop);
	assert_int_equal(waited.wake, AGENT_WAKE_user);
	assert_int_equal(waited.count, 2);
}

static void removing_an_agent_wakes_its_waiters(void **state)
{
	struct fixture *f = *state;
	struct agent *reader = launch(f->tree->root, "a"), *target = launch(f->tree->root, "b");
	struct waited waited = {.loop = f->loop};
	struct agent_wait_options options = {
		.waiter = reader, .target = target, .timeout_ms = 1800000, .on_end = on_wait_end, .self = &waited};
	assert_non_null(agent_wait_start(&options));
	agent_prune(target);
	loop_run(f->loop);
	assert_int_equal(waited.wake, AGENT_WAKE_gone);
	assert_int_equal(waited.count, 1);
}

/* The Session's events for a Task arrive after the cancel, in order. */
static void a_start_after_a_cancel_is_ignored(void **state)
{
	struct fixture *f = *state;
	struct agent *agent = launch(f->tree->root, "a");
	agent_cancel(agent);
	agent_note_start(agent);
	assert_int_equal(agent->status, subagent_status_canceled);
	agent_end(agent, agent_outcome_canceled, STR("interrupted"));
	agent_note_start(agent);
	assert_int_equal(agent->status, subagent_status_running);
	agent_end(agent, agent_outcome_canceled, STR("interrupted"));
	assert_int_equal(agent->status, subagent_status_canceled);
}

/* A batch has a maximum size; a longer message is a batch of its own. */
static void messages_are_delivered_in_batches(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf words;
	buf_init(&words, LIMIT_AGENT_MESSAGE);
	for (size_t i = 0; i < LIMIT_AGENT_NEWS; i++)
		buf_append_char(&words, 'x');
	struct agent *agent = launch(f->tree->root, "a");
	struct str texts[] = {STR("one"), buf_str(&words), STR("two"), STR("three")};
	size_t portions[] = {1, 1, 2}, at = 0;
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(agent_post(f->tree->root, agent->id, false, texts[i], NULL), 0);
	for (; !agent_inbox_is_empty(&f->tree->root->inbox); at++) {
		struct agent_news news = {.about = agent};
		agent_take_news(f->tree->root, &news);
		assert_int_equal(news.count, portions[at]);
		agent_news_finish(&news);
	}
	assert_int_equal(at, 3);
}

/* ---- watchdogs ---- */

static void a_watchdog_waits_for_its_ping_to_be_read(void **state)
{
	struct fixture *f = *state;
	enum agent_watchdog_action action;
	struct agent *child = launch(f->tree->root, "a");
	assert_int_equal(agent_watchdog_start(f->tree->root, child, 30, STR("ping"), &action, NULL), 0);
	assert_int_equal(action, AGENT_WATCHDOG_started);
	struct waited waited = {.loop = f->loop};
	for (unsigned round = 0; round < 3; round++) { /* each round waits again */
		start_wait(f->tree->root, 1800, &waited);
		loop_run(f->loop);
	}
	assert_int_equal(child->inbox.regular_count, 1);
	agent_message_destroy(agent_take(child));
	start_wait(f->tree->root, 1800, &waited);
	loop_run(f->loop);
	assert_int_equal(child->inbox.regular_count, 1);
	assert_int_equal(agent_watchdog_start(f->tree->root, child, 30, STR("other"), &action, NULL), 0);
	assert_int_equal(action, AGENT_WATCHDOG_replaced);
	assert_int_equal(agent_watchdog_cancel(f->tree->root, child), AGENT_WATCHDOG_canceled);
	assert_int_equal(agent_watchdog_cancel(f->tree->root, child), AGENT_WATCHDOG_not_found);
}

static void watchdogs_are_limited_and_go_with_their_agent(void **state)
{
	struct fixture *f = *state;
	struct error err;
	enum agent_watchdog_action action;
	struct agent *agents[LIMIT_AGENT_WATCHDOGS + 1];
	for (size_t i = 0; i <= LIMIT_AGENT_WATCHDOGS; i++) {
		agents[i] = launch(f->tree->root, "a");
		agent_end(agents[i], agent_outcome_completed, STR_NONE);
		int status = agent_watchdog_start(f->tree->root, agents[i], 300, STR("x"), &action, &err);
		assert_int_equal(status == 0, i < LIMIT_AGENT_WATCHDOGS);
	}
	agent_prune(agents[0]);
	struct agent *last = agents[LIMIT_AGENT_WATCHDOGS];
	assert_int_equal(agent_watchdog_start(f->tree->root, last, 300, STR("x"), &action, &err), 0);
}

/* ---- logs ---- */

static void query(const struct agent *agent, struct agent_log_query wish, size_t returned, bool has_more)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	buf_init(&out, 4 * MIB);
	struct json_writer w = json_writer(&out);
	agent_log_write(&agent->log, agent->session_id, &wish, &w);
	const struct json *answer = json_parse(&arena, buf_str(&out), NULL);
	assert_non_null(answer);
	assert_int_equal(json_get_i64(answer, "returned", -1), returned);
	assert_int_equal(json_get(answer, "events")->count, returned);
	assert_int_equal(json_get_bool(answer, "more_available", !has_more), has_more);
}

static void a_log_keeps_the_latest_events(void **state)
{
	struct fixture *f = *state;
	struct agent *agent = launch(f->tree->root, "a");
	query(agent, (struct agent_log_query){.limit = 5}, 0, false);
	for (size_t i = 0; i < LIMIT_AGENT_LOG + 50; i++) {
		struct ev_warning event = {.message = STR("something")};
		agent_log_add(&agent->log, event_create(STR("1"), EV_warning, &event));
	}
	query(agent, (struct agent_log_query){.limit = 5}, 5, true);
	query(agent, (struct agent_log_query){.limit = 1000}, LIMIT_AGENT_LOG, false);
	query(agent, (struct agent_log_query){.limit = 1000, .max_bytes = 2}, 0, true);
	query(agent, (struct agent_log_query){.limit = 1000, .has_before = true}, 0, false);
	query(agent, (struct agent_log_query){.limit = 7, .has_since = true}, 7, true);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		T(a_launch_emits_its_events_in_order),
		T(the_agent_that_was_started_first_is_unloaded_first),
		T(an_agent_with_unread_messages_is_not_unloaded),
		T(a_quiet_message_keeps_no_agent_loaded),
		T(numbers_are_not_used_again),
		T(places_and_depth_are_limited),
		T(a_completion_reaches_the_parent_after_the_status),
		T(a_pause_is_no_end),
		T(cancel_takes_those_below_along),
		T(the_header_is_the_first_bold_of_the_work),
		T(interrupts_go_first_and_all_is_counted),
		T(an_inbox_is_bounded_but_ends_always_fit),
		T(a_wait_ends_with_the_first_news),
		T(a_wait_runs_out_or_gives_way_to_the_user),
		T(removing_an_agent_wakes_its_waiters),
		T(a_start_after_a_cancel_is_ignored),
		T(messages_are_delivered_in_batches),
		T(a_watchdog_waits_for_its_ping_to_be_read),
		T(watchdogs_are_limited_and_go_with_their_agent),
		T(a_log_keeps_the_latest_events),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
