/* Which request an answer takes off the list of a session, and the line by which others learn of it. */
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "temp.h"
#include "test.h"

#include "attach/attach_find.h"
#include "attach/attach_frame.h"
#include "attach/attach_point.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "loop/loop.h"
#include "protocol/message/message.h"
#include "server/session_facts.h"

static int setup(void **state)
{
	static struct session_facts facts;
	session_facts_init(&facts);
	*state = &facts;
	return 0;
}

static int teardown(void **state)
{
	session_facts_finish(*state);
	return 0;
}

static void take(struct session_facts *facts, const char *task, enum event_tag tag, const void *body, uint64_t seq)
{
	struct event *event = event_create(str_of(task), tag, body);
	assert_true(session_facts_on_event(facts, event, seq));
	event_destroy(event);
}

static void command(struct session_facts *facts, const char *task, const char *call, uint64_t seq)
{
	take(facts, task, EV_exec_approval_request, &(struct ev_exec_approval){.call_id = str_of(call)}, seq);
}

static void patch(struct session_facts *facts, const char *task, const char *call, uint64_t seq)
{
	take(facts, task, EV_apply_patch_approval_request, &(struct ev_patch_approval){.call_id = str_of(call)}, seq);
}

static struct op approve(const char *id)
{
	static struct review_decision decision = {.tag = review_decision_approved};
	static struct op_exec_approval body;
	body = (struct op_exec_approval){.id = str_of(id), .decision = &decision};
	return (struct op){.tag = OP_exec_approval, .exec_approval = &body};
}

static void expect_open(const struct session_facts *facts, const char *seqs)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out, text;
	buf_init(&out, LIMIT_LINE);
	buf_init(&text, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	session_facts_write(facts, &w);
	jw_object_end(&w);
	const struct json *list = json_get(json_parse(&arena, buf_str(&out), NULL), "waiting_seq");
	json_for_each(it, list) {
		int64_t seq;
		assert_true(json_to_i64(it, &seq));
		buf_printf(&text, "%lld ", (long long)seq);
	}
	assert_true(str_is(buf_str(&text), seqs));
}

static void an_answer_that_several_agents_match_takes_none(void **state)
{
	uint64_t peer;
	struct op op = approve("c");
	command(*state, "a", "c", 1);
	patch(*state, "b", "c", 2); /* for the engine both are approvals */
	assert_false(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 2 ");
	op = approve("b");
	assert_true(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 ");
}

static void the_task_means_its_oldest_approval_of_either_sort(void **state)
{
	uint64_t peer;
	struct op op = approve("a");
	patch(*state, "a", "d", 1);
	command(*state, "a", "c", 2);
	take(*state, "a", EV_request_user_input, &(struct ev_request_user_input){.call_id = STR("q")}, 3);
	assert_true(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "2 3 ");
	op = approve("q");
	assert_false(session_facts_on_op(*state, &op, &peer));
}

static void the_id_of_a_call_counts_before_that_of_a_task(void **state)
{
	uint64_t peer;
	struct op op = approve("a");
	command(*state, "a", "c", 1);
	command(*state, "a", "a", 2);
	assert_true(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 ");
}

static void an_end_elsewhere_takes_the_request_of_its_task(void **state)
{
	command(*state, "a", "c", 1);
	command(*state, "b", "c", 2);
	command(*state, "d", "c", 3);
	take(*state, "b", EV_exec_command_end, &(struct ev_exec_end){.call_id = STR("c")}, 4);
	expect_open(*state, "1 3 ");
	assert_true(session_facts_on_answer(*state, &(struct attach_answered){STR("c"), STR("d"), 0}));
	assert_false(session_facts_on_answer(*state, &(struct attach_answered){STR("c"), STR("d"), 0}));
	expect_open(*state, "1 ");
	assert_true(session_facts_on_answer(
		*state, &(struct attach_answered){STR("c"), STR_NONE, 0})); /* from an earlier version */
	expect_open(*state, "");
}

static void a_seq_names_one_request(void **state)
{
	struct op op = approve("c");
	command(*state, "a", "c", 1);
	command(*state, "a", "e", 2);
	assert_true(session_facts_has_open(*state, 1, &op));
	assert_false(session_facts_has_open(*state, 2, &op));
	assert_false(session_facts_has_open(*state, 3, &op));
	op = approve("d");
	assert_false(session_facts_has_open(*state, 1, &op));
	op = approve("a"); /* the Task: the engine takes it for the oldest */
	assert_true(session_facts_has_open(*state, 1, &op));
	assert_false(session_facts_has_open(*state, 2, &op));
	command(*state, "b", "c", 4); /* of another agent: the engine ignores the answer */
	op = approve("c");
	assert_false(session_facts_has_open(*state, 1, &op));
	assert_false(session_facts_has_open(*state, 4, &op));
}

static void the_end_of_a_turn_keeps_requests_of_other_turns(void **state)
{
	struct session_facts *facts = *state;
	take(facts, "main", EV_task_started, &(struct ev_task_started){0}, 1);
	command(facts, "main", "c", 2);
	command(facts, "", "c", 3);
	command(facts, "agent", "c", 4);
	take(facts, "main", EV_task_complete, &(struct ev_task_complete){0}, 5);
	expect_open(facts, "4 ");
	assert_string_equal(session_facts_state(facts), "blocked");
	take(facts, "other", EV_turn_aborted, &(struct ev_turn_aborted){0}, 6);
	expect_open(facts, "4 ");
	take(facts, "agent", EV_turn_aborted, &(struct ev_turn_aborted){0}, 7);
	expect_open(facts, "");
	assert_string_equal(session_facts_state(facts), "idle");
}

static void permissions_answer_the_question_of_their_call(void **state)
{
	uint64_t peer;
	struct permissions_answer grant = {.permissions = STR("{}")};
	struct op_request_permissions_response body = {STR("c\"1"), &grant};
	struct op op = {.tag = OP_request_permissions_response, .request_permissions_response = &body};
	struct ev_elicitation_request event = {.server_name = STR("s"), .id = STR("\"c\\\"1\"")};
	take(*state, "a", EV_elicitation_request, &event, 1); /* a server's: it has the same id */
	event.server_name = STR("");
	take(*state, "a", EV_elicitation_request, &event, 2);
	event.id = STR("\"d\"");
	take(*state, "a", EV_elicitation_request, &event, 3);
	assert_true(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 3 ");
	assert_false(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 3 ");
	body.id = STR("a"); /* the Task: not accepted for elicitations */
	assert_false(session_facts_on_op(*state, &op, &peer));
	expect_open(*state, "1 3 ");
}

static void an_answered_line_names_the_task(void **state)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf line;
	struct attach_answered answered;
	struct event *event =
		event_create(STR("a"), EV_exec_approval_request, &(struct ev_exec_approval){.call_id = STR("c")});
	(void)state;
	buf_init(&line, LIMIT_LINE);
	attach_answered_write(event, 7, &line);
	assert_true(attach_answered_read(buf_str(&line), &arena, &answered));
	assert_true(str_is(answered.request, "c") && str_is(answered.task, "a") && answered.seq == 7);
	assert_true(attach_answered_read(STR("{\"answered\":\"c\"}"), &arena, &answered));
	assert_true(str_is(answered.request, "c") && !answered.task.ptr && !answered.seq);
	event_destroy(event);
}

static void a_number_there_names_the_request_here(void **state)
{
	struct session_facts *facts = *state;
	struct op op = approve("c");
	uint64_t peer;
	facts->peer = 8;
	command(facts, "a", "c", 1);
	facts->peer = 9;
	command(facts, "a", "c", 2);
	assert_true(session_facts_on_answer(facts, &(struct attach_answered){STR("c"), STR("a"), 9}));
	expect_open(facts, "1 ");
	assert_false(session_facts_on_answer(facts, &(struct attach_answered){STR("c"), STR("a"), 9}));
	assert_true(session_facts_on_op(facts, &op, &peer));
	assert_int_equal(peer, 8);
}

/* An attached session with requests of these Tasks, all under the call id "c". Their askers are the names. */
static struct attach_point *point_asking(struct loop *loop, const char *const *tasks, size_t count)
{
	static const struct attach_owner owner = {0};
	struct attach_point *point = attach_point_create(loop, NULL, "exec", &owner, NULL);
	for (size_t i = 0; i < count; i++) {
		struct ev_exec_approval body = {.call_id = STR("c")};
		struct event *event = event_create(str_of(tasks[i]), EV_exec_approval_request, &body);
		struct attach_asker asker = {.self = (void *)(uintptr_t)tasks[i]};
		assert_int_equal(attach_point_event(point, event, &asker), i + 1);
		event_destroy(event);
	}
	return point;
}

/* names: the id by which the Op names its request afterwards. */
static void expect_pending(struct attach_point *point, const char *answered, uint64_t seq, const char *names,
                           size_t left)
{
	const struct event *first;
	uint64_t number;
	struct op op = approve(answered);
	assert_true(attach_point_answer(point, &op, seq) == (names != NULL));
	assert_true(!names || str_is(op.exec_approval->id, names));
	assert_int_equal(attach_point_pending(point, &first, &number), left);
}

static void an_attached_session_keeps_requests_whose_answer_the_engine_ignores(void **state)
{
	struct error err;
	struct loop *loop = loop_create(&err);
	struct attach_point *point = point_asking(loop, (const char *const[]){"a", "b"}, 2);
	(void)state;
	expect_pending(point, "c", 0, "c", 2);
	expect_pending(point, "b", 0, "b", 1);
	expect_pending(point, "c", 0, "c", 0);
	expect_pending(point, "c", 0, NULL, 0);
	attach_point_destroy(point);
	loop_destroy(loop);
}

static void an_attached_session_takes_an_answer_for_the_request_with_its_number_alone(void **state)
{
	struct error err;
	struct loop *loop = loop_create(&err);
	struct attach_point *point = point_asking(loop, (const char *const[]){"a", "b", "b"}, 3);
	(void)state;
	expect_pending(point, "c", 3, NULL, 3); /* the engine would take it for the one before */
	expect_pending(point, "c", 2, "b", 2);  /* not for that of the other agent */
	expect_pending(point, "c", 2, NULL, 2); /* it is too late */
	expect_pending(point, "c", 4, NULL, 2);
	expect_pending(point, "c", 1, "a", 1);
	expect_pending(point, "c", 3, "c", 0);
	attach_point_destroy(point);
	loop_destroy(loop);
}

static void an_attached_session_drops_the_requests_that_have_expired(void **state)
{
	struct error err;
	struct loop *loop = loop_create(&err);
	struct attach_point *point = point_asking(loop, (const char *const[]){"b", "b", "a", "b"}, 4);
	const struct event *first;
	uint64_t number;
	(void)state;
	struct ev_request_user_input_expired body = {.call_id = STR("c"), .turn_id = STR("b")};
	struct event *event = event_create(STR("b"), EV_request_user_input_expired, &body);
	assert_int_equal(attach_point_event(point, event, &(struct attach_asker){0}), 0);
	event_destroy(event);
	assert_int_equal(attach_point_pending(point, &first, &number), 1);
	assert_int_equal(number, 3);
	attach_point_destroy(point);
	loop_destroy(loop);
}

static void an_attached_session_withdraws_the_request_of_its_asker(void **state)
{
	static const char tasks[][2] = {"a", "a", "b"}; /* two askers with equal Tasks */
	struct error err;
	struct loop *loop = loop_create(&err);
	struct attach_point *point =
		point_asking(loop, (const char *const[]){tasks[0], tasks[1], tasks[2], tasks[2]}, 4);
	const struct event *first;
	uint64_t number;
	(void)state;
	attach_point_withdraw(point, STR("c"), tasks[1]);
	attach_point_withdraw(point, STR("c"), tasks[1]);
	assert_int_equal(attach_point_pending(point, &first, &number), 3);
	assert_int_equal(number, 1);
	attach_point_withdraw(point, STR("c"), tasks[0]);
	attach_point_withdraw(point, STR("c"), tasks[2]);
	assert_int_equal(attach_point_pending(point, &first, &number), 1);
	assert_int_equal(number, 4);
	attach_point_destroy(point);
	loop_destroy(loop);
}

static void an_answer_to_a_later_question_of_a_task_is_named_by_its_call(void **state)
{
	struct error err;
	struct loop *loop = loop_create(&err);
	struct attach_point *point = point_asking(loop, NULL, 0);
	struct op_user_input_answer body = {.id = STR("a")};
	struct op op = {.tag = OP_user_input_answer, .user_input_answer = &body};
	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct ev_request_user_input asked = {.call_id = i ? STR("second") : STR("first"), .turn_id = STR("a")};
		struct event *event = event_create(STR("a"), EV_request_user_input, &asked);
		attach_point_event(point, event, &(struct attach_asker){0});
		event_destroy(event);
	}
	assert_true(attach_point_answer(point, &op, 2));
	assert_true(str_is(body.id, "second"));
	body.id = STR("a");
	assert_true(attach_point_answer(point, &op, 1));
	assert_true(str_is(body.id, "a"));
	attach_point_destroy(point);
	loop_destroy(loop);
}

/* The owner of a session with a socket. */
struct guest_case {
	struct loop *loop;
	struct attach_point *point;
	uint64_t answered;
	void *asker;
};

/* As owners do: they withdraw the oldest request of the asker with this id, which is the answered one in their lists.
 */
static void on_answered(const struct event *request, uint64_t seq, void *asker, void *self)
{
	struct guest_case *it = self;
	it->answered = seq;
	attach_point_withdraw(it->point, attach_request_id(request), asker);
}

static int submit(struct str id, const struct op *op, void *asker, void *self, struct error *err)
{
	struct guest_case *it = self;
	(void)id;
	(void)op;
	(void)err;
	it->asker = asker;
	loop_stop(it->loop);
	return 0;
}

static void on_count(size_t count, void *self)
{
	(void)count;
	(void)self;
}

static int send_as_guest(const char *home, struct str line)
{
	auto_free char *path = attach_path(home, STR("s"));
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(strlen(path) < sizeof(address.sun_path));
	strcpy(address.sun_path, path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, line.ptr, line.len), (ssize_t)line.len);
	return fd;
}

static void put(struct guest_case *it, enum event_tag tag, const void *body, void *asker)
{
	struct event *event = event_create(STR("a"), tag, body);
	attach_point_event(it->point, event, &(struct attach_asker){.self = asker});
	event_destroy(event);
}

static void an_answer_of_a_guest_takes_one_request_and_names_its_asker(void **state)
{
	static const struct attach_owner owner = {.submit = submit, .on_answered = on_answered, .on_count = on_count};
	struct error err;
	struct guest_case it = {.loop = loop_create(&err)};
	struct ev_session_configured configured = {.session_id = STR("s")};
	struct ev_exec_approval asked = {.call_id = STR("c")};
	const struct event *first;
	uint64_t number;
	(void)state;
	assert_int_equal(temp_make(NULL), 0);
	it.point = attach_point_create(it.loop, temp_root, "exec", &owner, &it);
	put(&it, EV_session_configured, &configured, NULL);
	put(&it, EV_exec_approval_request, &asked, &it.answered);
	put(&it, EV_exec_approval_request, &asked, &it.asker);
	int fd = send_as_guest(temp_root, STR("{\"id\":\"1\",\"op\":{\"type\":\"exec_approval\",\"id\":\"c\","
	                                      "\"decision\":\"approved\"}}\n"));
	loop_run(it.loop);
	assert_int_equal(it.answered, 1);
	assert_ptr_equal(it.asker, &it.answered);
	assert_int_equal(attach_point_pending(it.point, &first, &number), 1);
	assert_int_equal(number, 2);
	close(fd);
	attach_point_destroy(it.point);
	loop_destroy(it.loop);
	temp_remove(NULL);
}

int main(void)
{
#define FACTS_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		FACTS_TEST(an_answer_that_several_agents_match_takes_none),
		FACTS_TEST(the_task_means_its_oldest_approval_of_either_sort),
		FACTS_TEST(the_id_of_a_call_counts_before_that_of_a_task),
		FACTS_TEST(an_end_elsewhere_takes_the_request_of_its_task),
		FACTS_TEST(a_seq_names_one_request),
		FACTS_TEST(the_end_of_a_turn_keeps_requests_of_other_turns),
		FACTS_TEST(permissions_answer_the_question_of_their_call),
		FACTS_TEST(an_answered_line_names_the_task),
		FACTS_TEST(an_answer_of_a_guest_takes_one_request_and_names_its_asker),
		FACTS_TEST(an_attached_session_withdraws_the_request_of_its_asker),
		FACTS_TEST(an_attached_session_drops_the_requests_that_have_expired),
		FACTS_TEST(an_answer_to_a_later_question_of_a_task_is_named_by_its_call),
		FACTS_TEST(a_number_there_names_the_request_here),
		FACTS_TEST(an_attached_session_takes_an_answer_for_the_request_with_its_number_alone),
		FACTS_TEST(an_attached_session_keeps_requests_whose_answer_the_engine_ignores),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
