/* Separates text, plan and hidden spans of a message, for any split. */
#include "test.h"

#include "base/limits.h"
#include "base/mem.h"
#include "model/proposed_plan.h"

static const struct {
	const char *message, *text, *plan; /* plan is NULL if there is no plan */
} rows[] = {
	{"before\n<proposed_plan>\n- step\n</proposed_plan>\nafter", "before\nafter", "- step\n"},
	{"nothing", "nothing", NULL},
	{"", "", NULL},
	{"<proposed_plan>", "", ""},
	{"<proposed_plan>\nA\n</proposed_plan>\n<proposed_plan>\nB\n</proposed_plan>\n", "", "B\n"},
	{"<proposed_plan>\nA\n</proposed_plan>\n<proposed_plan>\n</proposed_plan>\n", "", ""},
	{"a<oai-mem-citation>x</oai-mem-citation>b", "ab", NULL},
	{"a<oai-mem-citation>x<oai-mem-citation>y</oai-mem-citation>b", "ab", NULL},
	{"a<oai-mem-<oai-mem-citation>x</oai-</oai-mem-citation>b", "a<oai-mem-b", NULL},
	{"a</oai-mem-citation>b", "a</oai-mem-citation>b", NULL},
	{"a <oai-mem-cit", "a <oai-mem-cit", NULL},
	{"<proposed_plan><oai-mem-citation>\n</oai-mem-citation>\nA\n", "", "A\n"},
	{"<<<oai-mem-citation></oai-mem-citation>proposed_plan>\n", "<<proposed_plan>\n", NULL},
};

struct seen {
	struct buf text, plan;
};

static void on_segment(enum tagged_segment segment, struct str text, void *self)
{
	struct seen *seen = self;
	if (segment == TAGGED_START)
		buf_clear(&seen->plan);
	else if (segment != TAGGED_END)
		buf_append_str(segment == TAGGED_TEXT ? &seen->text : &seen->plan, text);
}

/* Feeds the message in pieces of that length. */
static void check_pieces(struct str message, size_t length, const char *text, const char *plan)
{
	struct seen seen;
	struct proposed_plan it;
	buf_init(&seen.text, MIB);
	buf_init(&seen.plan, MIB);
	proposed_plan_init(&it, on_segment, &seen);
	for (; message.len; message = str_skip(message, length)) {
		length = length < message.len ? length : message.len;
		auto_free char *piece = str_dup(str_n(message.ptr, length));
		proposed_plan_feed(&it, str_n(piece, length));
	}
	proposed_plan_end(&it);
	proposed_plan_finish(&it);
	assert_true(str_is(buf_str(&seen.text), text));
	assert_true(str_is(buf_str(&seen.plan), plan));
	buf_finish(&seen.text);
	buf_finish(&seen.plan);
}

/* A stream cannot know that the tag is never closed; the complete message can be split again. */
static void an_unclosed_tag_does_not_hide_the_final_text(void **state)
{
	(void)state;
	static const struct {
		const char *message, *streamed, *text, *plan;
	} unclosed[] = {
		{"a<oai-mem-citation>x", "a", "ax", ""},
		{"a<oai-mem-citation>x</oai-mem-citation>b<oai-mem-citation>c", "ab", "abc", ""},
		{"<oai-mem-citation>x\n<proposed_plan>\nA\n</proposed_plan>\n", "", "x\n", "A\n"},
		{"a<<oai-mem-citation>oai-mem-citation>b", "a<", "a<oai-mem-citation>b", ""},
	};
	for (size_t i = 0; i < countof(unclosed); i++) {
		auto_buf struct buf text, plan;
		buf_init(&text, MIB);
		buf_init(&plan, MIB);
		struct str message = str_of(unclosed[i].message);
		assert_int_equal(proposed_plan_split(message, &text, &plan), unclosed[i].plan[0] != 0);
		assert_true(str_is(buf_str(&text), unclosed[i].text));
		assert_true(str_is(buf_str(&plan), unclosed[i].plan));
		for (size_t length = 1; length <= message.len; length++)
			check_pieces(message, length, unclosed[i].streamed, "");
	}
}

static void messages_are_taken_apart(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(rows); i++) {
		auto_buf struct buf text, plan;
		buf_init(&text, MIB);
		buf_init(&plan, MIB);
		struct str message = str_of(rows[i].message);
		assert_int_equal(proposed_plan_split(message, &text, &plan), rows[i].plan != NULL);
		assert_true(str_is(buf_str(&text), rows[i].text));
		assert_true(str_is(buf_str(&plan), rows[i].plan ? rows[i].plan : ""));
		for (size_t length = 1; length <= message.len; length++)
			check_pieces(message, length, rows[i].text, rows[i].plan ? rows[i].plan : "");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_taken_apart),
		cmocka_unit_test(an_unclosed_tag_does_not_hide_the_final_text),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
