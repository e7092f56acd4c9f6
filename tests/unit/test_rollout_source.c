/* Packed rollouts are read like plain ones. */
#include "temp.h"

#include "base/limits.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_source.h"
#include "rollout/rollout_summary.h"
#include "rollout/rollout_writer.h"

#define THREAD "01a1fb55-e849-7942-b12b-582c7876dc93"
#define PLAIN "sessions/2026/11/20/rollout-2026-11-20T10-00-00-" THREAD ".jsonl"
#define LINE(ordinal, type, payload)                                                           \
	"{\"timestamp\":\"2026-11-20T10:00:00.500Z\",\"ordinal\":" ordinal ",\"type\":\"" type \
	"\",\"payload\":" payload "}\n"
#define SAID(role, kind, text) \
	"{\"type\":\"message\",\"role\":\"" role "\",\"content\":[{\"type\":\"" kind "\",\"text\":\"" text "\"}]}"
#define META "{\"id\":\"" THREAD "\",\"cwd\":\"/w\",\"source\":\"exec\",\"history_mode\":\"paginated\"}"
#define HEAD                                                                     \
	LINE("0", "session_meta", META)                                          \
	LINE("1", "event_msg", "{\"type\":\"user_message\",\"message\":\"hi\"}") \
	LINE("2", "response_item", SAID("user", "input_text", "hi"))
#define TAIL LINE("3", "response_item", SAID("assistant", "output_text", "yo"))

/* Writes a frame of stored blocks, which the format allows. */
static void pack(struct buf *out, struct str bytes, size_t block)
{
	buf_append(out, "\x28\xb5\x2f\xfd\x00\x58", 6);
	do {
		size_t len = bytes.len < block ? bytes.len : block;
		unsigned head = (unsigned)(len << 3) | (len == bytes.len);
		char three[] = {(char)head, (char)(head >> 8), (char)(head >> 16)};
		buf_append(out, three, 3);
		buf_append(out, bytes.ptr, len);
		bytes = str_skip(bytes, len);
	} while (bytes.len);
}

static const char *put_packed(struct str first, struct str second, size_t cut)
{
	auto_buf struct buf packed;
	buf_init(&packed, 1 * MIB);
	pack(&packed, first, 100);
	pack(&packed, second, 1000);
	return temp_put(PLAIN ".zst", str_n(packed.data, packed.len - cut));
}

static void a_packed_session_is_read(void **state)
{
	(void)state;
	auto_arena struct arena arena = {0};
	struct error err = {0};
	struct rollout_summary summary;
	const char *path = put_packed(STR(HEAD), STR(TAIL), 0);
	struct rollout_reader *reader = rollout_reader_create(path, &err);
	assert_non_null(reader);
	assert_int_equal(reader->history.count, 2);
	rollout_reader_destroy(reader);
	assert_int_equal(rollout_summary_read(path, &arena, &summary, &err), 0);
	assert_true(str_is(summary.preview, "hi"));
	auto_free char *latest = rollout_list_find_latest(temp_root, &(struct rollout_filter){.cwd = STR("/w")}, &err);
	assert_non_null(latest);
	assert_string_equal(latest, path);
}

static void a_damaged_archive_counts_up_to_the_damage(void **state)
{
	(void)state;
	struct error err = {0};
	const char *path = put_packed(STR(HEAD), STR(TAIL), 20);
	struct rollout_reader *reader = rollout_reader_create(path, &err);
	assert_non_null(reader);
	assert_int_equal(reader->history.count, 1);
	rollout_reader_destroy(reader);
	char chunk[4096];
	struct rollout_source *source = rollout_source_create(path, &err);
	ssize_t got;
	while ((got = rollout_source_read(source, chunk, sizeof(chunk), &err)) > 0)
		;
	rollout_source_destroy(source);
	assert_int_equal(got, -ERR_invalid);
	assert_non_null(strstr(err.text, "ends too early"));
	assert_null(rollout_writer_open(path, fsync_policy_none, &err)); /* the file is not changed */
	assert_int_equal(access(path, F_OK), 0);
}

static void going_on_unpacks_it(void **state)
{
	(void)state;
	struct error err = {0};
	const char *path = put_packed(STR(HEAD), STR(TAIL), 0);
	struct rollout_writer *writer = rollout_writer_open(path, fsync_policy_none, &err);
	assert_non_null(writer);
	assert_int_equal(access(path, F_OK), -1);
	const char *plain = temp_path(PLAIN);
	assert_string_equal(rollout_writer_path(writer), plain);
	assert_int_equal(rollout_writer_append(writer, LINE_response_item, STR("{}"), &err), 0);
	assert_int_equal(rollout_writer_flush(writer, &err), 0);
	rollout_writer_destroy(writer);
	auto_free char *bytes = temp_get(plain);
	assert_int_equal(strncmp(bytes, HEAD TAIL, strlen(HEAD TAIL)), 0);
	assert_non_null(strstr(bytes, "\"ordinal\":4,"));
}

static void an_unpacked_file_takes_precedence(void **state)
{
	(void)state;
	struct error err = {0};
	const char *path = put_packed(STR(HEAD), STR(TAIL), 0);
	temp_put(PLAIN, STR(HEAD));
	auto_free char *found = rollout_list_find_latest(temp_root, &(struct rollout_filter){0}, &err);
	assert_string_equal(found, temp_path(PLAIN));
	auto_free char *plain = rollout_source_unpack(path, &err);
	assert_string_equal(plain, temp_path(PLAIN));
	auto_free char *bytes = temp_get(plain);
	assert_string_equal(bytes, HEAD);
}

#define TEMP_TEST(name) cmocka_unit_test_setup_teardown(name, temp_make, temp_remove)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEMP_TEST(a_packed_session_is_read),
		TEMP_TEST(a_damaged_archive_counts_up_to_the_damage),
		TEMP_TEST(going_on_unpacks_it),
		TEMP_TEST(an_unpacked_file_takes_precedence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
