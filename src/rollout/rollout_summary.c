/* The data for a list is in the first lines of a file, which is read in small pieces until they are found. The creation
 * time is part of the file name, so that a list by age opens only the files that it shows. */
#include "rollout/rollout_summary.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_item.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_source.h"

struct summary_reader {
	struct rollout_summary *out;
	struct arena *arena;  /* holds the result */
	struct arena scratch; /* holds the current line */
	bool has_meta;
	struct error err;
};

/* ---- times ---- */

/* Reads the time of a version-7 id, whose first 48 bits are milliseconds. */
static bool uuid_ms(struct str id, int64_t *ret)
{
	int64_t ms = 0;
	if (id.ptr[14] != '7')
		return false;
	for (size_t i = 0; i < 13; i++) {
		if (i != 8)
			ms = ms * 16 + str_hex_digit(id.ptr[i]);
	}
	*ret = ms;
	return true;
}

/* Parses "2026-11-21T01-50-36", in local time. */
static int64_t name_ms(struct str text)
{
	struct tm tm = {.tm_isdst = -1};
	char copy[32] = "";
	memcpy(copy, text.ptr, text.len < sizeof(copy) ? text.len : sizeof(copy) - 1);
	if (!strptime(copy, "%Y-%m-%dT%H-%M-%S", &tm))
		return 0;
	return (int64_t)mktime(&tm) * 1000;
}

/* Reads two digits; false if there are others. */
static bool two_digits(struct str text, size_t at, int *ret)
{
	unsigned tens = (unsigned char)text.ptr[at] - '0', ones = (unsigned char)text.ptr[at + 1] - '0';
	*ret = (int)(tens * 10 + ones);
	return tens < 10 && ones < 10;
}

/* True if the name is that of a file which was created at this time. Lists check thousands of names, and mktime is the
 * larger part of reading one: so the time is converted, and the name compared with it up to the minute. */
static bool is_named_after(struct str text, int64_t ms)
{
	struct tm tm;
	time_t seconds = (time_t)(ms / 1000);
	int century, year, month, day, hour, minute;
	return text.len >= 16 && localtime_r(&seconds, &tm) && two_digits(text, 0, &century) &&
	       two_digits(text, 2, &year) && two_digits(text, 5, &month) && two_digits(text, 8, &day) &&
	       two_digits(text, 11, &hour) && two_digits(text, 14, &minute) &&
	       century * 100 + year == tm.tm_year + 1900 && month == tm.tm_mon + 1 && day == tm.tm_mday &&
	       hour == tm.tm_hour && minute == tm.tm_min;
}

/* Prefers the time in the id, which is more precise than that in the name, if they agree: clients may choose any id. */
int64_t rollout_summary_created(const struct rollout_file_name *name)
{
	int64_t exact;
	bool is_timed = uuid_ms(name->rollout_id, &exact);
	if (is_timed && is_named_after(name->time, exact))
		return exact;
	int64_t named = name_ms(name->time);
	return is_timed && exact >= named - 60 * 1000 && exact <= named + 60 * 1000 ? exact : named;
}

/* ---- content ---- */

static void keep_preview(struct summary_reader *reader, struct str text)
{
	if (!reader->out->preview.ptr && text.len)
		reader->out->preview = arena_str(reader->arena, text);
}

static void on_event_line(struct summary_reader *reader, const struct json *payload)
{
	struct str type = json_get_str(payload, "type");
	const struct json *item = json_get(payload, "item");
	if (str_is(type, "user_message"))
		keep_preview(reader, json_get_str(payload, "message"));
	else if (str_is(type, "item_completed") && str_is(json_get_str(item, "type"), "UserMessage"))
		keep_preview(reader, json_get_str(json_at(json_get(item, "content"), 0), "text"));
}

static void on_turn_line(struct summary_reader *reader, const struct json *payload)
{
	if (reader->out->model.ptr)
		return;
	struct rollout_turn turn = rollout_turn_decode(payload, reader->arena);
	reader->out->model = turn.model;
	reader->out->effort = turn.effort;
}

static void take_line(struct summary_reader *reader, struct str text)
{
	struct rollout_line line;
	arena_reset(&reader->scratch);
	if (rollout_line_parse(&reader->scratch, text, &line, NULL) != 0)
		return;
	if (line.type == LINE_session_meta && !reader->has_meta)
		reader->has_meta =
			rollout_meta_decode(line.payload, reader->arena, &reader->out->meta, &reader->err) == 0;
	else if (line.type == LINE_event_msg)
		on_event_line(reader, line.payload);
	else if (line.type == LINE_turn_context)
		on_turn_line(reader, line.payload);
}

static bool is_whole(const struct summary_reader *reader)
{
	return reader->has_meta && reader->out->preview.ptr && reader->out->model.ptr;
}

/* Handles the complete lines in bytes; returns their length. */
static size_t take_lines(struct summary_reader *reader, struct str bytes)
{
	size_t taken = 0;
	while (!is_whole(reader)) {
		struct str rest = str_skip(bytes, taken);
		ptrdiff_t end = str_find_char(rest, '\n');
		if (end < 0)
			break;
		take_line(reader, str_n(rest.ptr, (size_t)end));
		taken += (size_t)end + 1;
	}
	return taken;
}

static int read_lines(struct summary_reader *reader, struct rollout_source *source, uint64_t most, struct error *err)
{
	auto_buf struct buf bytes;
	size_t left = most < LIMIT_ROLLOUT_SUMMARY ? (size_t)most : LIMIT_ROLLOUT_SUMMARY;
	buf_init(&bytes, LIMIT_ROLLOUT_SUMMARY);
	while (!is_whole(reader) && left) {
		size_t want = left < 32 * KIB ? left : 32 * KIB;
		char *room = buf_reserve(&bytes, want);
		ssize_t got = room ? rollout_source_read(source, room, want, err) : 0;
		if (got < 0)
			return (int)got;
		if (got == 0)
			break;
		bytes.len += (size_t)got;
		left -= (size_t)got;
		buf_consume(&bytes, take_lines(reader, buf_str(&bytes)));
	}
	if (!is_whole(reader)) /* the last line may lack its newline */
		take_line(reader, buf_str(&bytes));
	return 0;
}

static int read_open(struct summary_reader *reader, struct rollout_source *source, const char *path, uint64_t most,
                     struct error *err)
{
	struct rollout_file_name name;
	const struct stat *st = rollout_source_stat(source);
	reader->out->updated_at_ms = (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000;
	reader->out->created_at_ms = rollout_path_parse(path_name(path), &name) ? rollout_summary_created(&name)
	                                                                        : reader->out->updated_at_ms;
	int status = read_lines(reader, source, most, err);
	if (status == 0 && !reader->has_meta)
		return error_set(err, ERR_invalid, "%s: no line has the session's id", path);
	return status;
}

/* Reads at most the first `most` bytes. */
static int read_file(const char *path, uint64_t most, struct arena *arena, struct rollout_summary *ret,
                     struct error *err)
{
	struct summary_reader reader = {.out = ret, .arena = arena};
	struct rollout_source *source = rollout_source_create(path, err);
	if (!source)
		return err ? -(int)err->code : -ERR_invalid;
	*ret = (struct rollout_summary){.path = arena_str(arena, str_of(path))};
	int status = read_open(&reader, source, path, most, err);
	rollout_source_destroy(source);
	arena_finish(&reader.scratch);
	return status;
}

/* Completes the summary of a fork from the files that it refers to, which contain its first message. Each reference
 * costs a search for its file. */
static void read_bases(struct rollout_summary *summary, struct arena *arena)
{
	auto_free char *path = str_dup(summary->path);
	auto_free char *home = rollout_path_home(path);
	struct rollout_summary base = {.meta = summary->meta};
	for (int depth = 0; home && depth < LIMIT_ROLLOUT_BASES; depth++) {
		if (!base.meta.base_rollout_id.ptr)
			return;
		auto_free char *base_path = rollout_list_find_segment(home, base.meta.base_rollout_id, NULL);
		if (!base_path || read_file(base_path, base.meta.base_bytes, arena, &base, NULL) != 0)
			return;
		if (base.preview.ptr)
			summary->preview = base.preview;
		if (!summary->model.ptr)
			summary->model = base.model;
	}
}

int rollout_summary_read(const char *path, struct arena *arena, struct rollout_summary *ret, struct error *err)
{
	int status = read_file(path, LIMIT_ROLLOUT_FILE, arena, ret, err);
	if (status == 0)
		read_bases(ret, arena);
	return status;
}
