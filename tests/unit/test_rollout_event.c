/* Events reach the file in the words that the readers of that file understand. */
#include "temp.h"

#include "protocol/types.h"
#include "rollout/rollout_event.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_writer.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"

static struct rollout_writer *legacy(void)
{
	struct rollout_meta meta = {.thread_id = STR(THREAD), .started_at_ms = 1795218073724};
	return rollout_writer_create(temp_root, &meta, fsync_policy_none);
}

static struct rollout_writer *paginated(void)
{
	const char *path = temp_put("p.jsonl", STR("{\"ordinal\":0,\"type\":\"session_meta\",\"payload\":{}}\n"));
	return rollout_writer_open(path, fsync_policy_none, NULL);
}

static void append(struct rollout_writer *writer, enum event_tag tag, const void *body)
{
	struct event_msg event = {.tag = tag, .body = (void *)(uintptr_t)body};
	assert_int_equal(rollout_event_append(writer, STR("t1"), &event, NULL), 0);
}

static void complete(struct rollout_writer *writer, struct turn_item *item)
{
	append(writer, EV_item_completed,
	       &(struct ev_item_completed){.thread_id = STR(THREAD), .turn_id = STR("t1"), .item = item});
}

/* Flushes, and compares what was written after the first line: payloads, a line each. */
static void assert_payloads(struct rollout_writer *writer, const char *want)
{
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	auto_arena struct arena arena = {0};
	auto_buf struct buf got;
	buf_init(&got, 65536);
	struct str rest = str_of(bytes), line;
	str_next_line(&rest, &line);
	while (str_next_line(&rest, &line)) {
		struct rollout_line parsed;
		assert_int_equal(rollout_line_parse(&arena, line, &parsed, NULL), 0);
		assert_int_equal(parsed.type, LINE_event_msg);
		buf_append_str(&got, parsed.payload->span);
		buf_append_char(&got, '\n');
	}
	assert_string_equal(got.data ? got.data : "", want);
	rollout_writer_destroy(writer);
}

static void what_a_user_said_is_one_message(void **state)
{
	(void)state;
	struct text_element element = {.byte_range = &(struct byte_range){0, 2}, .placeholder = STR("@x")};
	struct user_input content[] = {
	        {.tag = user_input_text, .text = &(struct input_text){.text = STR("a \"b\" ")}},
	        {.tag = user_input_image, .image = &(struct input_image){.image_url = STR("data:,")}},
	        {.tag = user_input_local_image, .local_image = &(struct input_local_image){.path = STR("/i.png")}},
	        {.tag = user_input_text,
	         .text = &(struct input_text){.text = STR("cd"), .text_elements = &element, .text_elements_count = 1}},
	};
	struct user_message_item user = {.id = STR("i1"), .content = content, .content_count = countof(content)};
	struct rollout_writer *writer = legacy();
	complete(writer, &(struct turn_item){.tag = turn_item_user_message, .user_message = &user});
	assert_payloads(writer,
	                "{\"type\":\"user_message\",\"message\":\"a \\\"b\\\" cd\",\"images\":[\"data:,\"],"
	                "\"local_images\":[\"/i.png\"],\"text_elements\":[{\"byte_range\":{\"start\":6,\"end\":8},"
	                "\"placeholder\":\"@x\"}]}\n");
}

static struct agent_text hello_text = {.text = {"hello", 5}};
static struct agent_content hello = {.tag = agent_content_text, .text = &hello_text};
static struct agent_message_item agent = {.id = {"m1", 2}, .content = &hello, .content_count = 1};

static void items_have_old_words_in_our_files(void **state)
{
	(void)state;
	struct str parts[] = {STR("one"), STR("two")};
	struct reasoning_item reasoning = {
	        .summary_text = parts, .summary_text_count = 2, .raw_content = parts, .raw_content_count = 1};
	struct plan_item plan = {.id = STR("p"), .text = STR("P")};
	struct rollout_writer *writer = legacy();
	complete(writer, &(struct turn_item){.tag = turn_item_agent_message, .agent_message = &agent});
	complete(writer, &(struct turn_item){.tag = turn_item_reasoning, .reasoning = &reasoning});
	complete(writer, &(struct turn_item){.tag = turn_item_context_compaction,
	                                     .context_compaction = &(struct compaction_item){.id = STR("c")}});
	assert_payloads(writer, "{\"type\":\"agent_message\",\"message\":\"hello\"}\n"
	                        "{\"type\":\"agent_reasoning\",\"text\":\"one\"}\n"
	                        "{\"type\":\"agent_reasoning\",\"text\":\"two\"}\n"
	                        "{\"type\":\"agent_reasoning_raw_content\",\"text\":\"one\"}\n"
	                        "{\"type\":\"context_compacted\"}\n");
	writer = legacy();
	unlink(rollout_writer_path(writer));
	complete(writer, &(struct turn_item){.tag = turn_item_plan, .plan = &plan});
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_non_null(strstr(bytes, "\"type\":\"item_completed\",\"thread_id\":\"" THREAD "\",\"turn_id\":\"t1\","
	                              "\"item\":{\"type\":\"Plan\",\"id\":\"p\",\"text\":\"P\"}}}"));
	rollout_writer_destroy(writer);
}

static void numbered_files_are_told_items(void **state)
{
	(void)state;
	struct rollout_writer *writer = paginated();
	complete(writer, &(struct turn_item){.tag = turn_item_agent_message, .agent_message = &agent});
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_non_null(strstr(bytes, "\"ordinal\":1,"));
	assert_non_null(strstr(bytes, "\"payload\":{\"completed_at_ms\":"));
	assert_non_null(strstr(
	        bytes,
	        ",\"type\":\"item_completed\",\"thread_id\":\"" THREAD "\",\"turn_id\":\"t1\",\"item\":"
	        "{\"type\":\"AgentMessage\",\"id\":\"m1\",\"content\":[{\"type\":\"Text\",\"text\":\"hello\"}]}}"));
	rollout_writer_destroy(writer);
}

static void turns_have_a_begin_and_an_end(void **state)
{
	(void)state;
	struct rollout_writer *writer = legacy();
	append(writer, EV_task_started, &(struct ev_task_started){0});
	append(writer, EV_token_count, &(struct ev_token_count){0});
	append(writer, EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	append(writer, EV_task_complete, &(struct ev_task_complete){.response_id = STR("r")});
	assert_payloads(writer, "{\"turn_id\":\"t1\",\"type\":\"task_started\",\"model_context_window\":null,"
	                        "\"collaboration_mode_kind\":\"default\"}\n"
	                        "{\"type\":\"token_count\",\"info\":null,\"rate_limits\":null}\n"
	                        "{\"turn_id\":\"t1\",\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}\n"
	                        "{\"turn_id\":\"t1\",\"type\":\"task_complete\",\"last_agent_message\":null,"
	                        "\"response_id\":\"r\"}\n");
}

static void work_in_progress_leaves_no_trace(void **state)
{
	(void)state;
	struct rollout_writer *writer = legacy();
	append(writer, EV_warning, &(struct ev_warning){.message = STR("w")});
	append(writer, EV_error, &(struct ev_error){.message = STR("e")});
	append(writer, EV_agent_message_content_delta, &(struct ev_content_delta){.delta = STR("d")});
	append(writer, EV_shutdown_complete, NULL);
	assert_int_equal(rollout_writer_pending_bytes(writer), 0);
	rollout_writer_destroy(writer);
}

#define TEMP_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
	        TEMP_TEST(what_a_user_said_is_one_message),  TEMP_TEST(items_have_old_words_in_our_files),
	        TEMP_TEST(numbered_files_are_told_items),    TEMP_TEST(turns_have_a_begin_and_an_end),
	        TEMP_TEST(work_in_progress_leaves_no_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
