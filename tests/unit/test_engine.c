/* The engine through its public interface: Ops as JSON, Events in order, and a scripted model on the same loop that
 * reports the requests. */
#include "test.h"

#include "base/file.h"
#include "engine/codex/codex_data.h"
#include "engine/session/session.h"
#include "engine/session/conversation.h"
#include "engine_fixture.h"
#include "rollout/rollout_writer.h"

/* ---- flow ---- */

static void an_op_before_configure_is_refused(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	say(f, "hi");
	run_until(f, "error", 1);
	expect_emitted(f, "expected 'ConfigureSession' as first Op");
	configure(f);
	run_until(f, "session_configured", 1);
	expect_log(f, "error session_configured");
}

static void a_task_emits_its_events_in_order(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"echo one\"},\"call_id\":\"c1\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-1.output\":\"one\"},\"equal\":{\"input.-1.call_id\":\"c1\"}},"
	      "\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_log(f, FIRST " exec_command_begin exec_command_end model_turn_complete " SPOKE " task_complete");
	expect_fit(f, 2);
	expect_emitted(f, "\"last_agent_message\":\"done\"");
}

/* Outputs are sent in the order of the calls, not in that of their completion. */
static void outputs_keep_the_order_of_the_calls(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"while [ ! -e two ]; do sleep 0.01; "
	      "done\"},\"call_id\":\"c1\"},{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch two\"},"
	      "\"call_id\":\"c2\"},{\"call\":\"nothing\",\"arguments\":{},\"call_id\":\"c3\"}]}\n"
	      "{\"expect\":{\"equal\":{\"input.-3.call_id\":\"c1\",\"input.-2.call_id\":\"c2\",\"input.-1.call_id\":"
	      "\"c3\",\"input.-1.output\":\"unsupported call: nothing\"}},\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
}

static void commands_over_the_limit_of_concurrency_all_run(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"repeat\":40,\"steps\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"echo x >> "
	      "log\"},\"call_id\":\"c{i}\"}]}]}\n"
	      "{\"expect\":{\"equal\":{\"input.-40.call_id\":\"c1\",\"input.-1.call_id\":\"c40\"}},"
	      "\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
	auto_free char *log = temp_get(temp_path("log"));
	assert_int_equal(strlen(log), 80);
}

static void a_queue_takes_so_many_submissions_at_once(void **state)
{
	struct fixture *f = *state;
	struct error err = {0};
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	struct op op = {.tag = OP_interrupt};
	for (int i = 0; i < LIMIT_SUBMISSIONS; i++)
		assert_int_equal(codex_submit_op(f->codex, STR("i"), &op, NULL), 0);
	assert_int_equal(codex_submit_op(f->codex, STR("i"), &op, &err), -ERR_limit);
	run_until(f, "error", LIMIT_SUBMISSIONS); /* each Op is refused before configure_session */
	assert_int_equal(codex_submit_op(f->codex, STR("i"), &op, NULL), 0);
}

static size_t count_emitted(const struct fixture *f, const char *tag)
{
	size_t count = 0;
	for (const char *at = f->log.data; (at = strstr(at, tag)); at++)
		count++;
	return count;
}

/* A client may send its approval twice: the second one must not start another call with the same id, which asks for
 * an approval of its own when the first has ended. */
static void calls_with_the_same_id_are_approved_one_by_one(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch one\"},\"call_id\":\"c1\"},"
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch two\"},\"call_id\":\"c1\"},"
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"pwd\"},\"call_id\":\"c2\"}]}\n"
	      "{\"expect\":{\"equal\":{\"input.-3.call_id\":\"c1\",\"input.-2.call_id\":\"c1\",\"input.-1.call_id\":"
	      "\"c2\"}},\"reply\":[{\"message\":\"done\"}]}",
	      "approval_policy=\"untrusted\"");
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 1);
	submit(f, "{\"type\":\"exec_approval\",\"id\":\"c1\",\"decision\":\"approved\"}");
	submit(f, "{\"type\":\"exec_approval\",\"id\":\"c1\",\"decision\":\"approved\"}");
	run_until(f, "exec_approval_request", 1);
	assert_true(file_exists(temp_path("one")));
	assert_false(file_exists(temp_path("two")));
	submit(f, "{\"type\":\"exec_approval\",\"id\":\"c1\",\"decision\":\"approved\"}");
	run_until(f, "task_complete", 1);
	assert_true(file_exists(temp_path("two")));
	expect_fit(f, 2);
}

/* No command ends before the file "go" exists, and each one shows that it runs. */
static void concurrent_calls_are_limited(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"repeat\":24,\"steps\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":"
	      "\"while [ ! -e go ]; do sleep 0.02; done\",\"yield_time_ms\":30000},\"call_id\":\"c{i}\"}]}]}\n"
	      "{\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "exec_command_begin", LIMIT_TOOLS_RUNNING);
	settle(f);
	assert_int_equal(count_emitted(f, "exec_command_begin"), LIMIT_TOOLS_RUNNING);
	temp_put("go", STR(""));
	run_until(f, "task_complete", 1);
	assert_int_equal(count_emitted(f, "exec_command_begin"), 24);
	expect_fit(f, 2);
}

static void empty_input_completes_at_once(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"hang\":true}]}", NULL);
	configure(f);
	submit(f, "{\"type\":\"user_input\",\"items\":[]}");
	run_until(f, "task_complete", 1);
	expect_log(f, "session_configured task_complete");
	expect_fit(f, 0);
}

static void an_error_ends_the_task_and_the_next_task_runs(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"status\":400,\"body\":{\"error\":{\"message\":\"no such thing\"}}}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"beta-2\"]},\"reply\":[{\"message\":\"fine\"}]}",
	      NULL);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	expect_log(f, FIRST " error task_complete");
	assert_false(was_told(f, "\"last_agent_message\":\""));
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	expect_log(f, TASK " " SPOKE " task_complete");
	expect_fit(f, 2);
}

/* The call was announced and recorded, but did not run; it has one output. */
static void a_broken_stream_leaves_no_call_open(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"},"
	      "{\"eof\":true}]}\n"
	      "{\"expect\":{\"equal\":{\"input.-1.output\":\"aborted\",\"input.-1.call_id\":\"c1\","
	      "\"input.-2.call_id\":\"c1\"}},\"reply\":[{\"message\":\"again\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_log(f, FIRST " stream_error " SPOKE " task_complete");
	expect_fit(f, 2);
	assert_false(file_exists(temp_path("ran")));
}

/* ---- interrupts ---- */

/* Asserts one start and one end of the message, and the deltas between them. */
static void expect_message(struct fixture *f, const char *id, const char *deltas, const char *whole)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf grown;
	struct str rest = buf_str(&f->wire), line;
	size_t begun = 0, ended = 0;
	buf_init(&grown, MIB);
	while (str_next_line(&rest, &line)) {
		const struct json *msg = json_get(json_parse(&arena, line, NULL), "msg"), *item = json_get(msg, "item");
		struct str type = json_get_str(msg, "type");
		bool is_message = str_is(json_get_str(item, "type"), "AgentMessage");
		if (str_is(type, "agent_message_content_delta")) {
			assert_true(str_is(json_get_str(msg, "item_id"), id));
			buf_append_str(&grown, json_get_str(msg, "delta"));
		} else if (is_message) {
			assert_true(str_is(json_get_str(item, "id"), id));
			begun += str_is(type, "item_started");
			ended += str_is(type, "item_completed");
		}
	}
	assert_int_equal(begun, 1);
	assert_int_equal(ended, 1);
	assert_string_equal(grown.data, deltas);
	auto_free char *text = xasprintf("\"text\":\"%s\"}]", whole);
	expect_emitted(f, text);
	buf_clear(&f->wire);
}

static void a_retry_continues_the_item_of_the_broken_stream(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"after th\"},{\"drop\":true}]}\n"
	      "{\"reply\":[{\"delta\":\"aft\"},{\"drop\":true}]}\n"
	      "{\"reply\":[{\"message\":\"after the fix\",\"chunks\":4}]}\n"
	      "{\"reply\":[{\"delta\":\"caf\u00e9s\"},{\"eof\":true}]}\n"
	      "{\"reply\":[{\"message\":\"caf\u00e8, other words\"}]}\n",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_message(f, "msg_1_1", "after the fix", "after the fix");
	say(f, "go on");
	run_until(f, "task_complete", 1);
	expect_message(f, "msg_4_1", "caf\u00e9s\u00e8, other words", "caf\u00e8, other words");
}

/* Providers refuse an empty message in a request. */
static void an_empty_unfinished_message_does_not_enter_the_history(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"start\":true},"
	      "{\"event\":{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"id\":\"m\"}}},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"\"}},"
	      "{\"drop\":true}]}\n"
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"true\"},\"call_id\":\"c1\"}]}\n"
	      "{\"expect\":{\"equal\":{\"input.-2.call_id\":\"c1\",\"input.-3.role\":\"user\"}},"
	      "\"reply\":[{\"message\":\"done\"}]}\n",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 3);
}

static void a_delta_of_an_item_that_was_not_added_is_ignored(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"start\":true},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"item_id\":\"ghost\",\"delta\":\"boo\"}},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"delta\":\"boo\"}},"
	      "{\"event\":{\"type\":\"response.reasoning_summary_part.added\",\"item_id\":\"ghost\","
	      "\"summary_index\":0}},"
	      "{\"event\":{\"type\":\"response.reasoning_summary_text.delta\",\"item_id\":\"ghost\","
	      "\"summary_index\":0,\"delta\":\"boo\"}},"
	      "{\"event\":{\"type\":\"response.output_item.added\",\"item\":{\"type\":\"message\",\"id\":\"m\"}}},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"item_id\":\"ghost\",\"delta\":\"boo\"}},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"wo\"}},"
	      "{\"event\":{\"type\":\"response.output_text.delta\",\"delta\":\"rds\"}},"
	      "{\"event\":{\"type\":\"response.output_item.done\",\"item\":{\"type\":\"message\",\"id\":\"m\","
	      "\"content\":[{\"type\":\"output_text\",\"text\":\"words\"}]}}}]}\n",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_message(f, "m", "words", "words");
	assert_false(was_told(f, "boo"));
}

static void an_interrupt_ends_a_command(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\"},\"call_id\":\"c1\"},"
	      "{\"call\":\"apply_patch\",\"arguments\":{\"input\":\"x\"},\"call_id\":\"c2\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-4.output\":\"aborted by user after\",\"input.-3.output\":\"aborted by "
	      "user\",\"input.-2.content.0.text\":\"<turn_aborted>\",\"input.-1.content.0.text\":\"next\"}},"
	      "\"reply\":[{\"message\":\"fine\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "exec_command_begin", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	expect_emitted(f, "\"reason\":\"interrupted\"");
	buf_clear(&f->log);
	say(f, "next");
	run_until(f, "task_complete", 1);
	expect_log(f, TASK " " SPOKE " task_complete");
	expect_fit(f, 2);
}

static void an_interrupt_ends_a_stream(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"},"
	      "{\"delta\":\"half\"},{\"hang\":true}]}\n"
	      "{\"expect\":{\"path\":{\"input.-3.output\":\"aborted by user\"}},\"reply\":[{\"message\":\"fine\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "agent_message_content_delta", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	expect_log(f, FIRST " item_started turn_aborted");
	say(f, "next");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
	assert_false(file_exists(temp_path("ran")));
}

/* The interrupt takes effect before the calls of a completed response start. */
static void an_interrupt_before_the_calls_leaves_none_open(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "token_count", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	settle(f);
	assert_false(was_told(f, "exec_command_begin") && !was_told(f, "exec_command_end"));
	submit(f, "{\"type\":\"shutdown\"}");
	run_until(f, "shutdown_complete", 1);
}

static void an_interrupt_ends_the_wait_for_a_retry(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"delta\":\"x\"},{\"eof\":true}],\"times\":\"forever\"}",
	      "model_providers.mock.stream_max_retries=100");
	configure(f);
	say(f, "go");
	run_until(f, "stream_error", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	settle(f);
	expect_fit(f, 1);
}

/* ---- settings ---- */

static void configure_twice_aborts_and_keeps_the_history(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"delta\":\"half\"},{\"hang\":true}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"beta-2\"],\"equal\":{\"model\":\"other\"}},"
	      "\"reply\":[{\"message\":\"fine\"}]}",
	      NULL);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "agent_message_content_delta", 1);
	submit(f, "{\"type\":\"configure_session\",\"model\":\"other\"}");
	run_until(f, "session_configured", 1);
	expect_log(f, FIRST " item_started turn_aborted session_configured");
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
}

static void a_refused_configuration_changes_nothing(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"expect\":{\"equal\":{\"instructions\":\"first-4\"}},\"reply\":[{\"message\":\"ok\"}]}",
	      "personality=\"none\"");
	submit(f, "{\"type\":\"configure_session\",\"base_instructions\":\"first-4\"}");
	run_until(f, "session_configured", 1);
	submit(f, "{\"type\":\"configure_session\",\"base_instructions\":\"second-5\",\"provider\":{\"name\":7}}");
	run_until(f, "error", 1);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 1);
}

static void overridden_settings_hold_for_later_tasks(void **state)
{
	struct fixture *f = *state;
	auto_free char *sub = xstrdup(temp_path("sub"));
	assert_int_equal(dir_make(sub, 0700, NULL), 0);
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n"
	      "{\"expect\":{\"equal\":{\"reasoning.effort\":\"high\"},\"path\":{\"input.-2.content.0.text\":\"/sub</"
	      "cwd>\"}},"
	      "\"reply\":[{\"message\":\"two\"}]}",
	      NULL);
	configure(f);
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	auto_free char *op = xasprintf("{\"type\":\"override_turn_context\",\"cwd\":\"%s\",\"effort\":\"high\"}", sub);
	submit(f, op);
	submit(f, "{\"type\":\"override_turn_context\",\"cwd\":\"/no/such/folder\"}");
	say(f, "beta-2");
	run_until(f, "task_complete", 1);
	expect_emitted(f, "cwd is not a folder: /no/such/folder");
	expect_fit(f, 2);
}

static void a_resumed_session_continues_its_history(void **state)
{
	struct fixture *f = *state;
	char path[4096], id[128], again[128];
	start(f,
	      "{\"reply\":[{\"message\":\"one\"}]}\n"
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\"},\"call_id\":\"c1\"}]}\n"
	      "{\"expect\":{\"contains\":[\"alpha-1\",\"beta-2\",\"gamma-3\"],\"equal\":{\"input.-2.call_id\":\"c1\","
	      "\"input.-2.type\":\"function_call_output\",\"input.-1.role\":\"user\"}},"
	      "\"reply\":[{\"message\":\"three\"}]}",
	      NULL);
	configure(f);
	run_until(f, "session_configured", 1);
	last_member(f, "rollout_path", path, sizeof(path));
	last_member(f, "session_id", id, sizeof(id));
	say(f, "alpha-1");
	run_until(f, "task_complete", 1);
	say(f, "beta-2");
	run_until(f, "exec_command_begin", 1);
	codex_close(f->codex); /* simulates a kill: no event ended the task */
	open_codex(f);
	buf_clear(&f->log);
	auto_free char *op = xasprintf("{\"type\":\"configure_session\",\"resume_path\":\"%s\"}", path);
	submit(f, op);
	say(f, "gamma-3");
	run_until(f, "task_complete", 1);
	last_member(f, "session_id", again, sizeof(again));
	assert_string_equal(again, id);
	expect_log(f, FIRST " " SPOKE " task_complete");
	expect_fit(f, 3);
}

/* ---- approvals ---- */

#define UNTRUSTED "approval_policy=\"untrusted\""

static void answer(struct fixture *f, const char *op, const char *call_id, const char *decision)
{
	auto_free char *text = xasprintf("{\"type\":\"%s\",\"id\":\"%s\",\"decision\":\"%s\"}", op, call_id, decision);
	submit(f, text);
}

static void an_approved_command_runs(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"printf a\"},\"call_id\":\"c1\"}]}\n"
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"printf a\"},\"call_id\":\"c2\"}]}\n"
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"printf b\"},\"call_id\":\"c3\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-1.output\":\"rejected by user\"}},\"reply\":[{\"message\":\"done\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 1);
	expect_log(f, FIRST " exec_command_begin exec_approval_request");
	answer(f, "exec_approval", "c1", "approved_for_session");
	run_until(f, "exec_approval_request", 1); /* the approval does not cover c2, which is the same command */
	expect_log(f, "exec_command_end model_turn_complete exec_command_begin exec_command_end "
	              "model_turn_complete exec_command_begin exec_approval_request");
	answer(f, "exec_approval", "c3", "denied");
	run_until(f, "task_complete", 1);
	expect_log(f, "exec_command_end model_turn_complete " SPOKE " task_complete");
	expect_fit(f, 4);
}

static void an_aborted_question_interrupts_the_task(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"},"
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c2\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 2);
	answer(f, "exec_approval", "c2", "abort");
	answer(f, "exec_approval", "c1", "approved"); /* sent after the abort */
	run_until(f, "turn_aborted", 1);
	settle(f);
	expect_fit(f, 1);
	assert_false(file_exists(temp_path("ran")));
}

/* A later identical command requires approval again. */
static void an_answer_after_the_abort_of_another_question_has_no_effect(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"},"
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch also\"},\"call_id\":\"c2\"}]}\n"
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c3\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 2);
	const struct review_decision for_session = {.tag = review_decision_approved_for_session};
	answer(f, "exec_approval", "c2", "abort");
	assert_false(codex_answer(f->codex, EV_exec_approval_request, STR("c1"), &for_session));
	answer(f, "exec_approval", "c1", "approved_for_session");
	run_until(f, "turn_aborted", 1);
	say(f, "again");
	run_until(f, "exec_approval_request", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	run_until(f, "turn_aborted", 1);
	settle(f);
	assert_false(file_exists(temp_path("ran")));
}

static void an_answer_is_taken_while_the_submission_queue_is_full(void **state)
{
	struct fixture *f = *state;
	const struct review_decision approved = {.tag = review_decision_approved};
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"}]}\n"
	      "{\"reply\":[{\"message\":\"done\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 1);
	for (int i = 0; i < LIMIT_SUBMISSIONS; i++)
		submit(f, "{\"type\":\"list_custom_prompts\"}");
	assert_true(codex_answer(f->codex, EV_exec_approval_request, STR("c1"), &approved));
	assert_false(
		/* false, because the request was answered */
		codex_answer(f->codex, EV_exec_approval_request, STR("c1"), &approved));
	run_until(f, "task_complete", 1);
	assert_true(file_exists(temp_path("ran")));
}

/* An interrupt that was submitted before the answer takes effect first. */
static void an_answer_is_ordered_after_earlier_submissions(void **state)
{
	struct fixture *f = *state;
	const struct review_decision approved = {.tag = review_decision_approved};
	start(f, "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"touch ran\"},\"call_id\":\"c1\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	assert_false(codex_answer(f->codex, EV_exec_approval_request, STR("c1"), &approved));
	run_until(f, "turn_aborted", 1);
	settle(f);
	assert_false(file_exists(temp_path("ran")));
}

static void an_interrupt_ends_a_pending_question(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"shell_command\",\"arguments\":{\"command\":\"touch ran\"},\"call_id\":\"c1\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "exec_approval_request", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	answer(f, "exec_approval", "c1", "approved");
	run_until(f, "turn_aborted", 1);
	submit(f, "{\"type\":\"shutdown\"}");
	say(f, "too late");
	run_until(f, "shutdown_complete", 1);
	settle(f);
	expect_log(f, FIRST " exec_command_begin exec_approval_request exec_command_end "
	                    "turn_aborted shutdown_complete");
	assert_false(file_exists(temp_path("ran")));
}

#define PATCH(id)                                                                                       \
	"{\"reply\":[{\"custom\":\"apply_patch\",\"call_id\":\"" id "\",\"input\":\"*** Begin Patch\\n" \
	"*** Add File: new.txt\\n+" id "\\n*** End Patch\\n\"}]}\n"

static void a_patch_requests_one_approval_per_file(void **state)
{
	struct fixture *f = *state;
	start(f,
	      PATCH("p1") PATCH("p2") PATCH("p3") "{\"expect\":{\"path\":{\"input.-1.output\":\"Success\"}},\"reply\":["
	                                          "{\"message\":\"done\"}]}",
	      UNTRUSTED);
	configure(f);
	say(f, "go");
	run_until(f, "apply_patch_approval_request", 1);
	assert_false(file_exists(temp_path("new.txt")));
	answer(f, "patch_approval", "p1", "denied");
	run_until(f, "apply_patch_approval_request", 1);
	assert_false(file_exists(temp_path("new.txt")));
	answer(f, "patch_approval", "p2", "approved_for_session");
	run_until(f, "task_complete", 1);
	auto_free char *text = temp_get(temp_path("new.txt"));
	assert_string_equal(text, "p3\n");
	expect_fit(f, 4);
}

/* ---- hostile models ---- */

static void arguments_with_nul_are_refused(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":\"{\\\"cmd\\\":\\\"touch ran\\\\u0000x\\\"}\"},"
	      "{\"call\":\"shell\",\"arguments\":\"{\\\"command\\\":[\\\"touch\\\",\\\"ran\\\\u0000\\\"]}\"}]}\n"
	      "{\"expect\":{\"path\":{\"input.-1.output\":\"NUL\",\"input.-2.output\":\"NUL\"}},"
	      "\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
	assert_false(file_exists(temp_path("ran")));
}

static void extreme_arguments_are_handled(void **state)
{
	struct fixture *f = *state;
	start(f,
	      "{\"reply\":["
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\",\"yield_time_ms\":-5,"
	      "\"max_output_tokens\":9223372036854775807}},"
	      "{\"call\":\"shell_command\",\"arguments\":{\"command\":\"echo b\",\"timeout_ms\":9223372036854775807}},"
	      "{\"call\":\"shell_command\",\"arguments\":{\"command\":\"echo c\",\"timeout_ms\":-1}},"
	      "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"echo d\",\"workdir\":\"/no/such\"}},"
	      "{\"call\":\"write_stdin\",\"arguments\":{\"session_id\":-9223372036854775808}},"
	      "{\"call\":\"view_image\",\"arguments\":{\"path\":\"/dev/zero\"}},"
	      "{\"call\":\"view_image\",\"arguments\":{\"path\":\"fifo\"}},"
	      "{\"item\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"[]\",\"call_id\":\"\"}},"
	      "{\"item\":{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{\",\"call_id\":\" \"}}]}\n"
	      "{\"expect\":{\"path\":{\"input.-9.output\":\"running with "
	      "session\",\"input.-8.output\":\"b\\n\",\"input.-7.output\":"
	      "\"c\\n\",\"input.-6.output\":\"exec_command failed\",\"input.-5.output\":\"Unknown process id\","
	      "\"input.-4.output\":\"is not a file\",\"input.-3.output\":\"is not a file\","
	      "\"input.-2.output\":\"failed to parse\",\"input.-1.output\":\"failed to parse\"}},"
	      "\"reply\":[{\"message\":\"done\"}]}",
	      NULL);
	assert_int_equal(mkfifo(temp_path("fifo"), 0600), 0);
	configure(f);
	submit(f, "{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\"text\":\"go\"},"
	          "{\"type\":\"local_image\",\"path\":\"fifo\"},{\"type\":\"local_image\",\"path\":\"/dev/zero\"}]}");
	run_until(f, "task_complete", 1);
	expect_fit(f, 2);
}

static void the_configuration_replaces_the_instructions(void **state)
{
	struct fixture *f = *state;
	auto_free char *file = xstrdup(temp_put("base.md", STR("Be kurz-7.")));
	auto_free char *more = xasprintf("model_instructions_file=\"%s\"", file);
	start(f,
	      "{\"expect\":{\"equal\":{\"instructions\":\"Be kurz-7.\"}},\"reply\":[{\"reasoning\":\"short\","
	      "\"content\":\"raw-8\"},{\"message\":\"fine\"}]}",
	      more);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	expect_fit(f, 1);
	expect_emitted(f, "short");
	assert_false(was_told(f, "raw-8")); /* show_raw_agent_reasoning is off */
}

static void a_missing_instructions_file_is_named(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"hang\":true}]}", "model_instructions_file=\"/no/such/file\"");
	configure(f);
	run_until(f, "error", 1);
	expect_emitted(f, "model_instructions_file: cannot open /no/such/file");
	expect_log(f, "error");
}

/* A project's configuration may name the file, and a command may replace it with a link. */
static void a_file_of_keys_is_no_prompt(void **state)
{
	struct fixture *f = *state;
	temp_put("home/auth.json", STR("{\"OPENAI_API_KEY\":null}"));
	temp_put("p/none", STR(""));
	assert_int_equal(symlink("../home/auth.json", temp_path("p/base.md")), 0);
	auto_free char *more = xasprintf("model_instructions_file=\"%s\"", temp_path("p/base.md"));
	start(f, "{\"reply\":[{\"message\":\"fine\"}]}", more);
	configure(f);
	run_until(f, "error", 1);
	expect_emitted(f, "is not sent to the model: it may contain keys");
	expect_fit(f, 0);
}

static void a_file_of_proc_is_no_prompt(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"message\":\"fine\"}]}", "model_instructions_file=\"/proc/self/environ\"");
	configure(f);
	run_until(f, "error", 1);
	expect_emitted(f, "is not sent to the model: it may contain keys");
}

/* ---- ends ---- */

static void a_shutdown_ends_running_work(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\"},\"call_id\":\"c1\"}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "exec_command_begin", 1);
	submit(f, "{\"type\":\"shutdown\"}");
	run_until(f, "shutdown_complete", 1);
	expect_log(f, FIRST " exec_command_begin exec_command_end turn_aborted shutdown_complete");
}

static void no_event_follows_the_shutdown(void **state)
{
	struct fixture *f = *state;
	start(f, "{\"reply\":[{\"message\":\"Hello.\"}]}", NULL);
	configure(f);
	run_until_idle(f);
	buf_clear(&f->log);
	submit(f, "{\"type\":\"list_custom_prompts\"}"); /* a worker thread handles it */
	submit(f, "{\"type\":\"shutdown\"}");
	run_until(f, "shutdown_complete", 1);
	while (loop_uv(f->loop)->active_reqs.count)
		uv_run(loop_uv(f->loop), UV_RUN_ONCE);
	settle(f);
	expect_log(f, "shutdown_complete");
}

static void a_codex_can_be_closed_in_the_middle(void **state)
{
	struct fixture *f = *state;
	start(f,
	      PATCH("p1") "{\"reply\":[{\"call\":\"view_image\",\"arguments\":{\"path\":\"new.txt\"}},"
	                  "{\"call\":\"exec_command\",\"arguments\":{\"cmd\":\"sleep 600\"}},"
	                  "{\"call\":\"shell_command\",\"arguments\":{\"command\":\"sleep 600\"}}]}",
	      NULL);
	configure(f);
	say(f, "go");
	run_until(f, "exec_command_begin", 1);
	submit(f, "{\"type\":\"interrupt\"}");
	codex_close(steal(f->codex));
	open_codex(f);
	codex_close(steal(f->codex));
}

/* ---- the record ---- */

/* Each of the two items fits into a line, but not both into the line of a compaction. */
static void a_history_too_long_for_its_line_is_not_recorded_and_reported(void **state)
{
	struct fixture *f = *state;
	auto_buf struct buf item, file;
	start(f, "{\"reply\":[{\"message\":\"done\"}]}", NULL);
	configure(f);
	say(f, "go");
	run_until(f, "task_complete", 1);
	buf_init(&item, LIMIT_ROLLOUT_LINE);
	buf_append_c(&item, "{\"type\":\"x\",\"text\":\"");
	while (item.len < LIMIT_ROLLOUT_LINE / 2)
		buf_append_c(&item, "0123456789abcdefghijklmnopqrstuvwxyz0123456789abcdefghijklmnopqrstuvwxyz");
	buf_append_c(&item, "\"}");
	context_append(&f->codex->session->conversation.context, buf_str(&item));
	context_append(&f->codex->session->conversation.context, buf_str(&item));
	conversation_record_history(&f->codex->session->conversation, STR("summary"));
	settle(f);
	assert_non_null(strstr(f->wire.data, "A `compacted` line of this session's file would exceed 128 MiB"));
	buf_init(&file, 16 * MIB);
	assert_int_equal(file_read(rollout_writer_path(f->codex->session->rollout), &file, NULL), 0);
	assert_null(strstr(file.data, "compacted"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_history_too_long_for_its_line_is_not_recorded_and_reported),
		TEST(an_op_before_configure_is_refused),
		TEST(a_task_emits_its_events_in_order),
		TEST(outputs_keep_the_order_of_the_calls),
		TEST(commands_over_the_limit_of_concurrency_all_run),
		TEST(calls_with_the_same_id_are_approved_one_by_one),
		TEST(a_queue_takes_so_many_submissions_at_once),
		TEST(concurrent_calls_are_limited),
		TEST(empty_input_completes_at_once),
		TEST(an_error_ends_the_task_and_the_next_task_runs),
		TEST(a_broken_stream_leaves_no_call_open),
		TEST(a_retry_continues_the_item_of_the_broken_stream),
		TEST(an_empty_unfinished_message_does_not_enter_the_history),
		TEST(a_delta_of_an_item_that_was_not_added_is_ignored),
		TEST(an_interrupt_ends_a_command),
		TEST(an_interrupt_ends_a_stream),
		TEST(an_interrupt_before_the_calls_leaves_none_open),
		TEST(an_interrupt_ends_the_wait_for_a_retry),
		TEST(configure_twice_aborts_and_keeps_the_history),
		TEST(a_refused_configuration_changes_nothing),
		TEST(overridden_settings_hold_for_later_tasks),
		TEST(a_resumed_session_continues_its_history),
		TEST(an_approved_command_runs),
		TEST(an_aborted_question_interrupts_the_task),
		TEST(an_answer_after_the_abort_of_another_question_has_no_effect),
		TEST(an_answer_is_taken_while_the_submission_queue_is_full),
		TEST(an_answer_is_ordered_after_earlier_submissions),
		TEST(an_interrupt_ends_a_pending_question),
		TEST(a_patch_requests_one_approval_per_file),
		TEST(arguments_with_nul_are_refused),
		TEST(extreme_arguments_are_handled),
		TEST(the_configuration_replaces_the_instructions),
		TEST(a_missing_instructions_file_is_named),
		TEST(a_file_of_keys_is_no_prompt),
		TEST(a_file_of_proc_is_no_prompt),
		TEST(a_shutdown_ends_running_work),
		TEST(no_event_follows_the_shutdown),
		TEST(a_codex_can_be_closed_in_the_middle),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
