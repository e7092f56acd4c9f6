/* Input during a task, continuation from earlier responses, and the size of requests. */
#include "test.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include "base/file.h"
#include "engine_fixture.h"

/* ---- while a task runs ---- */

/* The scripted model reads the request when the loop runs next. */
static void open_gate(struct fixture *f, const char *name)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
	                              .sin_port = htons(mock_model_port(f->mock)),
	                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	auto_free char *request =
		xasprintf("POST /v1/gate/%s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n", name);
	auto_close int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(send(fd, request, strlen(request), 0), strlen(request));
}

static void input_takes_the_place_of_a_running_task(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"hang\":true}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"beta-2\"],\"lacks\":\"turn_aborted\"},"
	      "\"reply\":[{\"message\":\"fine\"}]}",
	      NULL);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	expect_log(f, FIRST " item_started turn_aborted " TASK " " SPOKE " task_complete");
	expect_emitted(f, "\"reason\":\"replaced\"");
	expect_fit(f, 2);
}

static void input_joins_a_running_task_where_that_is_wanted(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"gate\":\"go\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-1.content.0.text\":\"beta-2\",\"input.-2.content.0.text\":\"half\"}},"
	      "\"reply\":[{\"message\":\"fine\"}]}",
	      "on_input_while_running=\"steer\"");
	configure(f);
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	say(f, "beta-2");
	run_until(f, "item_completed", 1);
	open_gate(f, "go");
	run_until(f, "task_complete", 1);
	assert_false(was_told(f, "turn_aborted"));
	expect_fit(f, 2);
}

static void a_submission_decides_for_itself(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"gate\":\"go\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-1.content.0.text\":\"beta-2\"}},"
	      "\"reply\":[{\"delta\":\"two\"},{\"hang\":true}]}\n"
	      "{\"reply\":[{\"message\":\"three\"}]}",
	      "on_input_while_running=\"replace\"");
	configure(f);
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	submit(f, "{\"type\":\"user_input\",\"mode\":\"steer\",\"items\":[{\"type\":\"text\",\"text\":\"beta-2\"}]}");
	run_until(f, "item_completed", 1);
	open_gate(f, "go");
	run_until(f, "agent_message_content_delta", 1);
	assert_false(was_told(f, "turn_aborted"));
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_emitted(f, "\"reason\":\"replaced\"");
	submit(f, "{\"type\":\"user_input\",\"mode\":\"steer\",\"last_response_id\":\"resp_1\",\"items\":[]}");
	run_until(f, "error", 1);
	expect_emitted(f, "omit mode or last_response_id");
	expect_fit(f, 3);
}

static void a_submission_overrides_the_mode_of_the_front_end(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"gate\":\"go\"}]}\n"
	      "{\"reply\":[{\"delta\":\"two\"},{\"hang\":true}]}\n"
	      "{\"reply\":[{\"message\":\"three\"}]}",
	      NULL);
	codex_close(f->codex);
	f->steers = true;
	open_codex(f);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	say(f, "beta-2");
	run_until(f, "item_completed", 1);
	open_gate(f, "go");
	run_until(f, "agent_message_content_delta", 1);
	assert_false(was_told(f, "turn_aborted"));
	submit(f, "{\"type\":\"user_input\",\"mode\":\"replace\","
	          "\"items\":[{\"type\":\"text\",\"text\":\"gamma-3\"}]}");
	run_until(f, "task_complete", 1);
	expect_emitted(f, "\"reason\":\"replaced\"");
	expect_fit(f, 3);
}

/* Submits beta-2 at event number say_at, and approves the command. */
static void interject(struct fixture *f, const struct event *event)
{
	if (f->events == f->say_at)
		say(f, "beta-2");
	if (event->msg.tag == EV_exec_approval_request)
		submit(f, "{\"type\":\"exec_approval\",\"id\":\"c1\",\"decision\":\"approved\"}");
}

/* One task with reasoning, an approval, a command and an answer; returns its number of events. */
static size_t play_task(struct fixture *f, size_t say_at)
{
	open_codex(f);
	buf_clear(&f->wire);
	f->hook = interject;
	f->events = 0;
	f->say_at = say_at;
	configure(f);
	say(f, "alpha-1");
	run_until_idle(f);
	codex_close(steal(f->codex));
	return f->events;
}

/* The model receives the input at any time: during a stream, at its end, during an approval, during a command, between
 * two turns, and directly after the task. */
static void check_that_input_is_heard(struct fixture *f, const char *config)
{
	start(f,
	      "{\"when\":{\"contains\":\"beta-2\"},\"reply\":[{\"message\":\"heard-it\"}],\"times\":\"forever\"}\n"
	      "{\"when\":{\"contains\":\"function_call_output\"},"
	      "\"reply\":[{\"message\":\"one\"}],\"times\":\"forever\"}\n"
	      "{\"reply\":[{\"reasoning\":\"hm\"},{\"message\":\"Look.\"},{\"call\":\"exec_command\","
	      "\"arguments\":{\"cmd\":\"echo he-llo\"},\"call_id\":\"c1\"}],\"times\":\"forever\"}",
	      config);
	codex_close(steal(f->codex));
	size_t events = play_task(f, 0);
	assert_false(was_told(f, "heard-it"));
	assert_true(events > 15);
	for (size_t at = 1; at <= events; at++) {
		play_task(f, at);
		if (!was_told(f, "heard-it"))
			fail_msg("what was said at event %zu is lost:\n%s", at, f->wire.data);
	}
}

#define ASKS "approval_policy=\"untrusted\""

static void no_input_is_lost_that_joins(void **state)
{
	struct fixture *f = *state;
	f->steers = true;
	check_that_input_is_heard(f, ASKS);
	assert_false(was_told(f, "replaced"));
}

static void no_input_is_lost_that_replaces(void **state)
{
	check_that_input_is_heard(*state, ASKS);
}

/* Input that was not sent yet is in the history when the session ends. */
static void input_that_waited_survives_the_end_of_the_session(void **state)
{
	struct fixture *f = *state;
	char path[4096];
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"hang\":true}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"beta-2\",\"gamma-3\"]},\"reply\":[{\"message\":\"fine\"}]}",
	      "on_input_while_running=\"steer\"");
	configure(f);
	run_until(f, "session_configured", 1);
	last_member(f, "rollout_path", path, sizeof(path));
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	say(f, "beta-2");
	run_until(f, "item_completed", 1);
	codex_close(f->codex);
	open_codex(f);
	auto_free char *op = xasprintf("{\"type\":\"configure_session\",\"resume_path\":\"%s\"}", path);
	submit(f, op);
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
}

/* ---- forks ---- */

static void fork_at(struct fixture *f, const char *response_id, const char *text)
{
	auto_free char *op = xasprintf("{\"type\":\"user_input\",\"last_response_id\":\"%s\","
	                               "\"items\":[{\"type\":\"text\",\"text\":\"%s\"}]}",
	                               response_id, text);
	submit(f, op);
}

static void a_task_continues_from_an_earlier_response(void **state)
{
	struct fixture *f = *state;
	char id[128];
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n{\"reply\":[{\"message\":\"two\"}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"gamma-3\"],\"lacks\":\"beta-2\"},"
	      "\"reply\":[{\"message\":\"three\"}]}",
	      NULL);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	last_member(f, "response_id", id, sizeof(id));
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	fork_at(f, "unknown", "x");
	run_until(f, "error", 1);
	expect_emitted(f, "no response `unknown`");
	fork_at(f, id, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 3);
}

/* The fork ends at the end of the turn, which includes the outputs of its calls. */
static void a_fork_inside_a_task_keeps_the_turn_whole(void **state)
{
	struct fixture *f = *state;
	char id[128], path[4096];
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"echo he-llo\"},\"call_id\":\"c1\"}]}\n"
	      "{\"reply\":[{\"message\":\"two-2\"}]}\n"
	      "{\"expect\":{\"lacks\":\"two-2\",\"path\":{\"input.-2.output\":\"he-llo\\n\","
	      "\"input.-1.content.0.text\":\"gamma-3\"}},\"reply\":[{\"message\":\"three\"}]}\n"
	      "{\"expect\":{\"lacks\":\"two-2\",\"path\":{\"input.-4.output\":\"he-llo\\n\","
	      "\"input.-3.content.0.text\":\"gamma-3\",\"input.-1.content.0.text\":\"delta-4\"}},"
	      "\"reply\":[{\"message\":\"four\"}]}",
	      NULL);
	configure(f);
	run_until(f, "session_configured", 1);
	last_member(f, "rollout_path", path, sizeof(path));
	say(f, "alpha-1");
	run_until(f, "model_turn_complete", 1);
	last_member(f, "response_id", id, sizeof(id));
	run_until(f, "task_complete", 1);
	fork_at(f, id, "gamma-3");
	run_until(f, "task_complete", 1);
	codex_close(f->codex);
	open_codex(f);
	auto_free char *op = xasprintf("{\"type\":\"configure_session\",\"resume_path\":\"%s\"}", path);
	submit(f, op);
	say(f, "delta-4");
	run_until(f, "task_complete", 1);
	expect_fit(f, 4);
}

/* Two tasks, then a resume: the session can roll back to the end of either. */
static void a_resumed_session_rolls_back_to_a_response(void **state)
{
	struct fixture *f = *state;
	char id[128], path[4096];
	start(f,
	      "{\"reply\":[{\"message\":\"one-1\"}]}\n{\"reply\":[{\"message\":\"two-2\"}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"one-1\",\"gamma-3\"],\"lacks\":[\"beta-2\",\"two-2\"]},"
	      "\"reply\":[{\"message\":\"three\"}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"gamma-3\",\"delta-4\"],\"lacks\":[\"beta-2\",\"two-2\"]},"
	      "\"reply\":[{\"message\":\"four\"}]}",
	      NULL);
	configure(f);
	run_until(f, "session_configured", 1);
	last_member(f, "rollout_path", path, sizeof(path));
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	last_member(f, "response_id", id, sizeof(id));
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	auto_free char *op = xasprintf("{\"type\":\"configure_session\",\"resume_path\":\"%s\"}", path);
	codex_close(f->codex);
	open_codex(f);
	submit(f, op);
	fork_at(f, id, "gamma-3");
	run_until(f, "task_complete", 1);
	codex_close(f->codex);
	open_codex(f);
	submit(f, op);
	say(f, "delta-4");
	run_until(f, "task_complete", 1);
	expect_fit(f, 4);
}

/* ---- providers that keep responses ---- */

#define STORED "model_providers.mock.stores_responses=true"
#define AFTER(id) "\"store\":true,\"previous_response_id\":\"" id "\""
#define SAYS(text) "\"input.0.content.0.text\":\"" text "\",\"input.1\":null"
#define STARTS_ANEW "\"equal\":{\"previous_response_id\":null,\"store\":true}"

static void a_stored_response_is_referenced_and_only_new_items_are_sent(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"expect\":{" STARTS_ANEW "},"
	      "\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"echo he-llo\"},\"call_id\":\"c1\"}]}\n"
	      "{\"expect\":{\"equal\":{" AFTER(
		      "resp_1") ",\"input.0.call_id\":\"c1\",\"input.1\":null},"
	                        "\"path\":{\"input.0.output\":\"he-llo\"}},\"reply\":[{\"message\":\"two\"}]}\n"
	                        "{\"expect\":{\"equal\":{" AFTER("resp_2") "," SAYS(
					"beta-2") "}},\"reply\":[{\"message\":\"three\"}]}\n"
	                                          "{\"expect\":{\"equal\":{" AFTER("resp_2") "," SAYS(
							  "gamma-3") "}},\"reply\":[{\"message\":\"four\"}]}",
	      STORED);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	fork_at(f, "resp_2", "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 4);
}

static void a_resumed_session_continues_from_its_stored_response(void **state)
{
	struct fixture *f = *state;
	char path[4096];
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n"
	      "{\"reply\":[{\"delta\":\"half\"},{\"hang\":true}]}\n"
	      "{\"expect\":{\"equal\":{" AFTER("resp_1") "},"
	                                                 "\"contains\":[\"beta-2\",\"gamma-3\"],\"lacks\":\"alpha-1\"},"
	                                                 "\"reply\":[{\"message\":\"three\"}]}",
	      STORED);
	configure(f);
	run_until(f, "session_configured", 1);
	last_member(f, "rollout_path", path, sizeof(path));
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	say(f, "beta-2");
	run_until(f, "agent_message_content_delta", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	codex_close(f->codex);
	open_codex(f);
	auto_free char *op = xasprintf("{\"type\":\"configure_session\",\"resume_path\":\"%s\"}", path);
	submit(f, op);
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 3);
}

static void a_response_that_only_the_provider_knows_is_passed_through(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n"
	      "{\"expect\":{\"equal\":{" AFTER(
		      "resp_theirs") "},\"contains\":\"beta-2\",\"lacks\":\"alpha-1\"},"
	                             "\"reply\":[{\"message\":\"two\"}]}\n"
	                             "{\"expect\":{\"equal\":{" AFTER("resp_2") "," SAYS(
					     "gamma-3") "}},\"reply\":[{\"message\":\"three\"}]}",
	      STORED);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	fork_at(f, "resp_theirs", "beta-2");
	run_until(f, "task_complete", 1);
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 3);
}

#define GONE                                                                                                       \
	"{\"reply\":[{\"status\":400,\"body\":{\"error\":{\"message\":\"Previous response not found.\",\"param\":" \
	"\"previous_response_id\",\"code\":\"previous_response_not_found\"}}}]}\n"

static void the_history_is_sent_again_if_the_provider_lost_the_response(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n" GONE "{\"expect\":{" STARTS_ANEW
	      ",\"contains\":[\"alpha-1\",\"beta-2\"]},\"reply\":[{\"message\":\"two\"}]}\n"
	      "{\"expect\":{\"equal\":{" AFTER("resp_3") "," SAYS("gamma-3") "}},\"reply\":[{\"message\":\"three\"}]}",
	      STORED);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	expect_emitted(f, "the whole history is sent again");
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 4);
}

static void an_unknown_response_of_the_provider_is_an_error_once(void **state)
{
	struct fixture *f = *state;
	start(f,
	      GONE "{\"expect\":{" STARTS_ANEW ",\"contains\":[\"beta-2\",\"gamma-3\"]},"
	           "\"reply\":[{\"message\":\"two\"}]}",
	      STORED);
	configure(f);
	fork_at(f, "resp_theirs", "beta-2");
	run_until(f, "task_complete", 1);
	expect_emitted(f, "previous_response_not_found");
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(input_takes_the_place_of_a_running_task),
		TEST(input_joins_a_running_task_where_that_is_wanted),
		TEST(a_submission_decides_for_itself),
		TEST(a_submission_overrides_the_mode_of_the_front_end),
		TEST(no_input_is_lost_that_joins),
		TEST(no_input_is_lost_that_replaces),
		TEST(input_that_waited_survives_the_end_of_the_session),
		TEST(a_task_continues_from_an_earlier_response),
		TEST(a_fork_inside_a_task_keeps_the_turn_whole),
		TEST(a_resumed_session_rolls_back_to_a_response),
		TEST(a_stored_response_is_referenced_and_only_new_items_are_sent),
		TEST(a_resumed_session_continues_from_its_stored_response),
		TEST(a_response_that_only_the_provider_knows_is_passed_through),
		TEST(the_history_is_sent_again_if_the_provider_lost_the_response),
		TEST(an_unknown_response_of_the_provider_is_an_error_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
