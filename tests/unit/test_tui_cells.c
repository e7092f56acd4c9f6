/* The conversation lives with every event of the protocol, in any order, with any optional member absent, and nothing
 * in them drives the terminal. */
#include "test.h"

#include <string.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "protocol/message/message.h"
#include "term/term_paint.h"
#include "ui/tui/tui_activity.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_priv.h"

enum { ROUNDS = 3000, DEPTH_MAX = 6 };

static uint64_t seed;

static unsigned draw_number(unsigned below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % below;
}

/* ---- events made from the tables ---- */

static void put_record(struct json_writer *w, const struct record *record, const char *key, const char *tag, int depth);

static void put_text(struct json_writer *w)
{
	static const char *const texts[] = {
		"",
		"a",
		"one\ntwo\nthree\nfour\nfive\nsix\nseven",
		"\x1b]0;owned\a\x1b[2J",
		"@@ -1,2 +3,4 @@\n-a\n+b\n c",
		"```c\nint x;\n",
		"| a | b |\n|---|---|\n| 1 | 2 |\n",
		"\xe2\x80\xae"
		"abc\xc2\x9b"
		"31m",
		"**bold",
		"100%\r200%",
	};
	jw_cstr(w, texts[draw_number(countof(texts))]);
}

static void put_union(struct json_writer *w, const struct union_type *type, int depth)
{
	const struct variant *variant;
	char tag[128];
	do
		variant = &type->variants[draw_number((unsigned)type->count)];
	while (variant->is_alias);
	snprintf(tag, sizeof(tag), "%s", variant->wire);
	if (type->style == UNION_INTERNAL) {
		put_record(w, variant->body, type->key, tag, depth);
	} else if (!variant->body) {
		jw_cstr(w, tag);
	} else if (type->style == UNION_EXTERNAL) {
		jw_object(w);
		jw_key(w, tag);
		if (variant->is_value && record_first(variant->body)->kind == FIELD_json)
			jw_raw(w, STR("{\"content\":[{\"type\":\"text\",\"text\":\"\\u001b[2J\"}]}"));
		else if (variant->is_value)
			put_text(w);
		else
			put_record(w, variant->body, NULL, NULL, depth);
		jw_object_end(w);
	}
}

static void put_word(struct json_writer *w, const struct enum_type *words)
{
	const char *word;
	do
		word = enum_wire(words, (int)draw_number((unsigned)words->count));
	while (!word || !*word);
	jw_cstr(w, word);
}

static void put_one(struct json_writer *w, const struct field *field, enum field_kind kind, int depth)
{
	switch (kind) {
	case FIELD_bool:
		jw_bool(w, draw_number(2));
		break;
	case FIELD_i64:
		jw_i64(w, draw_number(200));
		break;
	case FIELD_f64:
		jw_double(w, 0.5);
		break;
	case FIELD_enum:
		put_word(w, field_type(field));
		break;
	case FIELD_json:
		jw_raw(w, STR("{\"a\":\"\\u202e\"}"));
		break;
	case FIELD_record:
		put_record(w, field_type(field), NULL, NULL, depth + 1);
		break;
	case FIELD_union:
		put_union(w, field_type(field), depth + 1);
		break;
	case FIELD_path:
		jw_cstr(w, "/tmp/a\nb.c");
		break;
	default:
		put_text(w);
		break;
	}
}

static void put_list(struct json_writer *w, const struct field *field, enum field_kind kind, int depth)
{
	bool is_map = field->is_map || field->kind == FIELD_map;
	size_t count = draw_number(4);
	is_map ? jw_object(w) : jw_array(w);
	for (size_t i = 0; i < count; i++) {
		static const char *const keys[] = {"a.c", "b\\u202e.rs", "c", "d"};
		if (is_map)
			jw_key(w, keys[i]);
		put_one(w, field, kind, depth);
	}
	is_map ? jw_object_end(w) : jw_array_end(w);
}

static void put_field(struct json_writer *w, const struct field *field, int depth)
{
	static const enum field_kind elements[] = {
		[FIELD_strs] = FIELD_str,  [FIELD_paths] = FIELD_path,     [FIELD_enums] = FIELD_enum,
		[FIELD_ints] = FIELD_i64,  [FIELD_records] = FIELD_record, [FIELD_unions] = FIELD_union,
		[FIELD_map] = FIELD_union, [FIELD_jsons] = FIELD_json,
	};
	if (field->kind >= FIELD_strs)
		put_list(w, field, elements[field->kind], depth);
	else
		put_one(w, field, field->kind, depth);
}

static void put_record(struct json_writer *w, const struct record *record, const char *key, const char *tag, int depth)
{
	char name[FIELD_NAME_SIZE];
	jw_object(w);
	if (key)
		jw_member_cstr(w, key, tag);
	record_for_each(field, record) {
		bool is_needed = (field->presence & PRESENCE_MASK) == REQ;
		if ((field->presence & ALIAS_NAME) || (!is_needed && (depth > DEPTH_MAX || draw_number(2))))
			continue;
		jw_key(w, field_wire_name(record, field, name));
		put_field(w, field, depth);
	}
	jw_object_end(w);
}

static struct event *make_event(const struct variant *variant)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct event_msg msg = {0};
	struct error err;
	buf_init(&text, 16 * MIB);
	struct json_writer w = json_writer(&text);
	put_record(&w, variant->body, union_event_msg.key, variant->wire, 0);
	const struct json *json = json_parse(&arena, buf_str(&text), &err);
	assert_non_null(json);
	if (union_decode(&union_event_msg, json, &arena, &msg, &err) != 0)
		fail_msg("%s: %s in %s", variant->wire, err.text, buf_str(&text).ptr);
	return event_create(STR("1"), msg.tag, msg.body);
}

/* ---- the screen ---- */

/* Fails for a control that is not one of the painter's. */
static void check_safe(struct str out)
{
	while (out.len) {
		unsigned char c = (unsigned char)out.ptr[0];
		if (c == 0x1b) {
			assert_int_equal(out.ptr[1], '[');
			out = str_skip(out, 2);
			while (strchr("?;0123456789", out.ptr[0]))
				out = str_skip(out, 1);
			assert_non_null(strchr("ABGJKhlm", out.ptr[0]));
		} else {
			assert_true(c >= 0x20 || c == '\r' || c == '\n');
			assert_int_not_equal(c, 0x7f);
			assert_false(c == 0xc2 && (unsigned char)out.ptr[1] < 0xa0);
			assert_false(str_has_prefix(out, "\xe2\x80\xae"));
		}
		out = str_skip(out, 1);
	}
}

static void on_change(void *self)
{
	(void)self;
}

static void every_event_in_any_order_is_shown_safely(void **state)
{
	struct term_paint *paint = term_paint_create();
	struct tui_cells *cells = tui_cells_create(paint, true, "/tmp");
	struct loop *loop = loop_create(NULL);
	struct tui_ask *ask = tui_ask_create(loop, on_change, NULL);
	auto_buf struct buf out;
	size_t bytes = 0;
	(void)state;
	seed = 20261123;
	buf_init(&out, 64 * MIB);
	for (size_t i = 0; i < ROUNDS; i++) {
		const struct variant *variant = &union_event_msg.variants[draw_number((unsigned)union_event_msg.count)];
		struct event *event = make_event(variant);
		tui_cells_resize(cells, 3 + draw_number(120));
		tui_cells_event(cells, event);
		tui_cells_draw(cells, ask, 1 + draw_number(12), draw_number(2));
		term_paint_frame(paint, &out);
		check_safe(buf_str(&out));
		bytes += out.len;
		buf_clear(&out);
		event_destroy(event);
	}
	assert_true(bytes > ROUNDS * 20);
	tui_ask_destroy(ask);
	loop_destroy(loop);
	tui_cells_destroy(cells);
	term_paint_destroy(paint);
}

/* A subagent asks, and a server reports, while the model does not answer. */
static void an_attempt_stands_until_the_model_answers(void **state)
{
	static const struct ev_task_complete complete;
	static const struct ev_task_started started;
	struct tui_activity activity;
	struct ev_stream_error broken = {.message = STR("Reconnecting... 1/5"), .additional_details = STR("busy")};
	struct ev_warning warning = {.message = STR("slow")};
	struct ev_exec_approval asked = {.call_id = STR("c")};
	struct ev_content_delta delta = {.delta = STR("Hello")};
	const struct {
		enum event_tag tag;
		const void *body;
		bool is_shown;
		const char *heading;
	} steps[] = {
		{EV_stream_error, &broken, true, "Reconnecting... 1/5"},
		{EV_warning, &warning, true, "Reconnecting... 1/5"},
		{EV_exec_approval_request, &asked, true, "Reconnecting... 1/5"},
		{EV_stream_error, &broken, false, "Reconnecting... 1/5"},
		{EV_agent_message_content_delta, &delta, true, ""},
		{EV_stream_error, &broken, false, "Reconnecting... 1/5"},
		{EV_task_complete, &complete, true, ""},
		{EV_task_started, &started, true, ""},
		{EV_stream_error, &broken, true, "Reconnecting... 1/5"},
	};
	(void)state;
	tui_activity_init(&activity);
	for (size_t i = 0; i < countof(steps); i++) {
		struct event *event = event_create(STR("t"), steps[i].tag, steps[i].body);
		assert_int_equal(tui_activity_event(&activity, event), steps[i].is_shown);
		assert_true(str_is(tui_activity_heading(&activity), steps[i].heading));
		event_destroy(event);
	}
	tui_activity_finish(&activity);
}

static void feed_denied(struct tui *tui, enum event_tag tag, void *body)
{
	struct event *event = event_create(STR("t"), tag, body);
	tui_denied_event(tui, event);
	event_destroy(event);
}

/* Calls that were interrupted have no end event. */
static void the_contents_of_calls_that_a_turn_leaves_are_dropped_at_its_end(void **state)
{
	static const enum event_tag ends[] = {EV_turn_aborted, EV_task_complete};
	struct ev_turn_aborted aborted = {0};
	struct ev_task_complete complete = {0};
	struct tui *tui = xnew(struct tui);
	(void)state;
	for (size_t i = 0; i < countof(ends); i++) {
		for (char id = 0; id < LIMIT_BEGUN_CALLS + 1; id++) {
			struct ev_patch_begin begun = {.call_id = str_n(&id, 1)};
			feed_denied(tui, EV_patch_apply_begin, &begun);
		}
		assert_int_equal(tui->begun.count, LIMIT_BEGUN_CALLS);
		feed_denied(tui, ends[i], ends[i] == EV_turn_aborted ? (void *)&aborted : &complete);
		assert_int_equal(tui->begun.count, 0);
	}
	tui_denied_forget(tui);
	free(tui);
}

/* The model chooses the ids of calls, and knows those of processes. */
static void a_call_with_the_id_of_a_process_hides_no_terminal(void **state)
{
	(void)state;
	struct tui *tui = xcalloc(1, sizeof(*tui));
	struct str words[] = {STR("sleep"), STR("300")};
	char text[96];
	struct ev_exec_begin behind = {
		.call_id = STR("c"), .process_id = STR("51"), .command = words, .command_count = countof(words)};
	struct ev_exec_begin plain = {.call_id = STR("51"), .command = words, .command_count = countof(words)};
	struct ev_exec_end plain_end = {.call_id = STR("51")}, end = {.call_id = STR("c"), .process_id = STR("51")};
	tui_terminal_begun(tui, &plain);
	tui_terminal_begun(tui, &behind);
	tui_terminal_ended(tui, &plain_end);
	tui_terminals_leave(tui);
	assert_true(tui_terminals_write(tui, text, sizeof(text)));
	assert_true(str_has_prefix(str_of(text), "  1 background terminal running"));
	tui_terminal_ended(tui, &end);
	assert_false(tui_terminals_write(tui, text, sizeof(text)));
	vec_finish(&tui->terminals);
	free(tui);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_in_any_order_is_shown_safely),
		cmocka_unit_test(an_attempt_stands_until_the_model_answers),
		cmocka_unit_test(the_contents_of_calls_that_a_turn_leaves_are_dropped_at_its_end),
		cmocka_unit_test(a_call_with_the_id_of_a_process_hides_no_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
