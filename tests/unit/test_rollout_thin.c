/* A session that was read gives its items away, and frees their text meanwhile. */
#include "temp.h"

#include <stdio.h>
#include <unistd.h>

#include "base/limits.h"
#include "rollout/rollout_reader.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"
#define NAME "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" THREAD ".jsonl"

enum { ITEMS = 200, TEXT = 64 * KIB };

/* Writes a session of ITEMS messages; each contains its number, then TEXT times its letter. */
static struct rollout_reader *read_session(bool is_disordered)
{
	struct buf file;
	struct error err = {0};
	auto_free char *text = xmalloc(TEXT + 1);
	buf_init(&file, 64 * MIB);
	buf_append_c(&file,
	             "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"ordinal\":0,\"type\":\"session_meta\",\"payload\":"
	             "{\"id\":\"" THREAD "\",\"cwd\":\"/w\",\"source\":\"exec\",\"model_provider\":\"mock\"}}\n");
	for (int i = 0; i < ITEMS; i++) {
		int number = is_disordered ? ITEMS - 1 - i : i;
		memset(text, 'a' + number % 26, TEXT);
		text[TEXT] = '\0';
		buf_printf(&file,
		           "{\"timestamp\":\"2026-11-20T10:00:00.123Z\",\"ordinal\":%d,\"type\":\"response_item\","
		           "\"payload\":"
		           "{\"type\":\"message\",\"role\":\"user\",\"content\":[{\"type\":\"input_text\",\"text\":\"%"
		           "03d %s\"}]}}\n",
		           number + 1, number, text);
	}
	struct rollout_reader *reader =
		rollout_reader_create_for(temp_put(NAME, buf_str(&file)), ROLLOUT_HISTORY, &err);
	if (!reader)
		fail_msg("%s", err.text);
	buf_finish(&file);
	return reader;
}

static void assert_item(struct str item, int number)
{
	char head[16];
	snprintf(head, sizeof(head), "\"%03d ", number);
	ptrdiff_t at = str_find(item, str_of(head));
	assert_true(at > 0);
	for (size_t i = 0; i < TEXT; i++)
		assert_int_equal(item.ptr[(size_t)at + strlen(head) + i], 'a' + number % 26);
}

static size_t resident(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	size_t total, pages = 0;
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%zu %zu", &total, &pages), 2);
	fclose(file);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

struct taking {
	int count;
	size_t first, last; /* the memory in use then */
};

static void take(struct str item, void *self)
{
	struct taking *taking = self;
	assert_item(item, taking->count);
	if (taking->count == 0)
		taking->first = resident();
	taking->last = resident();
	taking->count++;
}

static bool is_seventh(enum rollout_line_type type, struct str payload)
{
	return type == LINE_response_item && str_find(payload, STR("\"006 ")) >= 0;
}

static void the_text_is_freed_while_its_items_are_taken(void **state)
{
	(void)state;
	struct rollout_reader *reader = read_session(false);
	struct taking taking = {0};
	assert_int_equal(reader->history.count, ITEMS);
	rollout_reader_thin(reader, is_seventh, take, &taking);
	assert_int_equal(taking.count, ITEMS);
	assert_true(taking.first > taking.last + (size_t)ITEMS * TEXT * 3 / 4);
	assert_int_equal(reader->history.count, 1);
	assert_item(reader->history.items[0], 6);
	rollout_reader_destroy(reader);
}

static void disordered_items_are_taken_whole(void **state)
{
	(void)state;
	struct rollout_reader *reader = read_session(true);
	struct taking taking = {0};
	assert_true(reader->damage.is_disordered);
	rollout_reader_thin(reader, is_seventh, take, &taking);
	assert_int_equal(taking.count, ITEMS);
	assert_item(reader->history.items[0], 6);
	rollout_reader_destroy(reader);
}

static void take_back(struct str item, void *self)
{
	struct taking *taking = self;
	assert_item(item, ITEMS - 1 - taking->count++);
}

static void items_that_lie_before_earlier_ones_are_taken_whole(void **state)
{
	(void)state;
	struct rollout_reader *reader = read_session(false);
	struct taking taking = {0};
	for (size_t i = 0; i < ITEMS / 2; i++) {
		struct str item = reader->history.items[i];
		reader->history.items[i] = reader->history.items[ITEMS - 1 - i];
		reader->history.items[ITEMS - 1 - i] = item;
	}
	rollout_reader_thin(reader, is_seventh, take_back, &taking);
	assert_int_equal(taking.count, ITEMS);
	assert_item(reader->history.items[0], 6);
	rollout_reader_destroy(reader);
}

#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		FILE_TEST(the_text_is_freed_while_its_items_are_taken),
		FILE_TEST(disordered_items_are_taken_whole),
		FILE_TEST(items_that_lie_before_earlier_ones_are_taken_whole),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
