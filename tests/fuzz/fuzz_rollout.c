/* For any session file, the history that is read from it is JSON, and opening the file for writing
 * changes nothing of it but a torn end. */
#include "fuzz.h"

#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"

static char path[] = "/tmp/codex-fuzz-rollout-XXXXXX";

static void remove_file(void)
{
	unlink(path);
}

static void put(struct str bytes)
{
	static int fd = -1;
	if (fd < 0) {
		fd = mkstemp(path);
		atexit(remove_file);
	}
	fuzz_check(fd >= 0 && ftruncate(fd, 0) == 0);
	fuzz_check(pwrite(fd, bytes.ptr, bytes.len, 0) == (ssize_t)bytes.len);
}

static void check_history(const struct rollout_reader *reader)
{
	auto_arena struct arena arena = {0};
	vec_for_each(it, &reader->history) {
		fuzz_check(json_is(json_parse(&arena, *it, NULL), JSON_object));
		arena_reset(&arena);
	}
	auto_buf struct buf out;
	buf_init(&out, 64 * MIB);
	struct json_writer w = json_writer(&out);
	rollout_reader_write_events(reader, &w);
	fuzz_check(json_is(json_parse(&arena, buf_str(&out), NULL), JSON_array));
	buf_clear(&out);
	fuzz_check(rollout_reader_describe_damage(reader, &out) == (out.len > 0));
}

static void append_line(void)
{
	struct rollout_writer *writer = rollout_writer_open(path, fsync_policy_none, NULL);
	fuzz_check(writer);
	fuzz_check(rollout_writer_append(writer, LINE_event_msg, STR("{\"type\":\"warning\"}"), NULL) == 0);
	fuzz_check(rollout_writer_flush(writer, NULL) == 0);
	if (rollout_writer_torn_path(writer))
		unlink(rollout_writer_torn_path(writer));
	rollout_writer_destroy(writer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	put(str_n((const char *)data, size));
	struct rollout_reader *before = rollout_reader_create(path, NULL);
	if (!before)
		return 0;
	check_history(before);
	append_line();
	struct rollout_reader *after = rollout_reader_create(path, NULL);
	fuzz_check(after && !after->damage.is_torn);
	fuzz_check(after->records.count == before->records.count + 1);
	fuzz_check(after->history.count == before->history.count);
	for (size_t i = 0; i < before->history.count; i++)
		fuzz_check(str_eq(after->history.items[i], before->history.items[i]));
	rollout_reader_destroy(before);
	rollout_reader_destroy(after);
	return 0;
}
