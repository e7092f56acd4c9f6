/* The histories of files of any age, and the effect of damage. The cases of rollback, compaction and foreign items
 * expect what codex 0.169 sends after a resume. */
#include "temp.h"

#include "base/vec.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_reader.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"
#define DAY "sessions/2026/11/20/"
#define OLD_NAME "rollout-2026-11-20T10-00-00-" THREAD ".jsonl"

/* ---- writing files ---- */

static struct buf file;

static void line(const char *type, const char *payload)
{
	buf_printf(&file, "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"type\":\"%s\",\"payload\":%s}\n", type,
	           payload);
}

static void message(const char *role, const char *text)
{
	const char *part = strcmp(role, "assistant") == 0 ? "output_text" : "input_text";
	auto_free char *payload =
		xasprintf("{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":\"%s\",\"text\":\"%s\"}]}",
	                  role, part, text);
	line("response_item", payload);
}

static void event(const char *type)
{
	auto_free char *payload = xasprintf("{\"type\":\"%s\"}", type);
	line("event_msg", payload);
}

/* Writes a complete turn in the order of January 2026. */
static void turn(const char *user, const char *assistant)
{
	message("user", user);
	event("user_message");
	line("turn_context",
	     "{\"cwd\":\"/w\",\"approval_policy\":\"never\",\"sandbox_policy\":{\"type\":\"read-only\"},"
	     "\"model\":\"m\",\"summary\":\"auto\"}");
	message("assistant", assistant);
}

static int setup(void **state)
{
	buf_init(&file, 64 * 1024 * 1024);
	line("session_meta", "{\"id\":\"" THREAD "\",\"cwd\":\"/w\",\"source\":\"exec\",\"model_provider\":\"mock\"}");
	return temp_make(state);
}

static int teardown(void **state)
{
	buf_finish(&file);
	return temp_remove(state);
}

/* ---- reading them ---- */

static struct rollout_reader *read_path(const char *path)
{
	struct error err = {0};
	struct rollout_reader *reader = rollout_reader_create(path, &err);
	if (!reader)
		fail_msg("%s", err.text);
	return reader;
}

static struct rollout_reader *read_file_so_far(void)
{
	return read_path(temp_put(DAY OLD_NAME, buf_str(&file)));
}

/* Returns the history as words: the text of a message, otherwise the type, separated by spaces. */
static char *words(const struct rollout_reader *reader)
{
	struct buf out;
	buf_init(&out, 1024 * 1024);
	vec_for_each(it, &reader->history) {
		auto_arena struct arena arena = {0};
		const struct json *item = json_parse(&arena, *it, NULL);
		assert_non_null(item);
		struct str text = json_get_str(json_at(json_get(item, "content"), 0), "text");
		if (out.len)
			buf_append_char(&out, ' ');
		buf_append_str(&out, text.ptr ? text : json_get_str(item, "type"));
	}
	return buf_take(&out);
}

static void assert_words(const struct rollout_reader *reader, const char *want)
{
	auto_free char *got = words(reader);
	assert_string_equal(got, want);
}

static char *damage_of(const struct rollout_reader *reader)
{
	struct buf out;
	buf_init(&out, 8192);
	rollout_reader_describe_damage(reader, &out);
	return buf_take(&out);
}

/* ---- cases ---- */

static void a_complete_session_is_read(void **state)
{
	(void)state;
	message("developer", "PERM");
	message("user", "<environment_context>");
	turn("U1", "A1");
	line("event_msg", "{\"type\":\"token_count\",\"info\":{\"model_context_window\":9},\"rate_limits\":null}");
	line("event_msg", "{\"type\":\"token_count\",\"info\":null}");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "PERM <environment_context> U1 A1");
	assert_str(reader->meta.thread_id, THREAD);
	assert_str(reader->meta.cwd, "/w");
	assert_str(reader->turn.model, "m");
	assert_str(reader->turn.sandbox_policy, "{\"type\":\"read-only\"}");
	assert_null(reader->turn.effort.ptr);
	assert_str(reader->token_info, "{\"model_context_window\":9}");
	assert_int_equal(reader->user_turns, 1);
	assert_false(reader->needs_context);
	auto_buf struct buf events, damage;
	buf_init(&events, 4096);
	buf_init(&damage, 4096);
	struct json_writer w = json_writer(&events);
	rollout_reader_write_events(reader, &w);
	assert_str(buf_str(&events), "[{\"type\":\"user_message\"},{\"type\":\"token_count\",\"info\":"
	                             "{\"model_context_window\":9},\"rate_limits\":null},"
	                             "{\"type\":\"token_count\",\"info\":null}]");
	assert_false(rollout_reader_describe_damage(reader, &damage));
	rollout_reader_destroy(reader);
}

static void items_keep_their_bytes(void **state)
{
	(void)state;
	line("response_item", "{\"type\":\"function_call\",\"name\":\"x\",\"arguments\":\"{\\\"a\\\":\\u0031}\",\"call_"
	                      "id\":\"c1\",\"n\":1.50}");
	line("response_item", "{\"type\":\"reasoning\",\"summary\":[],\"content\":null,\"encrypted_content\":\"E\"}");
	struct rollout_reader *reader = read_file_so_far();
	assert_int_equal(reader->history.count, 2);
	assert_str(reader->history.items[0], "{\"type\":\"function_call\",\"name\":\"x\",\"arguments\":\"{\\\"a\\\":"
	                                     "\\u0031}\",\"call_id\":\"c1\",\"n\":1.50}");
	assert_str(reader->history.items[1],
	           "{\"type\":\"reasoning\",\"summary\":[],\"content\":null,\"encrypted_content\":\"E\"}");
	assert_true(reader->needs_context);
	rollout_reader_destroy(reader);
}

static void check_strip(const char *before, const char *after)
{
	auto_arena struct arena arena = {0};
	struct str text = arena_str(&arena, str_of(before));
	struct str left = rollout_item_strip(json_parse(&arena, text, NULL));
	auto_free char *got = str_dup(left);
	assert_string_equal(got, after);
	assert_non_null(json_parse(&arena, left, NULL));
	assert_non_null(json_parse(&arena, text, NULL));
}

static void notes_of_the_writer_are_not_sent(void **state)
{
	(void)state;
#define NOTE "\"internal_chat_message_metadata_passthrough\""
	check_strip("{\"a\":1," NOTE ":{\"x\":[1,2]}}", "{\"a\":1}");
	check_strip("{" NOTE ":null,\"a\":1}", "{\"a\":1}");
	check_strip("{\"a\":1 , " NOTE " : { } , \"b\":2}", "{\"a\":1 ,  \"b\":2}");
	check_strip("{\"a\":1 , " NOTE ":0 }", "{\"a\":1 }");
	check_strip("{ " NOTE ":0 }", "{}");
	check_strip("{" NOTE ":1," NOTE ":2,\"a\":3}", "{\"a\":3}");
	check_strip("{\"a\":{" NOTE ":1}}", "{\"a\":{" NOTE ":1}}");
	check_strip("{\"a\":\""
	            "internal_chat_message_metadata_passthrough"
	            "\"}",
	            "{\"a\":\"internal_chat_message_metadata_passthrough\"}");
}

static void a_rolled_back_turn_is_removed_with_its_preamble(void **state)
{
	(void)state;
	message("developer", "PERM");
	message("user", "<environment_context>");
	turn("U1", "A1");
	turn("U2", "A2");
	message("user", "<environment_context>y");
	turn("U3", "A3");
	message("user", "<turn_aborted>");
	event("turn_aborted");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":1}");
	turn("U4", "A4");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "PERM <environment_context> U1 A1 U2 A2 U4 A4");
	assert_int_equal(reader->user_turns, 3);
	rollout_reader_destroy(reader);
}

static void rolling_back_everything_keeps_the_first_context(void **state)
{
	(void)state;
	message("developer", "PERM");
	message("user", "<environment_context>");
	turn("U1", "A1");
	turn("U2", "A2");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":9}");
	turn("U4", "A4");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "PERM <environment_context> U4 A4");
	rollout_reader_destroy(reader);
}

static void odd_rollbacks_do_nothing(void **state)
{
	(void)state;
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":3}");
	turn("U1", "A1");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":0}");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":-1}");
	line("event_msg", "{\"type\":\"thread_rolled_back\"}");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "U1 A1");
	rollout_reader_destroy(reader);
}

static void a_compaction_with_history_replaces_all_before_it(void **state)
{
	(void)state;
	message("developer", "PERM");
	turn("U1", "A1");
	line("compacted",
	     "{\"message\":\"S\",\"replacement_history\":[{\"type\":\"ghost_snapshot\"},{\"type\":\"message\","
	     "\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"REPL\"}],"
	     "\"internal_chat_message_metadata_passthrough\":{}}]}");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "REPL");
	assert_true(str_find(reader->history.items[0], STR("passthrough")) < 0);
	assert_true(reader->needs_context);
	rollout_reader_destroy(reader);
	turn("U2", "A2");
	reader = read_file_so_far();
	assert_words(reader, "REPL U2 A2");
	assert_false(reader->needs_context);
	rollout_reader_destroy(reader);
}

static void rolling_back_a_compacted_turn_undoes_the_compaction(void **state)
{
	(void)state;
	message("developer", "PERM");
	turn("U1", "A1");
	turn("U2", "A2");
	line("compacted", "{\"message\":\"S\",\"replacement_history\":[]}");
	turn("U4", "A4");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":2}");
	turn("U5", "A5");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "PERM U1 A1 U5 A5");
	rollout_reader_destroy(reader);
}

static void an_old_compaction_keeps_user_messages_and_the_summary(void **state)
{
	(void)state;
	message("developer", "PERM");
	message("user", "<environment_context>");
	turn("U1", "A1");
	message("user", "<turn_aborted>");
	turn("U2", "A2");
	line("compacted", "{\"message\":\"SUMMARY\"}");
	turn("U3", "A3");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "U1 U2 SUMMARY U3 A3");
	assert_true(reader->needs_context);
	rollout_reader_destroy(reader);
	line("compacted", "{\"message\":\"\"}");
	reader = read_file_so_far();
	assert_words(reader, "U1 U2 U3 (no summary available)");
	rollout_reader_destroy(reader);
}

static void messages_kept_by_an_old_compaction_have_a_budget(void **state)
{
	(void)state;
	auto_free char *big = xmalloc(90001);
	memset(big, 'x', 90000);
	big[90000] = '\0';
	turn("U1", "A1");
	turn(big, "A2");
	turn("U3 with \\\"quotes\\\"", "A3");
	line("compacted", "{\"message\":\"SUMMARY\"}");
	struct rollout_reader *reader = read_file_so_far();
	assert_int_equal(reader->history.count, 3);
	auto_arena struct arena arena = {0};
	const struct json *item = json_parse(&arena, reader->history.items[0], NULL);
	struct str text = json_get_str(json_at(json_get(item, "content"), 0), "text");
	assert_true(str_find(text, STR(" tokens truncated…")) > 0);
	assert_in_range(text.len, 19000 * 4, 20100 * 4);
	assert_true(str_find(reader->history.items[1], STR("U3 with")) > 0);
	rollout_reader_destroy(reader);
}

static void items_that_requests_cannot_contain_are_dropped(void **state)
{
	(void)state;
	turn("U1", "A1");
	line("response_item", "{\"type\":\"ghost_snapshot\",\"ghost_commit\":{}}");
	line("response_item", "{\"type\":\"other\"}");
	line("response_item", "{\"type\":\"brand_new_item\"}");
	line("response_item", "{\"type\":\"compaction\",\"encrypted_content\":\"E\"}");
	line("response_item", "{\"no_type\":1}");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "U1 A1 compaction");
	assert_int_equal(reader->damage.unknown_items, 2);
	rollout_reader_destroy(reader);
}

static void only_damaged_lines_are_skipped(void **state)
{
	(void)state;
	turn("U1", "A1");
	buf_append_c(&file, "garbage{\n\n   \n[]\n\"text\"\n{\"type\":\"response_item\",\"payload\":7}\n");
	buf_append_c(&file, "{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"\xff\"}}\n");
	buf_append(&file, "\0\0\0\0\n", 5);
	line("thing_of_the_future", "{}");
	turn("U2", "A2");
	buf_append_c(&file, "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"type\":\"response_item\",\"payl");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "U1 A1 U2 A2");
	assert_int_equal(reader->damage.bad_lines, 6);
	assert_int_equal(reader->damage.unknown_lines, 1);
	assert_true(reader->damage.is_torn);
	auto_free char *text = damage_of(reader);
	assert_non_null(strstr(text, "6 damaged lines, 1 incomplete last line, 1 line of an unknown kind"));
	assert_non_null(strstr(text, OLD_NAME));
	rollout_reader_destroy(reader);
}

static void numbered(int ordinal, const char *text)
{
	buf_printf(&file, "{\"timestamp\":\"2026-11-20T10:00:00.%03dZ\",\"ordinal\":%d,", ordinal, ordinal);
	buf_printf(&file,
	           "\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
	           "\"content\":[{\"text\":\"%s\"}],"
	           "\"internal_chat_message_metadata_passthrough\":{\"turn_id\":\"t\"}}}\n",
	           text);
}

static void numbered_lines_are_sorted_without_duplicates(void **state)
{
	(void)state;
	numbered(1, "one");
	numbered(2, "two");
	numbered(5, "five");
	numbered(3, "three");
	message("user", "behind-three");
	numbered(2, "two");
	numbered(4, "four");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "one two three behind-three four five");
	assert_int_equal(reader->damage.repeated_lines, 1);
	auto_free char *text = damage_of(reader);
	assert_non_null(strstr(text, "have been sorted. Parts of the session file were skipped (1 repeated line)"));
	rollout_reader_destroy(reader);
	buf_clear(&file);
	line("session_meta", "{\"id\":\"" THREAD "\"}");
	numbered(2, "two");
	numbered(1, "one");
	reader = read_file_so_far();
	assert_words(reader, "one two");
	auto_free char *sorted = damage_of(reader);
	assert_non_null(strstr(sorted, "sorted. Nothing is missing: "));
	rollout_reader_destroy(reader);
}

static void only_requested_data_is_kept(void **state)
{
	(void)state;
	struct error err = {0};
	turn("U1", "A1");
	numbered(1, "N1");
	line("event_msg", "{\"type\":\"token_count\",\"info\":{\"a\":1}}");
	line("event_msg", "{\"type\":\"task_complete\",\"response_id\":\"r1\"}");
	line("compacted", "{\"message\":\"S\",\"replacement_history\":[{\"type\":\"reasoning\"}]}");
	turn("U2", "A2");
	const char *path = temp_put(DAY OLD_NAME, buf_str(&file));
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_HISTORY, &err);
	assert_words(reader, "reasoning U2 A2");
	assert_true(str_is(reader->token_info, "{\"a\":1}"));
	rollout_reader_destroy(reader);
	reader = rollout_reader_create_for(path, ROLLOUT_EVENTS, &err);
	assert_int_equal(reader->history.count, 0);
	assert_true(str_is(reader->turn.model, "m"));
	auto_buf struct buf events;
	buf_init(&events, 65536);
	struct json_writer w = json_writer(&events);
	rollout_reader_write_events(reader, &w);
	assert_true(str_find(buf_str(&events), STR("\"response_id\":\"r1\"")) > 0);
	rollout_reader_forget(reader);
	assert_true(str_is(reader->token_info, "{\"a\":1}"));
	assert_true(str_is(reader->meta.thread_id, THREAD));
	rollout_reader_destroy(reader);
}

/* Its damage is not noticed, because nothing of it is needed. A cut line is, and so is an event with an effect. */
static void the_history_is_read_without_parsing_events_that_have_no_effect(void **state)
{
	(void)state;
	struct error err = {0};
	turn("U1", "A1");
	line("event_msg", "{\"type\":\"agent_message\",\"message\":\"\\x\"}");
	turn("U2", "A2");
	line("event_msg", "{\"type\":\"thread_rolled_back\",\"num_turns\":1}");
	turn("U3", "A3");
	buf_append_c(&file,
	             "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"ordinal\":9,\"type\":\"event_msg\",\"payload\":"
	             "{\"type\":\"agent_message\",\"mess");
	const char *path = temp_put(DAY OLD_NAME, buf_str(&file));
	for (int i = 0; i < 2; i++) {
		struct rollout_reader *reader =
			rollout_reader_create_for(path, i ? ROLLOUT_ALL : ROLLOUT_HISTORY, &err);
		assert_words(reader, "U1 A1 U3 A3");
		assert_int_equal(reader->damage.bad_lines, i);
		assert_true(reader->damage.is_torn);
		rollout_reader_destroy(reader);
	}
}

static void the_numbers_of_unparsed_events_count(void **state)
{
	(void)state;
	struct error err = {0};
	numbered(1, "one");
	buf_append_c(&file,
	             "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"ordinal\":5,\"type\":\"event_msg\",\"payload\":"
	             "{\"type\":\"agent_message\"}}\n");
	numbered(2, "two");
	const char *path = temp_put(DAY OLD_NAME, buf_str(&file));
	struct rollout_reader *reader = rollout_reader_create_for(path, ROLLOUT_HISTORY, &err);
	assert_words(reader, "one two");
	assert_true(reader->damage.is_disordered);
	rollout_reader_destroy(reader);
}

static void call(const char *type, const char *id)
{
	auto_free char *payload = xasprintf("{\"type\":\"%s\",\"call_id\":\"%s\"}", type, id);
	line("response_item", payload);
}

static void calls_and_outputs_that_stand_alone_are_left_out(void **state)
{
	(void)state;
	call("function_call_output", "lost");
	call("function_call", "a");
	call("function_call", "a");
	call("custom_tool_call", "b");
	call("custom_tool_call_output", "b");
	call("function_call_output", "a");
	call("function_call_output", "a");
	call("function_call", "a"); /* a model may reuse an id */
	call("function_call_output", "a");
	call("function_call", "open");
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "function_call custom_tool_call custom_tool_call_output function_call_output "
	                     "function_call function_call_output function_call");
	assert_int_equal(reader->damage.stray_items, 3);
	auto_free char *text = damage_of(reader);
	assert_non_null(strstr(text, "3 calls or outputs without their counterparts"));
	rollout_reader_destroy(reader);
}

static void a_last_line_without_newline_counts(void **state)
{
	(void)state;
	turn("U1", "A1");
	file.len--;
	struct rollout_reader *reader = read_file_so_far();
	assert_words(reader, "U1 A1");
	assert_false(reader->damage.is_torn);
	rollout_reader_destroy(reader);
}

static void assert_refused(const char *relative, struct str bytes, enum error_code code, const char *text)
{
	struct error err = {0};
	assert_null(rollout_reader_create(temp_put(relative, bytes), &err));
	assert_int_equal(err.code, code);
	assert_non_null(strstr(err.text, text));
	assert_non_null(strstr(err.text, relative));
}

static void an_invalid_session_is_refused_with_a_reason(void **state)
{
	(void)state;
	struct error err = {0};
	assert_refused("a.jsonl", STR(""), ERR_invalid, "empty session file");
	assert_refused("b.jsonl", STR(" \n\n"), ERR_invalid, "empty session file");
	assert_refused("c.jsonl", STR("{}\n{}\n"), ERR_invalid, "no line has the session's id");
	assert_refused("d.jsonl", STR("{\"type\":\"session_meta\",\"payload\":{\"id\":\"../x\"}}\n"), ERR_invalid,
	               "has no session id");
	assert_refused("e.jsonl.zst", STR("not packed"), ERR_invalid, "cannot be unpacked");
	assert_null(rollout_reader_create(temp_path("absent"), &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_int_equal(mkfifo(temp_path("pipe"), 0600), 0);
	assert_null(rollout_reader_create(temp_path("pipe"), &err));
	assert_int_equal(err.code, ERR_invalid);
}

static void a_turn_that_never_ended_is_seen(void **state)
{
	(void)state;
	event("task_started");
	turn("U1", "A1");
	struct rollout_reader *reader = read_file_so_far();
	assert_true(reader->is_turn_open);
	rollout_reader_destroy(reader);
	line("event_msg", "{\"type\":\"task_complete\",\"last_agent_message\":\"A1\",\"response_id\":\"resp_7\"}");
	reader = read_file_so_far();
	assert_false(reader->is_turn_open);
	assert_int_equal(reader->marks.count, 1);
	assert_str(reader->marks.items[0].response_id, "resp_7");
	assert_int_equal(reader->marks.items[0].item_count, reader->history.count);
	assert_true(reader->marks.items[0].ends_task);
	rollout_reader_destroy(reader);
}

/* A fork of January 2026 contains copies of its parent's lines after its own first line. */
static void a_copied_fork_is_the_forks_own(void **state)
{
	(void)state;
	line("session_meta", "{\"id\":\"01a1fb50-e849-7942-b12b-582c7876dc93\",\"cwd\":\"/parent\"}");
	turn("U1", "A1");
	struct rollout_reader *reader = read_file_so_far();
	assert_str(reader->meta.thread_id, THREAD);
	assert_str(reader->meta.cwd, "/w");
	rollout_reader_destroy(reader);
}

/* In early 2025 items had no envelope. */
static void bare_lines_are_read(void **state)
{
	(void)state;
	struct str bytes =
		STR("{\"id\":\"" THREAD "\",\"timestamp\":\"2025-05-07T17:24:21.123Z\",\"instructions\":null}\n"
	            "{\"record_type\":\"state\"}\n"
	            "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"U1\"}]}\n"
	            "{\"type\":\"function_call\",\"name\":\"shell\",\"arguments\":\"{}\",\"call_id\":\"c\"}\n");
	struct rollout_reader *reader =
		read_path(temp_put("sessions/2025/05/07/rollout-2025-05-07T17-24-21-" THREAD ".jsonl", bytes));
	assert_words(reader, "U1 function_call");
	assert_int_equal(reader->user_turns, 1);
	assert_int_equal(reader->damage.bad_lines + reader->damage.unknown_lines, 0);
	rollout_reader_destroy(reader);
}

/* ---- files of 0.169 ---- */

#define CHILD_ID "01a1fbce-f3a6-7d13-80bd-80ba136b3813"
#define CHILD_NAME "rollout-2026-11-21T01-53-26-" CHILD_ID ".jsonl"

static void put_child(size_t base_bytes, const char *base_id)
{
	auto_free char *text = xasprintf(
		"{\"ordinal\":5,\"type\":\"session_meta\",\"payload\":{\"id\":\"" CHILD_ID "\",\"cwd\":\"/w\","
		"\"history_mode\":\"paginated\",\"history_base\":{\"thread_id\":\"%s\","
		"\"end_ordinal_exclusive\":5,\"end_byte_offset\":%zu}}}\n"
		"{\"ordinal\":6,\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"role\":\"user\","
		"\"content\":[{\"type\":\"input_text\",\"text\":\"F1\"}]}}\n",
		base_id, base_bytes);
	temp_put("sessions/2026/11/21/" CHILD_NAME, str_of(text));
}

static void a_fork_by_reference_begins_with_its_parents_lines(void **state)
{
	(void)state;
	turn("U1", "A1");
	size_t base = file.len;
	turn("U2", "A2");
	temp_put(DAY OLD_NAME, buf_str(&file));
	put_child(base, THREAD);
	struct rollout_reader *reader = read_path(temp_path("sessions/2026/11/21/" CHILD_NAME));
	assert_words(reader, "U1 A1 F1");
	assert_str(reader->meta.thread_id, CHILD_ID);
	assert_true(reader->meta.is_paginated);
	rollout_reader_destroy(reader);
}

static void a_fork_without_a_parent_or_of_itself_is_refused(void **state)
{
	(void)state;
	struct error err = {0};
	put_child(10, THREAD);
	assert_null(rollout_reader_create(temp_path("sessions/2026/11/21/" CHILD_NAME), &err));
	assert_int_equal(err.code, ERR_not_found);
	assert_non_null(strstr(err.text, THREAD));
	put_child(1000, CHILD_ID);
	assert_null(rollout_reader_create(temp_path("sessions/2026/11/21/" CHILD_NAME), &err));
	assert_int_equal(err.code, ERR_invalid);
	assert_non_null(strstr(err.text, "refers to itself")); /* the file is read only once */
}

static void context_messages_of_0_169_start_no_turn(void **state)
{
	(void)state;
#define KINDS(kind) "\"internal_chat_message_metadata_passthrough\":{\"content_item_kinds\":[\"" kind "\"]}"
	line("response_item",
	     "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"hook\"}]," KINDS(
		     "hooks.prompt") "}");
	line("response_item", "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":"
	                      "\"<skill of mine\"}]," KINDS("user.text") "}");
	line("inter_agent_communication",
	     "{\"author\":\"/root\",\"recipient\":\"/root/a\",\"content\":\"do it\",\"trigger_turn\":true}");
	struct rollout_reader *reader = read_file_so_far();
	assert_int_equal(reader->user_turns, 2);
	assert_str(reader->history.items[2],
	           "{\"type\":\"agent_message\",\"author\":\"/root\",\"recipient\":\"/root/a\",\"content\":"
	           "[{\"type\":\"input_text\",\"text\":\"do it\"}]}");
	rollout_reader_destroy(reader);
}

/* A recorded session: three turns, one of them interrupted, and a compaction. */
static void the_recorded_session_of_0_169(void **state)
{
	(void)state;
	const char *path = shared_path("reference/captures/rollout-sample.jsonl");
	if (!path)
		skip();
	struct rollout_reader *reader = read_path(path);
	auto_buf struct buf damage;
	buf_init(&damage, 4096);
	assert_false(rollout_reader_describe_damage(reader, &damage));
	assert_true(reader->meta.is_paginated);
	assert_str(reader->turn.model, "mock-model");
	assert_str(reader->marks.items[reader->marks.count - 1].response_id, "resp_340");
	assert_false(reader->is_turn_open);
	assert_false(reader->needs_context);
	assert_int_equal(reader->user_turns, 3);
	/* five replacement items, two of new context, the user's message and the answer */
	assert_true(reader->history.count >= 9);
	assert_true(str_find(reader->history.items[0], STR("do work")) > 0);
	assert_true(str_find(reader->history.items[reader->history.count - 2], STR("after compact")) > 0);
	vec_for_each(it, &reader->history)
		assert_true(str_find(*it, STR("internal_chat_message_metadata_passthrough")) < 0);
	rollout_reader_destroy(reader);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(a_complete_session_is_read),
		FILE_TEST(items_keep_their_bytes),
		cmocka_unit_test(notes_of_the_writer_are_not_sent),
		FILE_TEST(a_rolled_back_turn_is_removed_with_its_preamble),
		FILE_TEST(rolling_back_everything_keeps_the_first_context),
		FILE_TEST(odd_rollbacks_do_nothing),
		FILE_TEST(a_compaction_with_history_replaces_all_before_it),
		FILE_TEST(rolling_back_a_compacted_turn_undoes_the_compaction),
		FILE_TEST(an_old_compaction_keeps_user_messages_and_the_summary),
		FILE_TEST(messages_kept_by_an_old_compaction_have_a_budget),
		FILE_TEST(items_that_requests_cannot_contain_are_dropped),
		FILE_TEST(only_damaged_lines_are_skipped),
		FILE_TEST(numbered_lines_are_sorted_without_duplicates),
		FILE_TEST(only_requested_data_is_kept),
		FILE_TEST(the_history_is_read_without_parsing_events_that_have_no_effect),
		FILE_TEST(the_numbers_of_unparsed_events_count),
		FILE_TEST(calls_and_outputs_that_stand_alone_are_left_out),
		FILE_TEST(a_last_line_without_newline_counts),
		FILE_TEST(an_invalid_session_is_refused_with_a_reason),
		FILE_TEST(a_turn_that_never_ended_is_seen),
		FILE_TEST(a_copied_fork_is_the_forks_own),
		FILE_TEST(bare_lines_are_read),
		FILE_TEST(a_fork_by_reference_begins_with_its_parents_lines),
		FILE_TEST(a_fork_without_a_parent_or_of_itself_is_refused),
		FILE_TEST(context_messages_of_0_169_start_no_turn),
		FILE_TEST(the_recorded_session_of_0_169),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
