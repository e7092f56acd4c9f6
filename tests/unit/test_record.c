/* The tables of the protocol: what is decoded is what was encoded, and what is refused is named. */
#include "test.h"

#include "base/error.h"
#include "protocol/event.h"
#include "protocol/submission.h"

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

static void decisions_are_words_or_objects(void **state)
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

static void what_is_wrong_is_named(void **state)
{
	(void)state;
	check_refused("[]", "object");
	check_refused("{\"op\":{\"type\":\"interrupt\"}}", "missing field `id`");
	check_refused("{\"id\":1,\"op\":{\"type\":\"interrupt\"}}", "expected a string");
	check_refused("{\"id\":\"1\"}", "missing field `op`");
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
			assert_true(row->is_alias || row->doc[0] != '\0');
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_user_turn_is_read_whole),
		cmocka_unit_test(both_styles_of_tags_are_read),
		cmocka_unit_test(decisions_are_words_or_objects),
		cmocka_unit_test(what_is_wrong_is_named),
		cmocka_unit_test(events_keep_their_field_rules),
		cmocka_unit_test(an_event_owns_a_copy),
		cmocka_unit_test(every_row_has_a_word_of_its_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
