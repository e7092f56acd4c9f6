/* The history: contiguous items in segments that do not move, and marks for rollbacks. */
#include "test.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/shared_text.h"
#include "engine/history/context.h"

/* Joins the segments like model_request and asserts one valid JSON list of `count` items. */
static void check_is_list(const struct context *context, size_t count)
{
	auto_buf struct buf all;
	auto_arena struct arena arena = {0};
	size_t segments;
	buf_init(&all, 64 * 1024 * 1024);
	auto_free struct str *parts = context_segments(context, 0, &segments);
	buf_append_char(&all, '[');
	for (size_t i = 0; i < segments; i++) {
		if (i)
			buf_append_char(&all, ',');
		buf_append_str(&all, parts[i]);
	}
	buf_append_char(&all, ']');
	const struct json *list = json_parse(&arena, buf_str(&all), NULL);
	assert_non_null(list);
	assert_int_equal(list->count, count);
	size_t index = 0;
	json_for_each(item, list)
		assert_true(str_eq(item->span, context_item_text(context, index++)));
}

static void append_numbered(struct context *context, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++) {
		auto_buf struct buf item;
		buf_init(&item, 1000);
		buf_printf(&item, "{\"n\":%zu,\"pad\":\"%0*d\"}", i, (int)(i % 200) + 1, 0);
		context_append(context, buf_str(&item));
	}
}

static void any_number_of_items_forms_a_list(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	for (size_t count = 1; count < 3000; count = count * 3 + 1) {
		append_numbered(&context, context.items.count, count);
		check_is_list(&context, count);
	}
	context_finish(&context);
}

static void an_item_larger_than_a_block_is_contiguous(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	append_numbered(&context, 0, 3);
	auto_buf struct buf item;
	buf_init(&item, 2 * 1024 * 1024);
	buf_printf(&item, "{\"big\":\"%01000000d\"}", 0);
	context_append(&context, buf_str(&item));
	append_numbered(&context, 4, 6);
	check_is_list(&context, 6);
	context_finish(&context);
}

static void a_taken_item_of_any_size_joins_the_list(void **state)
{
	(void)state;
	static const int digits[] = {10, 1000 * 1000, 20};
	struct context context;
	struct buf item;
	context_init(&context);
	append_numbered(&context, 0, 3);
	for (size_t i = 0; i < countof(digits); i++) {
		buf_init(&item, 2 * 1024 * 1024);
		buf_printf(&item, "{\"taken\":\"%0*d\"}", digits[i], 0);
		context_take(&context, &item);
		assert_int_equal(item.len, 0);
		check_is_list(&context, 4 + i);
	}
	append_numbered(&context, 6, 8);
	check_is_list(&context, 8);
	context_truncate(&context, 4);
	check_is_list(&context, 4);
	context_finish(&context);
}

static void a_large_item_can_be_kept_after_its_context(void **state)
{
	(void)state;
	struct context context, fork;
	struct buf item;
	context_init(&context);
	context_init(&fork);
	append_numbered(&context, 0, 1);
	buf_init(&item, 2 * 1024 * 1024);
	buf_printf(&item, "{\"taken\":\"%01000000d\"}", 0);
	context_take(&context, &item);
	assert_null(context_item_whole(&context, 0));
	struct shared_text *kept = shared_text_ref(context_item_whole(&context, 1));
	assert_ptr_equal(shared_text_str(kept).ptr, context_item_text(&context, 1).ptr);
	context_share(&fork, &context, 2);
	assert_ptr_equal(context_item_whole(&fork, 1), kept);
	context_finish(&context);
	context_finish(&fork);
	assert_int_equal(shared_text_str(kept).len, 1000012);
	assert_true(str_has_suffix(shared_text_str(kept), "0\"}"));
	shared_text_unref(kept);
}

static void borrowed_segments_do_not_move(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	append_numbered(&context, 0, 10);
	size_t count;
	auto_free struct str *lent = context_segments(&context, 0, &count);
	auto_free char *copy = str_dup(lent[0]);
	append_numbered(&context, 10, 5000);
	assert_memory_equal(lent[0].ptr, copy, lent[0].len);
	context_finish(&context);
}

static void segments_may_begin_at_any_item(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	append_numbered(&context, 0, 300);
	for (size_t from = 0; from <= 300; from++) {
		size_t count, items = 0;
		auto_free struct str *parts = context_segments(&context, from, &count);
		assert_int_equal(count == 0, from == 300);
		for (size_t i = 0; i < count; i++) {
			auto_arena struct arena arena = {0};
			auto_free char *list = xasprintf("[%.*s]", STR_ARG(parts[i]));
			const struct json *json = json_parse(&arena, str_of(list), NULL);
			assert_non_null(json);
			items += json->count;
		}
		assert_int_equal(items, 300 - from);
	}
	context_finish(&context);
}

static void truncation_at_every_place_leaves_a_list(void **state)
{
	(void)state;
	for (size_t keep = 0; keep <= 120; keep++) {
		struct context context;
		context_init(&context);
		append_numbered(&context, 0, 120);
		context_truncate(&context, keep);
		check_is_list(&context, keep);
		append_numbered(&context, keep, 125);
		check_is_list(&context, 125);
		context_finish(&context);
	}
}

static void the_history_rolls_back_to_a_response(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	append_numbered(&context, 0, 2);
	context.user_turns = 1;
	context_mark_response(&context, STR("resp_1"));
	append_numbered(&context, 2, 5);
	context.user_turns = 2;
	context_mark_response(&context, STR("resp_2"));
	assert_null(context_find_response(&context, STR("resp_3")));
	const struct context_mark *mark = context_find_response(&context, STR("resp_1"));
	assert_non_null(mark);
	context_rewind(&context, mark);
	check_is_list(&context, 2);
	assert_int_equal(context.user_turns, 1);
	assert_null(context_find_response(&context, STR("resp_2")));
	assert_non_null(context_find_response(&context, STR("resp_1")));
	context_finish(&context);
}

static void a_turn_ends_after_the_outputs_of_its_calls(void **state)
{
	(void)state;
	struct context context;
	context_init(&context);
	assert_null(context_find_chain(&context));
	append_numbered(&context, 0, 2);
	context_mark_response(&context, STR(""));
	assert_null(context_find_chain(&context));
	context_mark_response(&context, STR("resp_1"));
	append_numbered(&context, 2, 3);
	context_mark_turn_end(&context, STR("resp_0"));
	context_mark_turn_end(&context, STR("resp_1"));
	append_numbered(&context, 3, 5);
	const struct context_mark *mark = context_find_chain(&context);
	assert_int_equal(mark->known_count, 2);
	assert_int_equal(mark->item_count, 3);
	context_break_chain(&context);
	assert_null(context_find_chain(&context));
	context_rewind(&context, context_find_response(&context, STR("resp_1")));
	check_is_list(&context, 3);
	context_finish(&context);
}

/* A fork shares its parent's text; items that either adds later are private. */
static void a_shared_history_is_one_until_it_parts(void **state)
{
	(void)state;
	for (size_t count = 0; count <= 300; count += 50) {
		struct context parent, child;
		context_init(&parent);
		context_init(&child);
		append_numbered(&parent, 0, 300);
		context_share(&child, &parent, count);
		check_is_list(&child, count);
		assert_true(count == 0 || context_item_text(&child, 0).ptr == context_item_text(&parent, 0).ptr);
		append_numbered(&child, count, count + 40);
		append_numbered(&parent, 300, 310);
		check_is_list(&child, count + 40);
		check_is_list(&parent, 310);
		context_truncate(&child, count / 2);
		append_numbered(&child, count / 2, count);
		check_is_list(&child, count);
		check_is_list(&parent, 310);
		context_finish(&parent);
		check_is_list(&child, count);
		context_finish(&child);
	}
}

static void a_secret_is_sent_and_recorded_as_something_else(void **state)
{
	(void)state;
	struct context context, fork;
	size_t count;
	context_init(&context);
	context_append(&context, STR("{\"a\":1}"));
	context_append_secret(&context, STR("{\"key\":\"k\"}"), STR("{\"key\":\"*\"}"));
	context_append(&context, STR("{\"b\":2}"));
	auto_free struct str *sent = context_segments(&context, 0, &count);
	assert_str(sent[0], "{\"a\":1},{\"key\":\"k\"},{\"b\":2}");
	assert_str(context_item_recorded(&context, 0), "{\"a\":1}");
	assert_str(context_item_recorded(&context, 1), "{\"key\":\"*\"}");
	context_init(&fork);
	context_share(&fork, &context, 2);
	assert_str(context_item_recorded(&fork, 1), "{\"key\":\"*\"}");
	context_truncate(&context, 1);
	context_append(&context, STR("{\"c\":3}"));
	assert_str(context_item_recorded(&context, 1), "{\"c\":3}");
	context_finish(&fork);
	context_finish(&context);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_number_of_items_forms_a_list),
		cmocka_unit_test(an_item_larger_than_a_block_is_contiguous),
		cmocka_unit_test(a_taken_item_of_any_size_joins_the_list),
		cmocka_unit_test(a_large_item_can_be_kept_after_its_context),
		cmocka_unit_test(borrowed_segments_do_not_move),
		cmocka_unit_test(segments_may_begin_at_any_item),
		cmocka_unit_test(truncation_at_every_place_leaves_a_list),
		cmocka_unit_test(a_shared_history_is_one_until_it_parts),
		cmocka_unit_test(the_history_rolls_back_to_a_response),
		cmocka_unit_test(a_turn_ends_after_the_outputs_of_its_calls),
		cmocka_unit_test(a_secret_is_sent_and_recorded_as_something_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
