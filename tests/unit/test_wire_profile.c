/* Events in the versions of the protocol: rows name existing fields, and a delta has one legacy event. */
#include "test.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "server/wire_profile.h"

static const struct {
	const struct record *record;
	const char *field;
} rows[] = {
#define SINCE_EVENT(...)
#define SINCE_FIELD(record, field, date) {&record_##record, field},
#define EXTERNAL_BEFORE(...)
#define BARE_BEFORE(...)
#include "server/wire_profile.def"
};

static bool has_field(const struct record *record, const char *name)
{
	return record_find_field(record, name);
}

static void every_row_names_a_field(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		if (!has_field(rows[i].record, rows[i].field))
			fail_msg("%s has no field %s", rows[i].record->name, rows[i].field);
	}
}

static void check(enum wire_profile profile, enum event_tag tag, const void *body, const char *want)
{
	struct wire_style style = {.profile = profile};
	struct event *event = event_create(STR("1"), tag, body);
	auto_buf struct buf out;
	buf_init(&out, 64 * 1024);
	wire_profile_write(&style, event, &out);
	if (!str_eq(buf_str(&out), str_of(want)))
		fail_msg("got %s, want %s", out.data ? out.data : "", want);
	event_destroy(event);
}

static void a_delta_is_followed_by_its_twin(void **state)
{
	(void)state;
	const struct ev_content_delta delta = {STR("t"), STR("1"), STR("m"), STR("hi")};
	check(wire_profile_v1_2026_01, EV_agent_message_content_delta, &delta,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"agent_message_content_delta\",\"thread_id\":\"t\",\"turn_id\":\"1\","
	      "\"item_id\":\"m\",\"delta\":\"hi\"}}\n"
	      "{\"id\":\"1\",\"msg\":{\"type\":\"agent_message_delta\",\"delta\":\"hi\"}}\n");
	check(wire_profile_legacy2025, EV_agent_message_content_delta, &delta,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"agent_message_delta\",\"delta\":\"hi\"}}\n");
}

static void events_that_a_version_lacks_are_not_written(void **state)
{
	(void)state;
	const struct ev_model_turn_complete turn = {STR("resp_1")};
	const struct ev_turn_aborted aborted = {turn_abort_reason_replaced};
	check(wire_profile_v1_2026_01, EV_model_turn_complete, &turn, "");
	check(wire_profile_doc, EV_model_turn_complete, &turn,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"model_turn_complete\",\"response_id\":\"resp_1\"}}\n");
	check(wire_profile_v1_2025_10, EV_turn_aborted, &aborted,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"turn_aborted\",\"reason\":\"replaced\"}}\n");
	check(wire_profile_legacy2025, EV_turn_aborted, &aborted,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"error\",\"message\":\"Turn interrupted\"}}\n");
}

static void a_plan_is_unknown_before_2026(void **state)
{
	(void)state;
	struct plan_item plan = {STR("p"), STR("do it")};
	struct turn_item item = {.tag = turn_item_plan, .plan = &plan};
	const struct ev_item_completed done = {STR("t"), STR("1"), &item};
	check(wire_profile_v1_2025_10, EV_item_completed, &done, "");
	check(wire_profile_v1_2026_01, EV_item_completed, &done,
	      "{\"id\":\"1\",\"msg\":{\"type\":\"item_completed\",\"thread_id\":\"t\",\"turn_id\":\"1\","
	      "\"item\":{\"type\":\"Plan\",\"id\":\"p\",\"text\":\"do it\"}}}\n");
}

static void an_event_that_does_not_fit_is_named_and_not_cut(void **state)
{
	(void)state;
	char words[8 * 1024];
	memset(words, 'w', sizeof(words));
	const struct ev_content_delta delta = {STR("t"), STR("1"), STR("m"), str_n(words, sizeof(words))};
	struct wire_style style = {.profile = wire_profile_v1_2026_01};
	struct event *event = event_create(STR("1"), EV_agent_message_content_delta, &delta);
	auto_buf struct buf out;
	buf_init(&out, 4 * KIB);
	wire_profile_write(&style, event, &out);
	assert_false(out.over);
	assert_string_equal(out.data, "{\"id\":\"1\",\"msg\":{\"type\":\"warning\",\"message\":\"An event "
	                              "`agent_message_content_delta` is larger than 0 MiB and was not sent.\"}}\n");
	event_destroy(event);
}

static void ranges_move_with_their_text(void **state)
{
	(void)state;
	struct byte_range range = {1, 2};
	struct text_element element = {.byte_range = &range};
	struct input_text first = {.text = STR("abc")};
	struct input_text second = {.text = STR("def"), .text_elements = &element, .text_elements_count = 1};
	struct user_input input[] = {{.tag = user_input_text, .text = &first},
	                             {.tag = user_input_text, .text = &second}};
	struct user_message_item message = {STR("u"), input, 2};
	struct turn_item item = {.tag = turn_item_user_message, .user_message = &message};
	const struct ev_item_completed done = {STR("t"), STR("1"), &item};
	struct wire_style style = {.profile = wire_profile_v1_2026_01};
	struct event *event = event_create(STR("1"), EV_item_completed, &done);
	auto_buf struct buf out;
	buf_init(&out, 64 * 1024);
	wire_profile_write(&style, event, &out);
	assert_non_null(strstr(out.data, "\"message\":\"abcdef\",\"images\":[],\"local_images\":[],\"text_elements\":["
	                                 "{\"byte_range\":{\"start\":4,\"end\":5},\"placeholder\":null}]"));
	event_destroy(event);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_row_names_a_field),
		cmocka_unit_test(a_delta_is_followed_by_its_twin),
		cmocka_unit_test(events_that_a_version_lacks_are_not_written),
		cmocka_unit_test(a_plan_is_unknown_before_2026),
		cmocka_unit_test(an_event_that_does_not_fit_is_named_and_not_cut),
		cmocka_unit_test(ranges_move_with_their_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
