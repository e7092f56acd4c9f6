/* The tables of the protocol: round trips, and errors that name the field. */
#include "test.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/mem.h"
#include "protocol/message/app.h"
#include "protocol/record/enum.h"
#include "protocol/message/message.h"
#include "protocol_texts.h"

static struct submission *decode_ok(const char *json)
{
	struct error err;
	struct submission *submission = submission_decode(str_of(json), &err);
	if (!submission)
		fail_msg("%s", err.text);
	return submission;
}

static void check_refused(const char *json, const char *want)
{
	struct error err;
	struct submission *submission = submission_decode(str_of(json), &err);
	assert_null(submission);
	if (!strstr(err.text, want))
		fail_msg("got \"%s\", want \"%s\" in it", err.text, want);
}

static void a_user_turn_is_read_whole(void **state)
{
	(void)state;
	struct submission *submission = decode_ok(
		"{\"id\":\"7\",\"op\":{\"type\":\"user_turn\",\"items\":[{\"type\":\"text\",\"text\":\"hi\"},"
		"{\"type\":\"local_image\",\"path\":\"/a.png\"}],\"cwd\":\"/w\",\"approval_policy\":\"on-request\","
		"\"sandbox_policy\":{\"type\":\"workspace-write\",\"network_access\":true,\"writable_roots\":[\"/x\"]},"
		"\"model\":\"gpt-5.5\",\"effort\":null,\"summary\":\"auto\",\"final_output_json_schema\":{\"a\": "
		"[1.0]},\"more\":1}}");
	const struct op_user_turn *turn = submission->op.user_turn;
	assert_int_equal(submission->op.tag, OP_user_turn);
	assert_str(submission->id, "7");
	assert_int_equal(turn->items_count, 2);
	assert_str(turn->items[0].text->text, "hi");
	assert_str(turn->items[1].local_image->path, "/a.png");
	assert_int_equal(turn->sandbox_policy->tag, sandbox_workspace_write);
	assert_true(turn->sandbox_policy->workspace_write->network_access);
	assert_str(turn->sandbox_policy->workspace_write->writable_roots[0], "/x");
	assert_false(turn->has_effort);
	assert_str(turn->final_output_json_schema, "{\"a\": [1.0]}");
	submission_destroy(submission);
}

static void both_styles_of_tags_are_read(void **state)
{
	(void)state;
	static const char *const forms[] = {"{\"mode\":\"read-only\"}", "{\"type\":\"read-only\"}"};
	for (size_t i = 0; i < countof(forms); i++) {
		char json[256];
		snprintf(json, sizeof(json),
		         "{\"id\":\"1\",\"op\":{\"type\":\"override_turn_context\",\"sandbox_policy\":%s}}", forms[i]);
		struct submission *submission = decode_ok(json);
		assert_int_equal(submission->op.override_turn_context->sandbox_policy->tag, sandbox_read_only);
		submission_destroy(submission);
	}
}

static void decisions_are_strings_or_objects(void **state)
{
	(void)state;
	struct submission *submission =
		decode_ok("{\"id\":\"1\",\"op\":{\"type\":\"exec_approval\",\"id\":\"c\",\"decision\":\"allow\"}}");
	assert_int_equal(submission->op.exec_approval->decision->tag, review_decision_approved);
	submission_destroy(submission);
	submission = decode_ok(
		"{\"id\":\"1\",\"op\":{\"type\":\"exec_approval\",\"id\":\"c\",\"decision\":"
		"{\"approved_execpolicy_amendment\":{\"proposed_execpolicy_amendment\":[\"git\",\"add\"]}}}}");
	const struct review_decision *decision = submission->op.exec_approval->decision;
	assert_int_equal(decision->tag, review_decision_approved_execpolicy_amendment);
	assert_str(decision->approved_execpolicy_amendment->proposed_execpolicy_amendment[1], "add");
	submission_destroy(submission);
}

static void errors_name_the_field(void **state)
{
	(void)state;
	check_refused("[]", "object");
	check_refused("{\"op\":{\"type\":\"interrupt\"}}", "missing field `id`");
	check_refused("{\"id\":1,\"op\":{\"type\":\"interrupt\"}}", "expected a string");
	check_refused("{\"id\":\"1\"}", "missing field `op`");
	check_refused("{\"id\":\"1\",\"id\":\"2\",\"op\":{\"type\":\"interrupt\"}}", "duplicate field `id`");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"interrupt\"},\"op\":1}", "duplicate field `op`");
	check_refused("{\"id\":\"1\",\"op\":\"interrupt\"}", "invalid type");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"nope\"}}", "unknown variant `nope`");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"user_input\"}}", "missing field `items`");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"user_input\",\"items\":5}}", "expected a sequence");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"user_input\",\"items\":[{\"type\":\"text\",\"text\":5}]}}",
	              "expected a string");
	check_refused("{\"id\":\"1\",\"op\":{\"type\":\"override_turn_context\",\"approval_policy\":\"maybe\"}}",
	              "unknown variant `maybe`");
	check_refused("not json", "line 1");
}

static struct str encode(const struct event *event, struct buf *out)
{
	struct json_writer w = json_writer(out);
	event_encode(event, &w);
	return buf_str(out);
}

static void events_keep_their_field_rules(void **state)
{
	(void)state;
	auto_buf struct buf out;
	buf_init(&out, 4096);
	struct ev_task_complete body = {0};
	struct event *event = event_create(STR("s1"), EV_task_complete, &body);
	assert_str(encode(event, &out),
	           "{\"id\":\"s1\",\"msg\":{\"type\":\"task_complete\",\"last_agent_message\":null}}");
	event_destroy(event);
	buf_clear(&out);
	event = event_create(STR(""), EV_shutdown_complete, NULL);
	assert_str(encode(event, &out), "{\"id\":\"\",\"msg\":{\"type\":\"shutdown_complete\"}}");
	event_destroy(event);
}

static void an_event_owns_a_copy(void **state)
{
	(void)state;
	char text[] = "hello", path[] = "/p";
	struct agent_text part = {.text = str_of(text)};
	struct agent_content content = {.tag = agent_content_text, .text = &part};
	struct agent_message_item message = {.id = STR("m"), .content = &content, .content_count = 1};
	struct turn_item item = {.tag = turn_item_agent_message, .agent_message = &message};
	struct ev_item_completed body = {STR("t"), STR("u"), &item};
	struct event *event = event_create(STR("1"), EV_item_completed, &body);
	struct file_add add = {.content = str_of(text)};
	struct file_change change = {.tag = file_change_add, .add = &add};
	struct str key = str_of(path);
	struct ev_patch_begin patch = {
		.call_id = STR("c"), .changes = &change, .changes_keys = &key, .changes_count = 1};
	struct event *second = event_create(STR("1"), EV_patch_apply_begin, &patch);
	memset(text, 'x', 5);
	memset(path, 'y', 2);
	auto_buf struct buf out;
	buf_init(&out, 4096);
	assert_str(encode(event, &out),
	           "{\"id\":\"1\",\"msg\":{\"type\":\"item_completed\",\"thread_id\":\"t\",\"turn_id\":\"u\","
	           "\"item\":{\"type\":\"AgentMessage\",\"id\":\"m\",\"content\":[{\"type\":\"Text\",\"text\":"
	           "\"hello\"}]}}}");
	buf_clear(&out);
	assert_str(encode(second, &out),
	           "{\"id\":\"1\",\"msg\":{\"type\":\"patch_apply_begin\",\"call_id\":\"c\",\"turn_id\":\"\","
	           "\"auto_approved\":false,\"changes\":{\"/p\":{\"type\":\"add\",\"content\":\"hello\"}}}}");
	event_destroy(event);
	event_destroy(second);
}

static void every_row_has_a_word_of_its_own(void **state)
{
	(void)state;
	const struct union_type *const types[] = {&union_op, &union_event_msg, &union_user_input, &union_sandbox,
	                                          &union_turn_item};
	for (size_t t = 0; t < countof(types); t++) {
		for (size_t i = 0; i < types[t]->count; i++) {
			const struct variant *row = &types[t]->variants[i];
			assert_ptr_equal(union_find_wire(types[t], str_of(row->wire)), row);
			assert_true(row->is_alias || protocol_text(types[t]->name, row->wire)[0] != '\0');
		}
	}
}

/* ---- every row ---- */

#define SLOT(type, base, offset) ((type *)(void *)((char *)(base) + (offset)))

static void fill_record(const struct record *record, struct arena *arena, bool is_full, void *out);

/* Fills the variant at index, or the first one after it that is not an alias. */
static void fill_union(const struct union_type *type, size_t index, struct arena *arena, bool is_full,
                       struct union_head *out)
{
	const struct variant *variant = &type->variants[index % type->count];
	if (variant->is_alias)
		variant = &type->variants[0];
	out->tag = variant->tag;
	if (!variant->body)
		return;
	out->body = arena_alloc(arena, variant->body->size);
	fill_record(variant->body, arena, is_full, out->body);
}

static void *fill_list(const struct field *field, struct arena *arena, bool is_full, size_t count)
{
	const struct record *record = field_type(field);
	if (field->kind == FIELD_strs) {
		struct str *items = arena_array(arena, struct str, count);
		for (size_t i = 0; i < count; i++)
			items[i] = STR("word\n");
		return items;
	}
	char *items = arena_alloc(arena, field->kind == FIELD_records ? record->size * count
	                                                              : sizeof(struct union_head) * count);
	for (size_t i = 0; i < count; i++) {
		if (field->kind == FIELD_records)
			fill_record(record, arena, is_full, items + record->size * i);
		else
			fill_union(field_type(field), i, arena, is_full, (struct union_head *)(void *)items + i);
	}
	return items;
}

static void fill_many(const struct field *field, struct arena *arena, bool is_full, void *out)
{
	size_t count = 1;
	if (field->kind == FIELD_unions || field->kind == FIELD_map)
		count = ((const struct union_type *)field_type(field))->count;
	*SLOT(void *, out, field->offset) = fill_list(field, arena, is_full, count);
	*SLOT(size_t, out, field->aux) = count;
	if (!field->is_map)
		return;
	struct str *keys = arena_array(arena, struct str, count);
	for (size_t i = 0; i < count; i++)
		keys[i] = str_of(arena_printf(arena, "/key %zu", i));
	*SLOT(struct str *, out, field_keys(field)) = keys;
}

/* The last value of an enum differs from the zero value of an absent field. */
/* A relative path would be resolved against the server's folder. */
static void a_path_of_a_client_is_absolute(void **state)
{
	(void)state;
	static const char *const paths[] = {"rel.txt", "", "./a", "~/a"};
	auto_arena struct arena arena = {0};
	struct app_fs_read_file_params params;
	struct error err;
	for (size_t i = 0; i < countof(paths); i++) {
		auto_free char *text = xasprintf("{\"path\":\"%s\"}", paths[i]);
		const struct json *json = json_parse(&arena, str_of(text), NULL);
		assert_int_not_equal(record_decode(&record_app_fs_read_file_params, json, &arena, &params, &err), 0);
		assert_string_equal(err.text, "AbsolutePathBuf deserialized without a base path");
	}
}

static int last_value(const struct enum_type *type)
{
	size_t at = type->count - 1;
	while (type->words[at].is_alias)
		at--;
	return type->words[at].value;
}

static void fill_field(const struct field *field, struct arena *arena, bool is_full, void *out)
{
	void **part = SLOT(void *, out, field->offset);
	if (field->aux && field->kind < FIELD_strs)
		*SLOT(bool, out, field->aux - 1) = true;
	switch (field->kind) {
	case FIELD_str:
		*SLOT(struct str, out, field->offset) = STR("t\xc3\xa4xt \"q\"");
		return;
	case FIELD_json:
		*SLOT(struct str, out, field->offset) = STR("{\"k\":[1,null]}");
		return;
	case FIELD_bool:
		*SLOT(bool, out, field->offset) = true;
		return;
	case FIELD_i64:
		*SLOT(int64_t, out, field->offset) = INT64_MAX;
		return;
	case FIELD_f64:
		*SLOT(double, out, field->offset) = 0.25;
		return;
	case FIELD_enum:
		*SLOT(int, out, field->offset) = last_value(field_type(field));
		return;
	case FIELD_record:
		*part = arena_alloc(arena, ((const struct record *)field_type(field))->size);
		fill_record(field_type(field), arena, is_full, *part);
		return;
	case FIELD_union:
		*part = arena_alloc(arena, sizeof(struct union_head));
		fill_union(field_type(field), 1, arena, is_full, *part);
		return;
	default:
		fill_many(field, arena, is_full, out);
	}
}

/* Fills all fields, or only the required ones. */
static void fill_record(const struct record *record, struct arena *arena, bool is_full, void *out)
{
	record_for_each(field, record) {
		if (is_full || field->presence == REQ)
			fill_field(field, arena, is_full, out);
	}
}

static void write_union(const struct union_type *type, const void *value, struct buf *out)
{
	buf_clear(out);
	struct json_writer w = json_writer(out);
	union_encode(type, value, &w);
	assert_false(out->over);
}

static void check_round_trip(const struct union_type *type, size_t index, bool is_full)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf first, second;
	struct union_head value = {0}, back = {0}, copy = {0};
	struct error err;
	buf_init(&first, 1024 * 1024);
	buf_init(&second, 1024 * 1024);
	fill_union(type, index, &arena, is_full, &value);
	write_union(type, &value, &first);
	const struct json *json = json_parse(&arena, buf_str(&first), &err);
	if (!json || union_decode(type, json, &arena, &back, &err) != 0)
		fail_msg("%s: %s", first.data, err.text);
	write_union(type, &back, &second);
	assert_string_equal(first.data, second.data);
	union_copy(type, &back, &arena, &copy);
	write_union(type, &copy, &second);
	assert_string_equal(first.data, second.data);
}

static void every_row_survives_a_round_trip(void **state)
{
	(void)state;
	const struct union_type *const types[] = {&union_op,           &union_event_msg,  &union_user_input,
	                                          &union_sandbox,      &union_turn_item,  &union_review_decision,
	                                          &union_file_change,  &union_mcp_result, &union_agent_status,
	                                          &union_review_target};
	for (size_t t = 0; t < countof(types); t++) {
		for (size_t i = 0; i < types[t]->count; i++) {
			check_round_trip(types[t], i, true);
			check_round_trip(types[t], i, false);
		}
	}
}

static void check_record_docs(const struct record *record, int depth)
{
	assert_string_not_equal(protocol_text(record->name, NULL), "");
	assert_true(depth < 16);
	record_for_each(field, record) {
		if (!protocol_text(record->name, field_name(record, field))[0])
			fail_msg("%s.%s says nothing about itself", record->name, field_name(record, field));
		if (field->kind == FIELD_record || field->kind == FIELD_records)
			check_record_docs(field_type(field), depth + 1);
	}
}

static void every_field_has_a_description(void **state)
{
	(void)state;
	const struct union_type *const types[] = {&union_op, &union_event_msg};
	for (size_t t = 0; t < countof(types); t++) {
		for (size_t i = 0; i < types[t]->count; i++) {
			if (types[t]->variants[i].body)
				check_record_docs(types[t]->variants[i].body, 0);
		}
	}
}

/* The Ops and events of October 2025 and January 2026. */
static void both_dates_are_whole(void **state)
{
	(void)state;
	/* clang-format off */
	static const char *const ops[] = {
		"interrupt", "user_input", "user_turn", "override_turn_context", "exec_approval", "patch_approval",
		"add_to_history", "get_history_entry_request", "list_mcp_tools", "list_custom_prompts", "compact",
		"undo",
		"review", "run_user_shell_command", "shutdown", "user_input_answer", "dynamic_tool_response",
		"resolve_elicitation", "refresh_mcp_servers", "list_skills", "set_thread_name", "thread_rollback",
		"list_models", "configure_session", "get_path"};
	static const char *const events[] = {
		"error", "warning", "context_compacted", "thread_rolled_back", "task_started", "task_complete",
		"token_count",
		"agent_message", "user_message", "agent_message_delta", "agent_reasoning", "agent_reasoning_delta",
		"agent_reasoning_raw_content", "agent_reasoning_raw_content_delta", "agent_reasoning_section_break",
		"session_configured", "thread_name_updated", "mcp_startup_update", "mcp_startup_complete",
		"mcp_tool_call_begin", "mcp_tool_call_end", "web_search_begin", "web_search_end", "exec_command_begin",
		"exec_command_output_delta", "terminal_interaction", "exec_command_end", "view_image_tool_call",
		"exec_approval_request", "request_user_input", "dynamic_tool_call_request", "elicitation_request",
		"apply_patch_approval_request", "deprecation_notice", "background_event", "undo_started",
		"undo_completed", "stream_error", "patch_apply_begin", "patch_apply_end", "turn_diff",
		"get_history_entry_response", "mcp_list_tools_response", "list_custom_prompts_response",
		"list_skills_response", "skills_update_available", "plan_update", "turn_aborted", "shutdown_complete",
		"entered_review_mode", "exited_review_mode", "raw_response_item", "item_started", "item_completed",
		"agent_message_content_delta", "plan_delta", "reasoning_content_delta", "reasoning_raw_content_delta",
		"collab_agent_spawn_begin", "collab_agent_spawn_end", "collab_agent_interaction_begin",
		"collab_agent_interaction_end", "collab_waiting_begin", "collab_waiting_end", "collab_close_begin",
		"collab_close_end"};
	/* clang-format on */
	assert_int_equal(countof(events), 66);
	for (size_t i = 0; i < countof(ops); i++)
		assert_non_null(union_find_wire(&union_op, str_of(ops[i])));
	for (size_t i = 0; i < countof(events); i++)
		assert_non_null(union_find_wire(&union_event_msg, str_of(events[i])));
}

static void a_value_may_stand_for_its_record(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct agent_status status = {0};
	struct error err;
	const struct json *json = json_parse(&arena, STR("{\"completed\":null}"), &err);
	assert_int_equal(union_decode(&union_agent_status, json, &arena, &status, &err), 0);
	assert_int_equal(status.tag, agent_status_completed);
	assert_null(status.completed->message.ptr);
	json = json_parse(&arena, STR("{\"errored\":5}"), &err);
	assert_int_not_equal(union_decode(&union_agent_status, json, &arena, &status, &err), 0);
}

static void check_untagged(const char *text, int tag, const char *want)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct app_thread_items_list_cursor cursor = {0};
	struct error err;
	buf_init(&out, 4096);
	struct json_writer w = json_writer(&out);
	const struct json *json = json_parse(&arena, str_of(text), &err);
	assert_int_equal(union_decode(&union_app_thread_items_list_cursor, json, &arena, &cursor, &err), 0);
	assert_int_equal(cursor.tag, tag);
	union_encode(&union_app_thread_items_list_cursor, &cursor, &w);
	assert_string_equal(out.data, want);
}

static void an_untagged_union_is_of_the_first_variant_that_fits(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct app_thread_items_list_cursor cursor = {0};
	struct error err;
	check_untagged("\"c\"", app_thread_items_list_cursor_text, "\"c\"");
	check_untagged("{\"type\":\"item\",\"itemId\":\"i\",\"x\":1}",
	               app_thread_items_list_cursor_thread_items_list_anchor, "{\"type\":\"item\",\"itemId\":\"i\"}");
	const struct json *json = json_parse(&arena, STR("5"), &err);
	assert_int_not_equal(union_decode(&union_app_thread_items_list_cursor, json, &arena, &cursor, &err), 0);
	assert_string_equal(err.text, "data did not match any variant of untagged enum ThreadItemsListCursor");
}

/* The keys of its map are the first member of the struct. */
static void a_record_may_begin_with_a_map(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	struct app_mcp_elicitation_schema schema = {0}, copy = {0};
	struct error err;
	const char *text = "{\"properties\":{\"name\":{\"type\":\"boolean\"}},\"type\":\"object\"}";
	assert_int_equal(offsetof(struct app_mcp_elicitation_schema, properties_keys), 0);
	const struct json *json = json_parse(&arena, str_of(text), &err);
	assert_int_equal(record_decode(&record_app_mcp_elicitation_schema, json, &arena, &schema, &err), 0);
	assert_int_equal(schema.properties_count, 1);
	assert_str(schema.properties_keys[0], "name");
	record_copy(&record_app_mcp_elicitation_schema, &schema, &arena, &copy);
	assert_ptr_not_equal(copy.properties_keys, schema.properties_keys);
	buf_init(&out, 4096);
	struct json_writer w = json_writer(&out);
	record_encode(&record_app_mcp_elicitation_schema, &copy, &w);
	assert_string_equal(out.data, text);
}

/* The tags of October 2025. */
static void old_tags_of_items_are_read(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct turn_item item = {0};
	struct file_change change = {0};
	struct error err;
	const struct json *json = json_parse(&arena, STR("{\"WebSearch\":{\"id\":\"w\",\"query\":\"q\"}}"), &err);
	assert_int_equal(union_decode(&union_turn_item, json, &arena, &item, &err), 0);
	assert_str(item.web_search->query, "q");
	json = json_parse(&arena, STR("{\"add\":{\"content\":\"c\"}}"), &err);
	assert_int_equal(union_decode(&union_file_change, json, &arena, &change, &err), 0);
	assert_str(change.add->content, "c");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_turn_is_read_whole),
		cmocka_unit_test(both_styles_of_tags_are_read),
		cmocka_unit_test(decisions_are_strings_or_objects),
		cmocka_unit_test(errors_name_the_field),
		cmocka_unit_test(events_keep_their_field_rules),
		cmocka_unit_test(an_event_owns_a_copy),
		cmocka_unit_test(every_row_has_a_word_of_its_own),
		cmocka_unit_test(every_row_survives_a_round_trip),
		cmocka_unit_test(every_field_has_a_description),
		cmocka_unit_test(both_dates_are_whole),
		cmocka_unit_test(a_value_may_stand_for_its_record),
		cmocka_unit_test(an_untagged_union_is_of_the_first_variant_that_fits),
		cmocka_unit_test(a_record_may_begin_with_a_map),
		cmocka_unit_test(old_tags_of_items_are_read),
		cmocka_unit_test(a_path_of_a_client_is_absolute),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
