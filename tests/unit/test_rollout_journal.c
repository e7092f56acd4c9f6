/* Events are converted to the lines that the readers of the file expect. */
#include "temp.h"

#include "base/limits.h"
#include "base/uuid.h"
#include "protocol/record/types.h"
#include "rollout/rollout_journal.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_writer.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"

static struct rollout_writer *writer_of(bool is_paginated)
{
	struct rollout_meta meta = {
		.thread_id = STR(THREAD), .started_at_ms = 1795218073724, .is_paginated = is_paginated};
	return rollout_writer_create(temp_root, &meta, fsync_policy_none);
}

static struct rollout_journal *journal;

static struct rollout_writer *begin(bool is_paginated)
{
	struct rollout_writer *writer = writer_of(is_paginated);
	journal = rollout_journal_create(writer, STR(THREAD));
	return writer;
}

static struct rollout_writer *legacy(void)
{
	return begin(false);
}

static void append_in(struct str turn_id, enum event_tag tag, const void *body)
{
	struct event_msg event = {.tag = tag, .body = (void *)(uintptr_t)body};
	assert_int_equal(rollout_journal_event(journal, turn_id, &event, NULL), 0);
}

static void append(enum event_tag tag, const void *body)
{
	append_in(STR("t1"), tag, body);
}

static void complete(struct turn_item *item)
{
	append(EV_item_completed,
	       &(struct ev_item_completed){.thread_id = STR(THREAD), .turn_id = STR("t1"), .item = item});
}

static void end(struct rollout_writer *writer)
{
	rollout_journal_destroy(journal);
	rollout_writer_destroy(writer);
}

/* Replaces times by N and generated ids by U. */
static char *mask(struct str text)
{
	struct buf out;
	buf_init(&out, 65536);
	while (text.len) {
		bool is_time = str_has_prefix(text, "_ms\":") || str_has_prefix(text, "d_at\":");
		size_t len = is_time ? (size_t)str_find_char(text, ':') + 1 : 1;
		struct str id = str_n(text.ptr, text.len < UUID_TEXT_SIZE - 1 ? text.len : UUID_TEXT_SIZE - 1);
		bool is_made_up = uuid_is_valid(id) && !str_is(id, THREAD);
		buf_append(&out, is_made_up ? "U" : text.ptr, len);
		text = str_skip(text, is_made_up ? id.len : len);
		if (is_time)
			buf_append_char(&out, 'N');
		while (is_time && text.len && text.ptr[0] >= '0' && text.ptr[0] <= '9')
			text = str_skip(text, 1);
	}
	return buf_take(&out);
}

/* Flushes and compares the payloads after the first line, one per line. */
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
	auto_free char *masked = mask(buf_str(&got));
	assert_string_equal(masked, want);
	end(writer);
}

static void the_parts_of_a_user_message_are_joined(void **state)
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
	complete(&(struct turn_item){.tag = turn_item_user_message, .user_message = &user});
	assert_payloads(writer,
	                "{\"type\":\"user_message\",\"message\":\"a \\\"b\\\" cd\",\"images\":[\"data:,\"],"
	                "\"local_images\":[\"/i.png\"],\"text_elements\":[{\"byte_range\":{\"start\":6,\"end\":8},"
	                "\"placeholder\":\"@x\"}]}\n");
}

static struct agent_text hello_text = {.text = {"hello", 5}};
static struct agent_content hello = {.tag = agent_content_text, .text = &hello_text};
static struct agent_message_item agent = {.id = {"m1", 2}, .content = &hello, .content_count = 1};

static void files_without_numbers_contain_legacy_events_only(void **state)
{
	(void)state;
	struct str parts[] = {STR("one"), STR("two")};
	struct reasoning_item reasoning = {
		.summary_text = parts, .summary_text_count = 2, .raw_content = parts, .raw_content_count = 1};
	struct rollout_writer *writer = legacy();
	complete(&(struct turn_item){.tag = turn_item_agent_message, .agent_message = &agent});
	complete(&(struct turn_item){.tag = turn_item_reasoning, .reasoning = &reasoning});
	complete(&(struct turn_item){.tag = turn_item_context_compaction,
	                             .context_compaction = &(struct compaction_item){.id = STR("c")}});
	assert_payloads(writer, "{\"type\":\"agent_message\",\"message\":\"hello\"}\n"
	                        "{\"type\":\"agent_reasoning\",\"text\":\"one\"}\n"
	                        "{\"type\":\"agent_reasoning\",\"text\":\"two\"}\n"
	                        "{\"type\":\"agent_reasoning_raw_content\",\"text\":\"one\"}\n"
	                        "{\"type\":\"context_compacted\"}\n");
}

/* As assert_payloads, for a numbered file; each line must have its number. */
static void assert_numbered(struct rollout_writer *writer, const char *want)
{
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	auto_arena struct arena arena = {0};
	auto_buf struct buf got;
	buf_init(&got, 65536);
	struct str rest = str_of(bytes), line;
	for (uint64_t ordinal = 0; str_next_line(&rest, &line); ordinal++) {
		struct rollout_line parsed;
		assert_int_equal(rollout_line_parse(&arena, line, &parsed, NULL), 0);
		assert_true(parsed.has_ordinal);
		assert_int_equal(parsed.ordinal, ordinal);
		if (ordinal == 0)
			continue;
		buf_append_str(&got, parsed.payload->span);
		buf_append_char(&got, '\n');
	}
	auto_free char *masked = mask(buf_str(&got));
	assert_string_equal(masked, want);
	end(writer);
}

#define ITEM                                                                                                \
	"{\"type\":\"item_completed\",\"thread_id\":\"" THREAD "\",\"turn_id\":\"t1\",\"started_at_ms\":N," \
	"\"completed_at_ms\":N,\"item\":"

static void numbered_files_contain_items_and_legacy_events(void **state)
{
	(void)state;
	struct plan_item plan = {.id = STR("p"), .text = STR("P")};
	struct reasoning_item reasoning = {.id = STR("r")};
	struct user_input image = {.tag = user_input_image, .image = &(struct input_image){.image_url = STR("data:,")}};
	struct user_message_item user = {.id = STR("u"), .content = &image, .content_count = 1};
	struct rollout_writer *writer = begin(true);
	complete(&(struct turn_item){.tag = turn_item_user_message, .user_message = &user});
	complete(&(struct turn_item){.tag = turn_item_agent_message, .agent_message = &agent});
	complete(&(struct turn_item){.tag = turn_item_plan, .plan = &plan});
	complete(&(struct turn_item){.tag = turn_item_reasoning, .reasoning = &reasoning});
	assert_numbered(writer,
	                ITEM "{\"type\":\"UserMessage\",\"id\":\"u\",\"content\":[{\"type\":\"image\","
	                     "\"image_url\":\"data:,\"}]}}\n"
	                     "{\"type\":\"user_message\",\"message\":\"\",\"images\":[],\"local_images\":[],"
	                     "\"text_elements\":[]}\n" ITEM
	                     "{\"type\":\"AgentMessage\",\"id\":\"m1\",\"content\":[{\"type\":\"Text\",\"text\":"
	                     "\"hello\"}]}}\n"
	                     "{\"type\":\"agent_message\",\"message\":\"hello\"}\n" ITEM
	                     "{\"type\":\"Plan\",\"id\":\"p\",\"text\":\"P\"}}\n" ITEM
	                     "{\"type\":\"Reasoning\",\"id\":\"r\",\"summary_text\":[],\"raw_content\":[]}}\n");
}

static struct str words[] = {{"echo", 4}, {"hi", 2}};
static struct parsed_unknown unknown = {.cmd = {"echo hi", 7}};
static struct parsed_command parsed = {.tag = parsed_command_unknown, .unknown = &unknown};
static struct duration two_seconds = {.secs = 2, .nanos = 7};

static struct ev_exec_end exec_end(const char *id, int exit_code, struct str output)
{
	return (struct ev_exec_end){
		.call_id = str_of(id),
		.process_id = STR("12"),
		.turn_id = STR("t1"),
		.command = words,
		.command_count = countof(words),
		.cwd = STR("/a b/%"),
		.parsed_cmd = &parsed,
		.parsed_cmd_count = 1,
		.source = exec_source_unified_exec_startup,
		.aggregated_output = output,
		.exit_code = exit_code,
		.duration = &two_seconds,
	};
}

#define COMMAND(id, process)                                        \
	"{\"type\":\"CommandExecution\",\"id\":\"" id "\"," process \
	"\"cwd\":\"file:///a%20b/%25\",\"command\":[\"echo\","      \
	"\"hi\"],\"parsed_cmd\":[{\"type\":\"unknown\",\"cmd\":\"echo hi\"}],"

static void commands_are_items(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct ev_exec_end good = exec_end("c1", 0, STR("hi\n")), no = exec_end("c2", -1, STR("rejected"));
	append(EV_exec_command_begin, &(struct ev_exec_begin){.call_id = STR("c1"), .turn_id = STR("t1")});
	append(EV_exec_command_begin, &(struct ev_exec_begin){.call_id = STR("c2"), .turn_id = STR("t1")});
	rollout_journal_decide(journal, STR("c2"), true);
	rollout_journal_decide(journal, STR("nobody"), true);
	append(EV_exec_command_end, &good);
	append(EV_exec_command_end, &no);
	assert_numbered(
		writer,
		ITEM COMMAND("c1",
	                     "\"process_id\":\"12\",") "\"source\":\"unified_exec_startup\",\"status\":\"completed\","
						       "\"aggregated_output\":\"hi\\n\","
						       "\"exit_code\":0,\"duration\":{\"secs\":2,\"nanos\":7}}}\n" ITEM
							       COMMAND("c2", "") "\"source\":\"agent\",\"status\":"
										 "\"declined\"}}\n");
}

static struct ev_exec_approval exec_asked(const char *id)
{
	return (struct ev_exec_approval){
		.call_id = str_of(id),
		.turn_id = STR("t1"),
		.command = words,
		.command_count = countof(words),
		.cwd = STR("/a b/%"),
		.parsed_cmd = &parsed,
		.parsed_cmd_count = 1,
	};
}

/* Such a command has no begin and no end. An approved one has them, and is written once. */
static void a_command_that_was_declined_or_not_answered_is_an_item(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct ev_exec_approval yes = exec_asked("c1"), no = exec_asked("c2"), none = exec_asked("c3");
	struct ev_exec_end good = exec_end("c1", 0, STR("hi\n"));
	append(EV_exec_approval_request, &yes);
	append(EV_exec_approval_request, &no);
	append(EV_exec_approval_request, &none);
	rollout_journal_decide(journal, STR("c1"), false);
	append(EV_exec_command_begin, &(struct ev_exec_begin){.call_id = STR("c1"), .turn_id = STR("t1")});
	rollout_journal_decide(journal, STR("c2"), true);
	append(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	append(EV_exec_command_end, &good);
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	const char *declined = "\"source\":\"agent\",\"status\":\"declined\"}}\n";
	const char *second = strstr(bytes, "\"id\":\"c2\""), *third = strstr(bytes, "\"id\":\"c3\"");
	const char *first = strstr(bytes, "\"id\":\"c1\""), *end_line = strstr(bytes, "\"turn_aborted\"");
	assert_true(second && third && first && end_line);
	assert_true(second < third && third < end_line && end_line < first);
	assert_true(strstr(second, declined) < third && strstr(third, declined) < end_line);
	assert_null(strstr(first, declined));
	assert_null(strstr(first + 1, "\"id\":\"c1\""));
	end(writer);
}

/* Before the profile of 0.169 a denied command has no end, and the turn continues. */
static void a_declined_command_leaves_its_id_to_the_next(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct ev_exec_approval asked = exec_asked("c1");
	struct ev_exec_end good = exec_end("c1", 0, STR("hi\n"));
	struct ev_exec_begin start = {.call_id = STR("c1"), .turn_id = STR("t1")};
	for (int i = 0; i < 2; i++) {
		append(EV_exec_approval_request, &asked);
		rollout_journal_decide(journal, STR("c1"), true);
		if (i == 1) {
			append(EV_exec_approval_request, &asked);
			rollout_journal_decide(journal, STR("c1"), false);
		}
		append(EV_exec_command_begin, &start);
		append(EV_exec_command_end, &good);
	}
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	const char *at = bytes;
	for (int i = 0; i < 4; i++) {
		at = strstr(at + 1, "\"status\":\"");
		assert_non_null(at);
		assert_true(str_has_prefix(str_of(at), i % 2 ? "\"status\":\"completed\"" : "\"status\":\"declined\""));
	}
	assert_null(strstr(at + 1, "\"status\":\""));
	end(writer);
}

/* Returns how often the text occurs in the file. */
static size_t count_in_file(struct rollout_writer *writer, const char *text)
{
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	size_t count = 0;
	for (const char *at = bytes; (at = strstr(at, text)); at++)
		count++;
	return count;
}

/* A command that continues in the background keeps its item when a later response or turn repeats its call id. */
static void check_background(enum event_tag tag, const void *body)
{
	struct rollout_writer *writer = begin(true);
	struct ev_exec_end behind = exec_end("c1", 3, STR("behind")), before = exec_end("c1", 4, STR("before"));
	behind.process_id = STR("1");
	before.process_id = STR("2");
	append(EV_exec_command_begin,
	       &(struct ev_exec_begin){.call_id = STR("c1"), .process_id = STR("1"), .turn_id = STR("first")});
	append(tag, body);
	append(EV_exec_command_begin,
	       &(struct ev_exec_begin){.call_id = STR("c1"), .process_id = STR("2"), .turn_id = STR("second")});
	rollout_journal_decide(journal, STR("c1"), true);
	append(EV_exec_command_end, &before);
	append(EV_exec_command_end, &behind);
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	const char *second = strstr(bytes, "\"turn_id\":\"second\""), *first = strstr(bytes, "\"turn_id\":\"first\"");
	assert_true(first && second && second < first);
	assert_true(strstr(second, "\"status\":\"declined\"") < first);
	assert_non_null(strstr(first, "\"status\":\"failed\""));
	end(writer);
}

static void a_background_command_keeps_its_item(void **state)
{
	(void)state;
	check_background(EV_model_turn_complete, &(struct ev_model_turn_complete){0});
}

static void a_command_of_an_interrupted_turn_keeps_its_item(void **state)
{
	(void)state;
	check_background(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
}

/* Those of a script do; an approval that comes later counts, too. */
static void calls_that_outlive_a_response_are_written_once(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct mcp_invocation invocation = {.server = STR("s"), .tool = STR("t")};
	struct mcp_answer answer = {.answer = STR("{}")};
	struct mcp_result result = {.tag = mcp_result_ok, .ok = &answer};
	struct ev_exec_approval asked = exec_asked("c2");
	struct ev_exec_end good = exec_end("c2", 0, STR("hi\n"));
	append(EV_mcp_tool_call_begin, &(struct ev_mcp_call_begin){.call_id = STR("c1"), .invocation = &invocation});
	append(EV_exec_approval_request, &asked);
	append(EV_model_turn_complete, &(struct ev_model_turn_complete){0});
	rollout_journal_decide(journal, STR("c2"), false);
	append(EV_exec_command_begin,
	       &(struct ev_exec_begin){.call_id = STR("c2"), .process_id = STR("12"), .turn_id = STR("t1")});
	append(EV_mcp_tool_call_end,
	       &(struct ev_mcp_call_end){
		       .call_id = STR("c1"), .invocation = &invocation, .duration = &two_seconds, .result = &result});
	append(EV_exec_command_end, &good);
	append(EV_task_complete, &(struct ev_task_complete){0});
	assert_int_equal(count_in_file(writer, "\"id\":\"c1\""), 1);
	assert_int_equal(count_in_file(writer, "\"id\":\"c2\""), 1);
	assert_int_equal(count_in_file(writer, "\"status\":\"completed\""), 2);
	end(writer);
}

#define SECOND "01900000-0000-7000-8000-000000000002"

static void an_interrupted_call_of_the_client_leaves_its_id(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct ev_exec_end ended = exec_end("c1", 0, STR("x"));
	append(EV_dynamic_tool_call_request, &(struct ev_dynamic_tool_call){.callId = STR("c1"), .turnId = STR("t1")});
	append(EV_turn_aborted, &(struct ev_turn_aborted){0});
	append_in(STR(SECOND), EV_exec_command_begin,
	          &(struct ev_exec_begin){.call_id = STR("c1"), .turn_id = STR(SECOND)});
	append_in(STR(SECOND), EV_exec_command_end, &ended);
	assert_int_equal(count_in_file(writer, "\"turn_id\":\"" SECOND "\",\"started_at_ms\""), 1);
	end(writer);
}

/* So readers know the order in which items began, also of parallel calls. */
static void no_two_items_begin_at_one_time(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	static const char *const ids[] = {"c1", "c2", "c3"};
	for (size_t i = 0; i < countof(ids); i++)
		append(EV_exec_command_begin, &(struct ev_exec_begin){.call_id = str_of(ids[i]), .turn_id = STR("t1")});
	for (size_t i = countof(ids); i-- > 0;) {
		struct ev_exec_end ended = exec_end(ids[i], 0, STR("x"));
		append(EV_exec_command_end, &ended);
	}
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	long long latest = 0, from, to;
	const char *at = bytes;
	for (size_t i = 0; i < countof(ids); i++) {
		at = strstr(at + 1, "\"started_at_ms\":");
		assert_non_null(at);
		assert_int_equal(sscanf(at, "\"started_at_ms\":%lld,\"completed_at_ms\":%lld", &from, &to), 2);
		assert_true(from != 0 && to >= from && (!latest || from < latest));
		latest = from;
	}
	end(writer);
}

static void a_long_output_is_cut_in_the_middle(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	auto_free char *output = xmalloc(LIMIT_EXEC_CAPTURE);
	memset(output, 'x', LIMIT_EXEC_CAPTURE);
	struct ev_exec_end event = exec_end("c1", 3, str_n(output, LIMIT_EXEC_CAPTURE));
	append(EV_exec_command_end, &event);
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_true(strlen(bytes) > LIMIT_ROLLOUT_OUTPUT && strlen(bytes) < LIMIT_ROLLOUT_OUTPUT + 2048);
	assert_non_null(strstr(bytes, "truncated"));
	assert_non_null(strstr(bytes, "\"status\":\"failed\""));
	end(writer);
}

#define COLLAB(id, tool, status)                                                                              \
	ITEM "{\"type\":\"CollabAgentToolCall\",\"id\":\"" id "\",\"tool\":\"" tool "\",\"status\":\"" status \
	     "\",\"sender_thread_id\":\"me\","
#define NOBODY "\"receiver_thread_ids\":[],\"receiver_agents\":[],"
#define RECEIVER(nickname) "\"receiver_thread_ids\":[\"a\"],\"receiver_agents\":[{\"thread_id\":\"a\"" nickname "}],"
#define ONE RECEIVER("")
#define NAMED RECEIVER(",\"agent_nickname\":\"Elm\"")

static struct agent_status starting = {.tag = agent_status_pending_init};
static struct agent_status gone = {.tag = agent_status_not_found};

static void dealings_with_subagents_are_items(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct ev_collab_spawn_end spawned = {.call_id = STR("s1"),
	                                      .sender_thread_id = STR("me"),
	                                      .prompt = STR("go"),
	                                      .new_thread_id = STR("a"),
	                                      .model = STR("m"),
	                                      .status = &starting,
	                                      .has_reasoning_effort = true,
	                                      .reasoning_effort = reasoning_effort_low};
	struct ev_collab_spawn_end failed = {.call_id = STR("s2"),
	                                     .sender_thread_id = STR("me"),
	                                     .prompt = STR("go"),
	                                     .model = STR(""),
	                                     .status = &gone};
	struct ev_collab_interaction_end said = {.call_id = STR("i1"),
	                                         .sender_thread_id = STR("me"),
	                                         .prompt = STR("more"),
	                                         .receiver_thread_id = STR("a"),
	                                         .status = &starting};
	struct ev_collab_close_end closed = {
		.call_id = STR("c1"), .sender_thread_id = STR("me"), .receiver_thread_id = STR("a"), .status = &gone};
	struct ev_collab_resume_end resumed = {.call_id = STR("r1"),
	                                       .sender_thread_id = STR("me"),
	                                       .receiver_thread_id = STR("a"),
	                                       .status = &starting};
	append(EV_collab_agent_spawn_begin, &(struct ev_collab_spawn_begin){.call_id = STR("s1")});
	append(EV_collab_agent_spawn_end, &spawned);
	append(EV_collab_agent_spawn_end, &failed);
	append(EV_collab_agent_interaction_end, &said);
	append(EV_collab_close_end, &closed);
	append(EV_collab_resume_end, &resumed);
	assert_numbered(
		writer, COLLAB("s1", "spawn_agent", "completed") ONE
		"\"prompt\":\"go\",\"model\":\"m\",\"reasoning_effort\":\"low\","
		"\"agents_states\":{\"a\":\"pending_init\"}}}\n" COLLAB("s2", "spawn_agent", "failed") NOBODY
		"\"prompt\":\"go\",\"model\":\"\",\"agents_states\":{}}}\n" COLLAB("i1", "send_input", "completed") ONE
		"\"prompt\":\"more\",\"agents_states\":{\"a\":\"pending_init\"}}}\n" COLLAB("c1", "close_agent",
	                                                                                    "failed") ONE
		"\"agents_states\":{\"a\":\"not_found\"}}}\n" COLLAB("r1", "resume_agent", "completed") ONE
		"\"agents_states\":{\"a\":\"pending_init\"}}}\n");
}

#define CALL(tool, status) "\"tool\":\"" tool "\",\"status\":\"" status "\",\"sender_thread_id\":\"me\","

static void items_name_their_receivers(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct str ids[] = {STR("a")}, me = STR("me"), elm = STR("Elm");
	struct collab_agent_ref ref = {STR("a"), elm};
	struct collab_agent_status_entry entry = {STR("a"), elm, &starting};
	append(EV_collab_agent_spawn_end, &(struct ev_collab_spawn_end){.call_id = STR("s"),
	                                                                .sender_thread_id = me,
	                                                                .new_thread_id = STR("a"),
	                                                                .new_agent_nickname = elm,
	                                                                .status = &starting});
	append(EV_collab_agent_interaction_end, &(struct ev_collab_interaction_end){.call_id = STR("i"),
	                                                                            .sender_thread_id = me,
	                                                                            .receiver_thread_id = STR("a"),
	                                                                            .receiver_agent_nickname = elm,
	                                                                            .status = &starting});
	append(EV_collab_close_end, &(struct ev_collab_close_end){.call_id = STR("c"),
	                                                          .sender_thread_id = me,
	                                                          .receiver_thread_id = STR("a"),
	                                                          .receiver_agent_nickname = elm,
	                                                          .status = &starting});
	append(EV_collab_resume_end, &(struct ev_collab_resume_end){.call_id = STR("r"),
	                                                            .sender_thread_id = me,
	                                                            .receiver_thread_id = STR("a"),
	                                                            .receiver_agent_nickname = elm,
	                                                            .status = &starting});
	append(EV_collab_waiting_end, &(struct ev_collab_waiting_end){.call_id = STR("w"),
	                                                              .sender_thread_id = me,
	                                                              .statuses_keys = ids,
	                                                              .statuses = &starting,
	                                                              .statuses_count = 1,
	                                                              .agent_statuses = &entry,
	                                                              .agent_statuses_count = 1});
	append(EV_task_started, &(struct ev_task_started){0});
	append(EV_collab_waiting_begin, &(struct ev_collab_waiting_begin){.call_id = STR("cut"),
	                                                                  .sender_thread_id = me,
	                                                                  .receiver_thread_ids = ids,
	                                                                  .receiver_thread_ids_count = 1,
	                                                                  .receiver_agents = &ref,
	                                                                  .receiver_agents_count = 1});
	append(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_non_null(strstr(bytes, CALL("spawn_agent", "completed") NAMED));
	assert_non_null(strstr(bytes, CALL("send_input", "completed") NAMED));
	assert_non_null(strstr(bytes, CALL("close_agent", "completed") NAMED));
	assert_non_null(strstr(bytes, CALL("resume_agent", "completed") NAMED));
	assert_non_null(strstr(bytes, CALL("wait", "completed") NAMED));
	assert_non_null(strstr(bytes, CALL("wait", "interrupted") NAMED));
	end(writer);
}

static void a_wait_is_an_item_with_final_messages(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct agent_status done = {.tag = agent_status_completed,
	                            .completed = &(struct agent_completed){.message = STR("Pears.")}};
	struct str ids[] = {STR("a")};
	append(EV_task_started, &(struct ev_task_started){0});
	append(EV_collab_waiting_end, &(struct ev_collab_waiting_end){.call_id = STR("w1"),
	                                                              .sender_thread_id = STR("me"),
	                                                              .statuses_keys = ids,
	                                                              .statuses = &done,
	                                                              .statuses_count = 1});
	append(EV_collab_waiting_begin, &(struct ev_collab_waiting_begin){.call_id = STR("w2"),
	                                                                  .sender_thread_id = STR("me"),
	                                                                  .receiver_thread_ids = ids,
	                                                                  .receiver_thread_ids_count = 1});
	append(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_non_null(strstr(
		bytes, "\"id\":\"w1\",\"tool\":\"wait\",\"status\":\"completed\",\"sender_thread_id\":\"me\"," ONE
		       "\"agents_states\":{\"a\":{\"completed\":\"Pears.\"}}}"));
	const char *cut_off = strstr(bytes, "\"id\":\"w2\",\"tool\":\"wait\",\"status\":\"interrupted\","
	                                    "\"sender_thread_id\":\"me\"," ONE "\"agents_states\":{}}");
	assert_non_null(cut_off);
	assert_true(cut_off < strstr(bytes, "\"turn_aborted\""));
	end(writer);
}

static void final_messages_of_many_subagents_fit_into_a_line(void **state)
{
	(void)state;
	enum { MANY = 4 };
	struct rollout_writer *writer = begin(true);
	auto_free char *text = xmalloc(LIMIT_LINE);
	memset(text, 'x', LIMIT_LINE);
	struct agent_completed last = {.message = str_n(text, LIMIT_LINE)};
	struct agent_status done[MANY];
	struct str ids[MANY] = {STR("a"), STR("b"), STR("c"), STR("d")};
	for (size_t i = 0; i < MANY; i++)
		done[i] = (struct agent_status){.tag = agent_status_completed, .completed = &last};
	append(EV_collab_waiting_end, &(struct ev_collab_waiting_end){.call_id = STR("w1"),
	                                                              .sender_thread_id = STR("me"),
	                                                              .statuses_keys = ids,
	                                                              .statuses = done,
	                                                              .statuses_count = MANY});
	assert_int_equal(rollout_writer_flush(writer, NULL), 0);
	auto_free char *bytes = temp_get(rollout_writer_path(writer));
	assert_in_range(strlen(bytes), LIMIT_LINE / 2, LIMIT_LINE);
	assert_non_null(strstr(bytes, "truncated"));
	end(writer);
}

static struct file_change new_file = {.tag = file_change_add, .add = &(struct file_add){.content = {"x", 1}}};
static struct str new_path = {"/n", 2};
#define CHANGES "\"changes\":{\"/n\":{\"type\":\"add\",\"content\":\"x\"}},"

static void patches_and_images_are_items(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	append(EV_patch_apply_begin,
	       &(struct ev_patch_begin){
		       .call_id = STR("p1"), .changes = &new_file, .changes_keys = &new_path, .changes_count = 1});
	append(EV_patch_apply_end, &(struct ev_patch_end){.call_id = STR("p1"),
	                                                  .turn_id = STR("t1"),
	                                                  .standard_output = STR("fine"),
	                                                  .success = true,
	                                                  .changes = &new_file,
	                                                  .changes_keys = &new_path,
	                                                  .changes_count = 1});
	append(EV_view_image_tool_call, &(struct ev_view_image){.call_id = STR("v1"), .path = STR("/i.png")});
	assert_numbered(writer, ITEM "{\"type\":\"FileChange\",\"id\":\"p1\"," CHANGES
	                             "\"status\":\"completed\",\"stdout\":\"fine\",\"stderr\":\"\"}}\n" ITEM
	                             "{\"type\":\"ImageView\",\"id\":\"v1\",\"path\":\"file:///i.png\"}}\n");
}

static void open_items_are_written_at_the_end_of_the_turn(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	struct agent_message_item message = {.id = STR("m1")};
	struct turn_item item = {.tag = turn_item_agent_message, .agent_message = &message};
	struct ev_exec_end late = exec_end("c1", 0, STR(""));
	append(EV_item_started, &(struct ev_item_started){.turn_id = STR("t1"), .item = &item});
	append(EV_agent_message_content_delta, &(struct ev_content_delta){.item_id = STR("m1"), .delta = STR("as ")});
	append(EV_agent_message_content_delta, &(struct ev_content_delta){.item_id = STR("m1"), .delta = STR("far")});
	append(EV_exec_command_begin, &(struct ev_exec_begin){.call_id = STR("c1"), .turn_id = STR("t1")});
	append(EV_apply_patch_approval_request,
	       &(struct ev_patch_approval){
		       .call_id = STR("p1"), .changes = &new_file, .changes_keys = &new_path, .changes_count = 1});
	append(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	append_in(STR("t2"), EV_exec_command_end, &late);
	assert_numbered(
		writer, ITEM
		"{\"type\":\"AgentMessage\",\"id\":\"m1\",\"content\":[{\"type\":\"Text\",\"text\":"
		"\"as far\"}]}}\n" ITEM "{\"type\":\"FileChange\",\"id\":\"p1\"," CHANGES
		"\"status\":\"failed\",\"stdout\":\"\",\"stderr\":\"\"}}\n"
		"{\"turn_id\":\"t1\",\"completed_at\":N,\"duration_ms\":N,\"type\":\"turn_aborted\","
		"\"reason\":\"interrupted\"}\n" ITEM COMMAND(
			"c1", "\"process_id\":\"12\",") "\"source\":\"unified_exec_startup\",\"status\":\"completed\","
							"\"aggregated_output\":\"\","
							"\"exit_code\":0,\"duration\":{\"secs\":2,\"nanos\":7}}}\n");
}

static void a_turn_has_one_name_in_the_file(void **state)
{
	(void)state;
	struct rollout_writer *writer = begin(true);
	append_in(STR("0"), EV_task_started, &(struct ev_task_started){0});
	auto_free char *first = str_dup(rollout_journal_turn_id(journal, STR("0")));
	assert_true(uuid_is_valid(str_of(first)));
	assert_true(str_is(rollout_journal_turn_id(journal, STR("other")), "other"));
	append_in(STR("0"), EV_error, &(struct ev_error){.message = STR("no"), .codex_error_info = STR("\"other\"")});
	append_in(STR("8"), EV_error, &(struct ev_error){.message = STR("refused")});
	append_in(STR("0"), EV_task_complete, &(struct ev_task_complete){0});
	append_in(STR("0"), EV_task_started, &(struct ev_task_started){0});
	assert_false(str_is(rollout_journal_turn_id(journal, STR("0")), first));
	append_in(STR(THREAD), EV_task_started, &(struct ev_task_started){0});
	assert_true(str_is(rollout_journal_turn_id(journal, STR(THREAD)), THREAD));
#define ENDED "\"started_at\":N,\"completed_at\":N,\"duration_ms\":N,"
#define STARTED                                                                     \
	"\"started_at\":N,\"type\":\"task_started\",\"model_context_window\":null," \
	"\"collaboration_mode_kind\":\"default\"}\n"
	assert_numbered(writer, "{\"turn_id\":\"U\"," STARTED
	                        "{\"turn_id\":\"U\",\"error\":{\"message\":\"no\",\"codex_error_info\":\"other\"},"
	                        "\"started_at\":N,\"completed_at\":N,\"duration_ms\":N,\"type\":\"task_complete\","
	                        "\"last_agent_message\":null}\n"
	                        "{\"turn_id\":\"U\"," STARTED "{\"turn_id\":\"" THREAD "\"," STARTED);
}

static void turns_have_a_begin_and_an_end(void **state)
{
	(void)state;
	struct rollout_writer *writer = legacy();
	append(EV_task_started, &(struct ev_task_started){0});
	append(EV_token_count, &(struct ev_token_count){0});
	append(EV_turn_aborted, &(struct ev_turn_aborted){.reason = turn_abort_reason_interrupted});
	append(EV_task_complete, &(struct ev_task_complete){.response_id = STR("r")});
	assert_payloads(writer,
	                "{\"turn_id\":\"t1\"," STARTED "{\"type\":\"token_count\",\"info\":null,\"rate_limits\":null}\n"
	                "{\"turn_id\":\"t1\"," ENDED "\"type\":\"turn_aborted\",\"reason\":\"interrupted\"}\n"
	                "{\"turn_id\":\"t1\"," ENDED "\"type\":\"task_complete\",\"last_agent_message\":null,"
	                "\"response_id\":\"r\"}\n");
}

static void work_in_progress_leaves_no_trace(void **state)
{
	(void)state;
	struct rollout_writer *writer = legacy();
	append(EV_warning, &(struct ev_warning){.message = STR("w")});
	append(EV_error, &(struct ev_error){.message = STR("e")});
	append(EV_agent_message_content_delta, &(struct ev_content_delta){.delta = STR("d")});
	append(EV_shutdown_complete, NULL);
	append(EV_exec_command_end, &(struct ev_exec_end){.call_id = STR("c")});
	append(EV_view_image_tool_call, &(struct ev_view_image){.call_id = STR("v")});
	assert_int_equal(rollout_writer_pending_bytes(writer), 0);
	end(writer);
}

#define TEMP_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMP_TEST(the_parts_of_a_user_message_are_joined),
		TEMP_TEST(files_without_numbers_contain_legacy_events_only),
		TEMP_TEST(numbered_files_contain_items_and_legacy_events),
		TEMP_TEST(commands_are_items),
		TEMP_TEST(a_command_that_was_declined_or_not_answered_is_an_item),
		TEMP_TEST(a_declined_command_leaves_its_id_to_the_next),
		TEMP_TEST(a_background_command_keeps_its_item),
		TEMP_TEST(a_command_of_an_interrupted_turn_keeps_its_item),
		TEMP_TEST(calls_that_outlive_a_response_are_written_once),
		TEMP_TEST(an_interrupted_call_of_the_client_leaves_its_id),
		TEMP_TEST(no_two_items_begin_at_one_time),
		TEMP_TEST(a_long_output_is_cut_in_the_middle),
		TEMP_TEST(patches_and_images_are_items),
		TEMP_TEST(dealings_with_subagents_are_items),
		TEMP_TEST(items_name_their_receivers),
		TEMP_TEST(a_wait_is_an_item_with_final_messages),
		TEMP_TEST(final_messages_of_many_subagents_fit_into_a_line),
		TEMP_TEST(open_items_are_written_at_the_end_of_the_turn),
		TEMP_TEST(a_turn_has_one_name_in_the_file),
		TEMP_TEST(turns_have_a_begin_and_an_end),
		TEMP_TEST(work_in_progress_leaves_no_trace),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
