/* A fork's file begins with a reference to a position in another file, so a session may span several files. They are
 * read, not mapped, because another process may truncate them and the reader trims items in place. A damaged packed
 * file is read up to the damage. */
#include "rollout/rollout_reader_priv.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_list.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_source.h"

enum { READ_CHUNK = 1 * MIB };

/* Reads at most `most` bytes, up to the current end of the file. */
static int read_bytes(struct rollout_source *source, size_t most, struct buf *out, struct error *err)
{
	while (out->len < most) {
		size_t want = most - out->len < READ_CHUNK ? most - out->len : READ_CHUNK;
		char *room = buf_reserve(out, want);
		if (!room)
			return ERR_limit;
		ssize_t got = rollout_source_read(source, room, want, err);
		if (got <= 0)
			return (int)got;
		out->len += (size_t)got;
	}
	return 0;
}

/* A plain file is read at once; the buffer of a packed one grows while it is unpacked. */
int rollout_reader_read_file(const char *path, uint64_t most, struct rollout_segment *ret, struct error *err)
{
	struct buf text;
	struct rollout_source *source = rollout_source_create(path, err);
	if (!source)
		return err ? -(int)err->code : -ERR_invalid;
	bool is_packed = rollout_source_is_packed(source);
	int64_t size = rollout_source_stat(source)->st_size;
	buf_init(&text, LIMIT_ROLLOUT_FILE + 1);
	if (!is_packed && most > (uint64_t)size)
		most = (uint64_t)size;
	if (!is_packed && size <= LIMIT_ROLLOUT_FILE)
		buf_reserve(&text, (size_t)most + 1);
	int status = size > LIMIT_ROLLOUT_FILE ? ERR_limit : read_bytes(source, most, &text, err);
	rollout_source_destroy(source);
	if (status == ERR_limit || text.len > LIMIT_ROLLOUT_FILE)
		status = error_set(err, ERR_limit, "%s is larger than %d MiB", path, LIMIT_ROLLOUT_FILE / MIB);
	if (status == 0 || (is_packed && status == -ERR_invalid && text.len)) {
		*ret = (struct rollout_segment){.len = text.len};
		ret->text = buf_take(&text);
		status = 0;
	}
	buf_finish(&text);
	return status;
}

static bool read_at(int fd, uint64_t from, size_t len, struct buf *out)
{
	char *room = buf_reserve(out, len);
	size_t got = 0;
	ssize_t count = 1;
	while (room && got < len && count > 0) {
		count = pread(fd, room + got, len - got, (off_t)(from + got));
		got += count > 0 ? (size_t)count : 0;
	}
	out->len += got;
	return room && count >= 0;
}

/* Appends the first line, which identifies the file. False: it is longer than a part. */
static bool read_first_line(int fd, uint64_t tail, struct buf *out)
{
	size_t want = tail < LIMIT_ROLLOUT_LINE ? (size_t)tail : LIMIT_ROLLOUT_LINE;
	if (!read_at(fd, 0, want, out))
		return false;
	ptrdiff_t end = str_find_char(buf_str(out), '\n');
	if (end >= 0)
		buf_truncate(out, (size_t)end + 1);
	return end >= 0;
}

/* Reads the first line and the last whole lines. False: the file is to be read as a whole. */
static bool read_ends(const char *path, struct rollout_part part, struct rollout_segment *ret)
{
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	auto_buf struct buf text, tail;
	struct stat info;
	buf_init(&text, LIMIT_ROLLOUT_FILE);
	buf_init(&tail, LIMIT_ROLLOUT_FILE);
	bool is_part = part.tail || part.from;
	if (fd < 0 || !is_part || fstat(fd, &info) != 0 || !str_has_suffix(str_of(path), ".jsonl"))
		return false;
	uint64_t size = (uint64_t)info.st_size < part.most ? (uint64_t)info.st_size : part.most;
	if (part.from && part.from <= size) /* with the end of the line before */
		part.tail = size - part.from + 1;
	else if (size / 2 <= part.tail)
		return false;
	if (!read_first_line(fd, part.from ? part.from : part.tail, &text) ||
	    !read_at(fd, size - part.tail, (size_t)part.tail, &tail))
		return false;
	ptrdiff_t begin = str_find_char(buf_str(&tail), '\n');
	if (begin < 0)
		return false;
	buf_append_str(&text, str_skip(buf_str(&tail), (size_t)begin + 1));
	*ret = (struct rollout_segment){.len = text.len};
	ret->text = buf_take(&text);
	return true;
}

/* Decodes the first session_meta of a segment, which identifies the file. */
static int read_meta(struct rollout_reader *reader, const struct rollout_segment *segment, struct rollout_meta *ret,
                     struct error *err)
{
	struct str rest = str_n(segment->text, segment->len), text;
	while (str_next_line(&rest, &text)) {
		struct rollout_line line;
		arena_reset(&reader->line);
		if (rollout_line_parse(&reader->line, text, &line, NULL) == 0 && line.type == LINE_session_meta)
			return rollout_meta_decode(line.payload, &reader->arena, ret, err);
	}
	return error_set(err, ERR_invalid, "no line has the session's id");
}

static int add_segment(struct rollout_reader *reader, const char *path, uint64_t most, struct rollout_meta *ret,
                       struct error *err)
{
	struct rollout_segment segment;
	reader->is_cut = reader->segments.count == 0 && read_ends(path, reader->part, &segment);
	int status = reader->is_cut ? 0 : rollout_reader_read_file(path, most, &segment, err);
	if (status < 0)
		return status;
	segment.path = xstrdup(path);
	segment.most = most;
	vec_push(&reader->segments, segment);
	if (str_trim(str_n(segment.text, segment.len)).len == 0)
		return error_set(err, ERR_invalid, "empty session file: %s", path);
	status = read_meta(reader, &segment, ret, err);
	return status < 0 ? error_wrap(err, "%s", path) : 0;
}

static bool is_among_segments(const struct rollout_reader *reader, const char *path)
{
	struct stat one, other;
	vec_for_each(it, &reader->segments) {
		if (stat(path, &one) == 0 && stat(it->path, &other) == 0 && one.st_ino == other.st_ino &&
		    one.st_dev == other.st_dev)
			return true;
	}
	return false;
}

int rollout_reader_read_files(struct rollout_reader *reader, struct error *err)
{
	int status = add_segment(reader, reader->path, reader->part.most, &reader->meta, err);
	struct rollout_meta meta = reader->meta;
	auto_free char *home = rollout_path_home(reader->path);
	while (status == 0 && meta.base_rollout_id.ptr && !reader->is_cut) {
		if (reader->segments.count == LIMIT_ROLLOUT_SEGMENTS)
			return error_set(err, ERR_limit, "%s refers to more than %d other files", reader->path,
			                 LIMIT_ROLLOUT_SEGMENTS);
		struct error found = {0};
		auto_free char *path = home ? rollout_list_find_segment(home, meta.base_rollout_id, &found) : NULL;
		if (!path)
			return error_set(err, ERR_not_found, "%s continues session file %.*s, which does not exist",
			                 reader->path, STR_ARG(meta.base_rollout_id));
		if (is_among_segments(reader, path))
			return error_set(err, ERR_invalid, "%s refers to itself, through %s", reader->path, path);
		status = add_segment(reader, path, meta.base_bytes, &meta, err);
	}
	return status;
}
