/* Turns and items from files of any age, for sessions that are not loaded. */
#include "temp.h"

#include "app_server/history/history_page.h"
#include "app_server/history/thread_history.h"
#include "rollout/rollout_reader.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"
#define TURN "01a1fb55-e849-7942-b12b-582c7876dc94"

static struct buf file;
static struct arena arena;
static struct rollout_reader *reader;

static void line_at(int second, const char *type, const char *payload)
{
	buf_printf(&file, "{\"timestamp\":\"2026-11-20T10:00:%02d.500Z\",\"type\":\"%s\",\"payload\":%s}\n", second,
	           type, payload);
}

static void event(int second, const char *payload)
{
	line_at(second, "event_msg", payload);
}

static int setup(void **state)
{
	buf_init(&file, 4 * 1024 * 1024);
	line_at(0, "session_meta",
	        "{\"id\":\"" THREAD
	        "\",\"timestamp\":\"2026-11-20T10:00:00.000Z\",\"cwd\":\"/w\",\"source\":\"vscode\"}");
	return temp_make(state);
}

static int teardown(void **state)
{
	buf_finish(&file);
	arena_finish(&arena);
	rollout_reader_destroy(reader);
	reader = NULL;
	return temp_remove(state);
}

static struct thread_history read_path(const char *path)
{
	struct thread_history ret;
	struct error err;
	reader = rollout_reader_create(path, &err);
	assert_non_null(reader);
	thread_history_read(reader, &arena, &ret);
	return ret;
}

static struct thread_history read_file(void **state)
{
	(void)state;
	const char *path = temp_path("rollout-2026-11-20T10-00-00-" THREAD ".jsonl");
	assert_int_equal(file_write_atomic(path, buf_str(&file), 0600, false, NULL), 0);
	return read_path(path);
}

static void numbered(int ordinal, const char *payload)
{
	buf_printf(&file, "{\"timestamp\":\"2026-11-20T10:00:01.500Z\",\"ordinal\":%d,", ordinal);
	buf_printf(&file, "\"type\":\"event_msg\",\"payload\":%s}\n", payload);
}

#define COMMAND(id)                                                                                        \
	"{\"type\":\"CommandExecution\",\"id\":\"" id "\",\"cwd\":\"file:///a%20b\",\"command\":[\"ls\"]," \
	"\"parsed_cmd\":[],\"source\":\"agent\",\"status\":\"declined\"}"

/* Numbered lines repeat items as legacy events; the lines of an older version contain legacy events only. */
static void test_mixed_file(void **state)
{
	numbered(1, "{\"turn_id\":\"" TURN "\",\"type\":\"task_started\"}");
	numbered(2, "{\"type\":\"item_completed\",\"turn_id\":\"" TURN "\",\"item\":{\"type\":\"UserMessage\","
	            "\"id\":\"u1\",\"content\":[{\"type\":\"text\",\"text\":\"hi\"}]}}");
	numbered(3, "{\"type\":\"user_message\",\"message\":\"hi\"}");
	numbered(4, "{\"turn_id\":\"" TURN "\",\"type\":\"task_complete\",\"error\":{\"message\":\"no\","
	            "\"codex_error_info\":{\"http_connection_failed\":{\"http_status_code\":503}}}}");
	event(5, "{\"type\":\"user_message\",\"message\":\"more\"}");
	event(6, "{\"type\":\"agent_message\",\"message\":\"yes\"}");
	numbered(7, "{\"type\":\"item_completed\",\"turn_id\":\"" TURN "\",\"item\":" COMMAND("late") "}");
	numbered(8, "{\"type\":\"item_completed\",\"turn_id\":\"nobody\",\"item\":" COMMAND("lost") "}");
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 2);
	const struct app_turn *turn = &history.turns[0];
	assert_int_equal(turn->status, app_turn_status_failed);
	assert_true(str_is(turn->error->message, "no"));
	assert_int_equal(turn->error->codex_error_info->tag, app_codex_error_info_http_connection_failed);
	assert_int_equal(turn->items_count, 2);
	assert_true(str_is(turn->items[0].user_message->id, "u1"));
	assert_true(str_is(turn->items[1].command_execution->id, "late"));
	assert_true(str_is(turn->items[1].command_execution->cwd, "/a b"));
	assert_int_equal(turn->items[1].command_execution->status, app_command_execution_status_declined);
	assert_int_equal(history.turns[1].items_count, 3);
	assert_true(str_is(history.turns[1].items[1].agent_message->text, "yes"));
	assert_true(str_is(history.turns[1].items[2].command_execution->id, "lost"));
}

/* A script that still runs changes the checklist between the model's call and its output. */
static void test_checklists_of_scripts(void **state)
{
#define PLAN(step) "[{\"step\":\"" step "\",\"status\":\"pending\"}]"
#define UPDATE(step) "{\"turn_id\":\"" TURN "\",\"type\":\"plan_update\",\"explanation\":null,\"plan\":" PLAN(step) "}"
	event(1, "{\"turn_id\":\"" TURN "\",\"type\":\"task_started\"}");
	line_at(2, "response_item",
	        "{\"type\":\"function_call\",\"name\":\"update_plan\",\"call_id\":\"c\",\"arguments\":"
	        "\"{\\\"plan\\\": [{\\\"status\\\": \\\"pending\\\", \\\"step\\\": \\\"mine\\\"}]}\"}");
	event(3, UPDATE("script"));
	event(4, UPDATE("mine"));
	line_at(5, "response_item",
	        "{\"type\":\"function_call_output\",\"call_id\":\"c\",\"output\":\"Plan updated\"}");
	event(6, UPDATE("mine"));
	event(7, "{\"turn_id\":\"" TURN "\",\"type\":\"task_complete\"}");
#undef UPDATE
#undef PLAN
	struct thread_history history = read_file(state);
	static const char *const steps[] = {"mine", "script", "mine"};
	assert_int_equal(history.notes.checklist_count, countof(steps));
	for (size_t i = 0; i < countof(steps); i++)
		assert_true(str_find(history.notes.checklists[i].arguments, str_of(steps[i])) >= 0);
	assert_true(str_is(history.notes.checklists[0].call_id, "c"));
}

/* Contains lines written by codex 0.169, and kinds of later versions. */
static void test_subagents(void **state)
{
#define CALL(more) \
	"{\"type\":\"item_completed\",\"turn_id\":\"" TURN "\",\"item\":{\"type\":\"CollabAgentToolCall\"," more "}}"
	numbered(1, "{\"turn_id\":\"" TURN "\",\"type\":\"task_started\"}");
	numbered(2, CALL("\"id\":\"s\",\"tool\":\"spawn_agent\",\"status\":\"completed\",\"sender_thread_id\":\"me\","
	                 "\"receiver_thread_ids\":[\"a\"],\"receiver_agents\":[{\"thread_id\":\"a\",\"agent_nickname\":"
	                 "\"Kuhn\"}],"
	                 "\"prompt\":\"count\",\"model\":\"m\",\"reasoning_effort\":\"low\",\"agents_states\":{\"a\":"
	                 "\"pending_init\"}"));
	numbered(3, CALL("\"id\":\"w\",\"tool\":\"wait\",\"status\":\"interrupted\",\"sender_thread_id\":\"me\","
	                 "\"receiver_thread_ids\":[\"a\",\"b\",7],\"agents_states\":{\"a\":{\"completed\":\"Pears.\"},"
	                 "\"b\":{\"errored\":\"no\"},\"c\":\"asleep\",\"d\":{\"completed\":null}}"));
	numbered(4, CALL("\"id\":\"l\",\"tool\":\"list_agents\",\"status\":\"odd\",\"sender_thread_id\":\"me\","
	                 "\"receiver_thread_ids\":{},\"agents_states\":[1],\"reasoning_effort\":\"odd\""));
	numbered(5, CALL("\"id\":\"x\",\"tool\":\"teach_agent\",\"status\":\"completed\",\"sender_thread_id\":\"me\""));
	numbered(6, CALL("\"id\":\"y\",\"tool\":\"wait\",\"status\":\"completed\""));
#undef CALL
	struct thread_history history = read_file(state);
	assert_int_equal(history.turns[0].items_count, 3);
	const struct app_item_collab_agent_tool_call *spawn = history.turns[0].items[0].collab_agent_tool_call;
	assert_str(spawn->id, "s");
	assert_int_equal(spawn->tool, app_collab_agent_tool_spawn_agent);
	assert_int_equal(spawn->status, app_collab_agent_tool_call_status_completed);
	assert_int_equal(spawn->receiver_thread_ids_count, 1);
	assert_str(spawn->prompt, "count");
	assert_str(spawn->model, "m");
	assert_true(spawn->has_reasoning_effort && spawn->reasoning_effort == reasoning_effort_low);
	assert_int_equal(spawn->agents_states[0].status, app_collab_agent_status_pending_init);
	const struct app_item_collab_agent_tool_call *wait = history.turns[0].items[1].collab_agent_tool_call;
	assert_int_equal(wait->status, app_collab_agent_tool_call_status_interrupted);
	assert_int_equal(wait->receiver_thread_ids_count, 2);
	assert_false(wait->prompt.ptr || wait->model.ptr || wait->has_reasoning_effort);
	assert_int_equal(wait->agents_states_count, 3); /* one state is unknown */
	assert_str(wait->agents_states[0].message, "Pears.");
	assert_str(wait->agents_states[1].message, "no");
	assert_str(wait->agents_states_keys[2], "d");
	const struct app_item_collab_agent_tool_call *list = history.turns[0].items[2].collab_agent_tool_call;
	assert_int_equal(list->tool, app_collab_agent_tool_list_agents);
	assert_int_equal(list->status, app_collab_agent_tool_call_status_failed);
	assert_int_equal(list->receiver_thread_ids_count + list->agents_states_count, 0);
	assert_false(list->has_reasoning_effort);
}

static void test_legacy_events(void **state)
{
	event(1, "{\"turn_id\":\"" TURN "\",\"type\":\"task_started\"}");
	event(2,
	      "{\"type\":\"user_message\",\"message\":\"hi\",\"images\":[\"data:x\"],\"local_images\":[\"/a.png\"]}");
	event(3, "{\"type\":\"agent_reasoning\",\"text\":\"one\"}");
	event(3, "{\"type\":\"agent_reasoning\",\"text\":\"two\"}");
	event(3, "{\"type\":\"agent_reasoning\",\"text\":\"three\"}");
	line_at(4, "response_item",
	        "{\"type\":\"function_call\",\"name\":\"exec_command\",\"call_id\":\"c1\",\"arguments\":\"{\\\"cmd\\\":"
	        "\\\"echo "
	        "x\\\"}\"}");
	line_at(5, "response_item",
	        "{\"type\":\"function_call_output\",\"call_id\":\"c1\",\"output\":\"Wall time: 0\\nProcess exited with "
	        "code "
	        "3\\nOutput:\\nx\\n\"}");
	event(6, "{\"type\":\"agent_message\",\"message\":\"done\"}");
	event(7, "{\"turn_id\":\"" TURN "\",\"type\":\"task_complete\"}");
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 1);
	assert_str(history.preview, "hi");
	const struct app_turn *turn = &history.turns[0];
	assert_str(turn->id, TURN);
	assert_int_equal(turn->status, app_turn_status_completed);
	assert_int_equal(turn->duration_ms, 6000);
	assert_int_equal(turn->items_count, 4);
	assert_int_equal(turn->items[0].user_message->content_count, 3);
	assert_int_equal(turn->items[1].reasoning->summary_count, 3);
	assert_str(turn->items[1].reasoning->summary[2], "three");
	const struct app_item_command_execution *command = turn->items[2].command_execution;
	assert_str(command->id, "c1");
	assert_int_equal(command->exit_code, 3);
	assert_int_equal(command->status, app_command_execution_status_failed);
	assert_str(command->aggregated_output, "x\n");
	assert_int_equal(command->completed_at_ms - command->started_at_ms, 1000);
	assert_str(turn->items[3].agent_message->text, "done");
}

/* Without an end the turn was interrupted. The one before it failed. */
static void test_ends(void **state)
{
	event(1, "{\"turn_id\":\"a\",\"type\":\"task_started\"}");
	event(1, "{\"type\":\"error\",\"message\":\"no\"}");
	event(2, "{\"turn_id\":\"a\",\"type\":\"task_complete\"}");
	event(3, "{\"turn_id\":\"b\",\"type\":\"task_started\"}");
	event(4, "{\"turn_id\":\"b\",\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}");
	event(5, "{\"turn_id\":\"c\",\"type\":\"task_started\"}");
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 3);
	assert_int_equal(history.turns[0].status, app_turn_status_failed);
	assert_str(history.turns[0].error->message, "no");
	assert_int_equal(history.turns[1].status, app_turn_status_interrupted);
	assert_true(history.turns[1].has_completed_at);
	assert_int_equal(history.turns[2].status, app_turn_status_interrupted);
	assert_false(history.turns[2].has_completed_at);
	assert_ptr_equal(thread_history_find(&history, STR("b")), &history.turns[1]);
	assert_null(thread_history_find(&history, STR("d")));
}

/* Files of 2025 contain no turns: each message of the user starts one. */
static void test_untold_turns(void **state)
{
	event(1, "{\"type\":\"user_message\",\"message\":\"one\"}");
	event(2, "{\"type\":\"agent_message\",\"message\":\"1\"}");
	event(3, "{\"type\":\"user_message\",\"message\":\"two\"}");
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 2);
	assert_str(history.turns[0].id, "rollout-1");
	assert_str(history.turns[0].items[1].agent_message->id, "item-2");
	assert_str(history.turns[1].id, "rollout-2");
	assert_int_equal(history.turns[1].status, app_turn_status_completed);
}

/* Members of other types and incomplete items are skipped. */
static void test_damage(void **state)
{
	static const char *const payloads[] = {
		"{\"type\":\"user_message\",\"message\":7,\"images\":{},\"text_elements\":[7,{}]}",
		"{\"type\":\"agent_message\"}",
		"{\"type\":\"agent_reasoning\",\"text\":[]}",
		"{\"type\":\"item_completed\"}",
		"{\"type\":\"item_completed\",\"item\":[]}",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"CommandExecution\",\"command\":{},\"duration\":7}}",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"CommandExecution\",\"id\":\"c\",\"cwd\":\"/"
		"\",\"duration\":"
		"{\"secs\":9223372036854775807,\"nanos\":-9223372036854775807}}}",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"FileChange\",\"changes\":{\"a\":7}}}",
		"{\"type\":\"item_completed\",\"item\":{\"type\":\"Unheard\",\"id\":\"u\"}}",
		"{\"type\":\"task_complete\",\"duration_ms\":\"x\"}",
		"{\"type\":\"task_complete\"}",
	};
	for (size_t i = 0; i < countof(payloads); i++)
		event((int)i, payloads[i]);
	line_at(9, "response_item", "{\"type\":\"function_call\",\"name\":\"exec_command\",\"arguments\":\"{\"}");
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 1);
	assert_int_equal(history.turns[0].items_count, 2); /* an empty message, and the complete command */
	assert_str(history.preview, "");
}

/* A file of codex 0.169, compared with its own thread/read. */
static void test_numbered_file(void **state)
{
	(void)state;
	const char *path = shared_path("reference/captures/rollout-sample.jsonl");
	if (!path)
		skip();
	struct thread_history history = read_path(path);
	assert_int_equal(history.count, 4);
	const struct app_turn *turn = &history.turns[0];
	assert_int_equal(turn->items_count, 5);
	assert_str(turn->items[0].user_message->content[0].text->text, "do work");
	assert_int_equal(turn->items[1].tag, app_thread_item_reasoning);
	const struct app_item_command_execution *command = turn->items[2].command_execution;
	assert_str(command->command, "/bin/bash -lc 'echo hi'");
	assert_str(command->cwd, "$CWD");
	assert_int_equal(command->source, app_command_execution_source_unified_exec_startup);
	assert_int_equal(command->status, app_command_execution_status_completed);
	const struct app_item_file_change *change = turn->items[3].file_change;
	assert_int_equal(change->status, app_patch_apply_status_completed);
	assert_str(change->changes[0].path, "$CWD/a.txt");
	assert_int_equal(turn->items[4].tag, app_thread_item_agent_message);
	assert_int_equal(history.turns[1].status, app_turn_status_interrupted);
	assert_int_equal(history.turns[2].items[0].tag, app_thread_item_context_compaction);
}

static void check_json(const struct thread_history *history, const struct history_json *json)
{
	auto_buf struct buf all;
	struct json_writer w = json_writer(&all);
	buf_init(&all, 4 * 1024 * 1024);
	for (size_t i = 0; i < history->count; i++)
		record_encode(&record_app_turn, &history->turns[i], &w);
	assert_true(str_eq(buf_str(&json->text), buf_str(&all)));
}

/* The running turn has continued since the file was read: tested for the last turn and for another one. */
static void test_json_with_a_running_turn(void **state)
{
	struct history_json json = {0};
	struct error err;
	for (int i = 0; i < 3; i++) {
		event(i, "{\"type\":\"user_message\",\"message\":\"hi\"}");
		event(i, "{\"type\":\"agent_message\",\"message\":\"well\"}");
	}
	struct thread_history history = read_file(state);
	assert_int_equal(history.count, 3);
	history_json_write(&history, &arena, &json);
	check_json(&history, &json);
	for (size_t i = 3; i-- > 0;) {
		history.turns[i].items_count--;
		history.turns[i].status = app_turn_status_in_progress;
		history_json_replace(&json, i, &history.turns[i]);
		check_json(&history, &json);
	}
	history.turns[1].items_count++;
	history_json_replace(&json, 1, &history.turns[1]);
	history_json_replace(&json, 2, &history.turns[2]);
	check_json(&history, &json);
	assert_int_equal(history_json_check(&json, &err), 0);
	history_json_finish(&json);
}

static void test_json_of_no_turns(void **state)
{
	struct history_json json = {0};
	struct thread_history history = read_file(state);
	history_json_write(&history, &arena, &json);
	check_json(&history, &json);
	history_json_finish(&json);
}

/* A text that is too large must not be sent, and nothing may be added to it. */
static void test_json_that_is_too_large(void **state)
{
	struct history_json json = {0};
	struct error err;
	event(1, "{\"type\":\"user_message\",\"message\":\"hi\"}");
	struct thread_history history = read_file(state);
	history_json_write(&history, &arena, &json);
	json.text.max = json.text.len;
	struct app_turn longer = history.turns[0];
	longer.items_view = app_turn_items_view_not_loaded;
	history_json_replace(&json, 0, &longer);
	assert_int_equal(history_json_check(&json, &err), -ERR_limit);
	assert_non_null(strstr(err.text, "thread/turns/list"));
	history_json_finish(&json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_legacy_events, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ends, setup, teardown),
		cmocka_unit_test_setup_teardown(test_untold_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_damage, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbered_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mixed_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_checklists_of_scripts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_subagents, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_with_a_running_turn, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_of_no_turns, setup, teardown),
		cmocka_unit_test_setup_teardown(test_json_that_is_too_large, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
