/* For any file of a session of Claude Code: it is read twice alike, the first message is the user's, texts are not
 * empty, are UTF-8 and not much larger than the file together, and a message as the rollout has it is JSON. */
#include "fuzz.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "import/import_limits.h"
#include "import/import_transcript.h"

struct log {
	struct buf all;
	size_t count, bytes, stop;
};

static void check_text(struct str text)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf quoted;
	struct str again = STR_NONE;
	fuzz_check(text_is_utf8(text));
	buf_init(&quoted, 64 * MIB);
	json_quote(&quoted, text);
	fuzz_check(json_to_str(json_parse(&arena, buf_str(&quoted), NULL), &again));
	fuzz_check(str_eq(again, text));
}

static int take(const struct import_message *message, void *self, struct error *err)
{
	struct log *log = self;
	fuzz_check(message->text.len > 0);
	fuzz_check(log->count > 0 || message->is_user);
	check_text(message->text);
	log->count++;
	log->bytes += message->text.len;
	buf_printf(&log->all, "%d %lld %zu\n", message->is_user, (long long)message->at_ms, message->text.len);
	buf_append_str(&log->all, message->text);
	return log->count == log->stop ? error_set(err, ERR_cancelled, "enough") : 0;
}

static void read_all(struct str text, size_t stop, struct log *ret, struct import_transcript *found,
                     struct arena *arena)
{
	struct error err;
	*ret = (struct log){.stop = stop};
	buf_init(&ret->all, 64 * MIB);
	int status = import_transcript_read(text, take, ret, arena, found, &err);
	fuzz_check((status != 0) == (stop && ret->count == stop));
}

static void check_title(const struct import_transcript *found, size_t count)
{
	fuzz_check((found->title.ptr != NULL) == (count > 0));
	fuzz_check(found->title.len <= LIMIT_IMPORT_SESSION_NAME);
	if (found->title.ptr)
		check_text(found->title);
	if (found->cwd.ptr)
		check_text(found->cwd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_arena struct arena arena = {0};
	struct str text = {(const char *)data, size};
	struct import_transcript found, again, cut;
	struct log first, second, third;
	read_all(text, 0, &first, &found, &arena);
	read_all(text, 0, &second, &again, &arena);
	read_all(text, 1, &third, &cut, &arena);
	fuzz_check(str_eq(buf_str(&first.all), buf_str(&second.all)));
	fuzz_check(third.count == (first.count > 0));
	fuzz_check(str_eq(found.title, again.title) && str_eq(found.cwd, again.cwd));
	check_title(&found, first.count);
	fuzz_check(first.bytes <= 32 * size);
	buf_finish(&first.all);
	buf_finish(&second.all);
	buf_finish(&third.all);
	return 0;
}
