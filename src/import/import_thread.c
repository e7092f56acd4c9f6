/* The lines are those that codex 0.169 writes for an imported session: events and items without numbers, turns that are
 * named external-import-turn-N, and a marker for the user, which the model does not get. */
#include "import/import_thread.h"

#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "import/import_transcript.h"
#include "protocol/record/enum.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_name.h"
#include "rollout/rollout_reader.h"
#include "rollout/rollout_writer.h"

#define MARKER "<EXTERNAL SESSION IMPORTED>"

struct writing {
	struct rollout_writer *writer;
	struct buf line; /* the payload of the next line */
	size_t skipped;  /* messages that the session has already */
	size_t messages; /* so far */
	size_t bytes;    /* of their texts */
	unsigned turns;
	bool is_in_turn; /* a turn of this import has begun */
	int64_t started_at_ms, at_ms;
};

/* ---- lines ---- */

static int add_line(struct writing *writing, enum rollout_line_type type, struct error *err)
{
	if (writing->line.over)
		return error_set(err, ERR_limit, "a message is larger than %d MiB", (int)(LIMIT_ROLLOUT_LINE / MIB));
	int status = rollout_writer_append(writing->writer, type, buf_str(&writing->line), err);
	buf_reuse(&writing->line);
	return status;
}

static void add_time(struct writing *writing, const char *key, int64_t at_ms)
{
	if (at_ms)
		buf_printf(&writing->line, ",\"%s\":%" PRId64, key, at_ms / 1000);
}

static int add_turn(struct writing *writing, const char *type, int64_t completed_at_ms, struct error *err)
{
	buf_printf(&writing->line, "{\"type\":\"%s\",\"turn_id\":\"external-import-turn-%u\"", type, writing->turns);
	add_time(writing, "started_at", writing->started_at_ms);
	add_time(writing, "completed_at", completed_at_ms);
	buf_append_char(&writing->line, '}');
	return add_line(writing, LINE_event_msg, err);
}

static int end_turn(struct writing *writing, int64_t completed_at_ms, struct error *err)
{
	return writing->is_in_turn ? add_turn(writing, "task_complete", completed_at_ms, err) : 0;
}

static int begin_turn(struct writing *writing, int64_t at_ms, struct error *err)
{
	if (end_turn(writing, 0, err) != 0)
		return -(int)err->code;
	writing->is_in_turn = true;
	writing->turns++;
	writing->started_at_ms = at_ms;
	return add_turn(writing, "task_started", 0, err);
}

static int add_event(struct writing *writing, bool is_user, struct str text, struct error *err)
{
	buf_printf(&writing->line, "{\"type\":\"%s_message\",\"message\":", is_user ? "user" : "agent");
	json_quote(&writing->line, text);
	buf_append_c(&writing->line, is_user ? ",\"local_images\":[],\"text_elements\":[]}" : "}");
	return add_line(writing, LINE_event_msg, err);
}

static int add_item(struct writing *writing, bool is_user, struct str text, struct error *err)
{
	buf_printf(&writing->line, "{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":\"%s_text\",\"text\":",
	           is_user ? "user" : "assistant", is_user ? "input" : "output");
	json_quote(&writing->line, text);
	buf_append_c(&writing->line, "}]}");
	return add_line(writing, LINE_response_item, err);
}

static int on_message(const struct import_message *message, void *self, struct error *err)
{
	struct writing *writing = self;
	writing->bytes += message->text.len;
	if (writing->messages++ < writing->skipped)
		return 0;
	writing->at_ms = message->at_ms;
	if ((message->is_user || !writing->is_in_turn) && begin_turn(writing, message->at_ms, err) != 0)
		return -(int)err->code;
	int status = add_event(writing, message->is_user, message->text, err);
	return status == 0 ? add_item(writing, message->is_user, message->text, err) : status;
}

/* The estimate has the next turn compact a history that does not fit. */
static int add_usage(struct writing *writing, struct error *err)
{
	static const char totals[] = "\"%s\":{\"input_tokens\":0,\"cached_input_tokens\":0,\"output_tokens\":0,"
				     "\"reasoning_output_tokens\":0,\"total_tokens\":%zu},";
	size_t tokens = text_tokens(writing->bytes);
	buf_append_c(&writing->line, "{\"type\":\"token_count\",\"info\":{");
	buf_printf(&writing->line, totals, "total_token_usage", tokens);
	buf_printf(&writing->line, totals, "last_token_usage", tokens);
	buf_append_c(&writing->line, "\"model_context_window\":null},\"rate_limits\":null}");
	return add_line(writing, LINE_event_msg, err);
}

/* ---- the session ---- */

/* Lists show when the session was last used, not when it was imported. */
static void set_time(const char *path, int64_t at_ms)
{
	const struct timespec at = {.tv_sec = (time_t)(at_ms / 1000), .tv_nsec = at_ms % 1000 * 1000000};
	const struct timespec times[] = {at, at};
	if (at_ms > 0 && at_ms < clock_unix_ms())
		utimensat(AT_FDCWD, path, times, 0);
}

static int write_lines(struct writing *writing, const struct import_thread *thread, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct import_transcript ignored;
	buf_init(&writing->line, LIMIT_ROLLOUT_LINE);
	int status = import_transcript_read(thread->text, on_message, writing, &arena, &ignored, err);
	if (status == 0 && writing->is_in_turn && !writing->skipped)
		status = add_event(writing, false, STR(MARKER), err);
	if (status == 0 && writing->is_in_turn)
		status = add_usage(writing, err);
	if (status == 0)
		status = end_turn(writing, writing->at_ms, err);
	if (status == 0)
		status = rollout_writer_flush(writing->writer, err);
	if (status == 0)
		set_time(rollout_writer_path(writing->writer), writing->at_ms);
	buf_finish(&writing->line);
	return status;
}

static int write_new(struct import_thread *thread, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	uuid_v7(id);
	const struct rollout_meta meta = {
		.thread_id = str_of(id),
		.started_at_ms = clock_unix_ms(),
		.cwd = thread->transcript->cwd,
		.originator = STR("codex_import"),
		.cli_version = STR(CODEX_VERSION),
		.source = session_source_cli,
		.model_provider = thread->provider,
	};
	struct writing writing = {.writer = rollout_writer_create(thread->codex, &meta, fsync_policy_always)};
	int status = write_lines(&writing, thread, err);
	if (status != 0)
		unlink(rollout_writer_path(writing.writer));
	rollout_writer_destroy(writing.writer);
	if (status == 0)
		memcpy(thread->id, id, sizeof(id));
	return status;
}

/* Counts what an earlier import has written. ERR_exists: there are turns of ours among it. */
static int count_old(const char *path, struct writing *writing, struct error *err)
{
	struct rollout_reader *reader = rollout_reader_create(path, err);
	if (!reader)
		return -(int)err->code;
	vec_for_each(record, &reader->records) {
		writing->skipped += record->type == LINE_response_item;
		writing->turns += str_has_prefix(record->payload, "{\"type\":\"task_started\"");
	}
	bool is_ours = reader->turn.cwd.ptr || reader->compacted_items;
	rollout_reader_destroy(reader);
	return is_ours ? error_set(err, ERR_exists, "it was continued here since it was imported; nothing was added")
	               : 0;
}

/* The writer is opened first, so that no other process adds lines after they were counted. */
static int write_more(const struct import_thread *thread, struct error *err)
{
	struct writing writing = {0};
	auto_free char *path = rollout_list_find_id(thread->codex, str_of(thread->id), err);
	writing.writer = path ? rollout_writer_open(path, fsync_policy_always, err) : NULL;
	if (!writing.writer)
		return -(int)err->code;
	int status = count_old(rollout_writer_path(writing.writer), &writing, err);
	if (status == 0)
		status = write_lines(&writing, thread, err);
	rollout_writer_destroy(writing.writer);
	return status;
}

int import_thread_write(struct import_thread *thread, struct error *err)
{
	const struct import_transcript *transcript = thread->transcript;
	bool is_new = !thread->id[0];
	if ((is_new ? write_new(thread, err) : write_more(thread, err)) != 0)
		return -(int)err->code;
	if (is_new && transcript->is_named)
		best_effort(rollout_name_set(thread->codex, str_of(thread->id), transcript->title, err));
	return 0;
}
