/* A fork refers to the first bytes of its parent (history_base), as in codex 0.169. Complete lines are never changed,
 * so these bytes stay valid while the parent continues, is archived or packed; a session with forks cannot be deleted.
 * The reference ends at the last surviving record; rolled-back turns before it are dropped again when the fork is
 * read. A parent without line numbers, or one in another home, is copied instead, without its rolled-back turns. A copy
 * is numbered iff its original is. */
#include "rollout/rollout_fork.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "rollout/rollout_line.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_reader.h"

enum { FLUSH_AT = 1 * MIB };

struct fork_file {
	int fd;
	const char *path;
	bool is_numbered;
	int64_t ordinal; /* number of the next line */
	struct buf out;
	struct error *err;
};

static int flush(struct fork_file *file)
{
	if (fd_write_all(file->fd, file->out.data, file->out.len, file->err) != 0)
		return error_wrap(file->err, "cannot write %s", file->path);
	buf_reuse(&file->out);
	return 0;
}

static struct json_writer begin(struct fork_file *file, enum rollout_line_type type, int64_t at_ms)
{
	char timestamp[CLOCK_RFC3339_SIZE];
	struct json_writer w = json_writer(&file->out);
	clock_rfc3339(at_ms, timestamp);
	jw_object(&w);
	jw_member_cstr(&w, "timestamp", timestamp);
	if (file->is_numbered)
		jw_member_i64(&w, "ordinal", file->ordinal++);
	jw_member_cstr(&w, "type", rollout_line_name(type));
	jw_key(&w, "payload");
	return w;
}

static int end(struct fork_file *file, struct json_writer *w)
{
	jw_object_end(w);
	buf_append_char(&file->out, '\n');
	if (file->out.over)
		return error_set(file->err, ERR_limit, "a line of %s is too long", file->path);
	return file->out.len < FLUSH_AT ? 0 : flush(file);
}

static int write_lines(struct fork_file *file, const struct rollout_reader *reader, size_t count,
                       const struct rollout_meta *meta)
{
	struct json_writer w = begin(file, LINE_session_meta, meta->started_at_ms);
	rollout_meta_encode(meta, &w);
	int status = end(file, &w);
	if (meta->base_rollout_id.ptr)
		count = 0;
	for (size_t i = 0; i < count && i < reader->records.count && status == 0; i++) {
		const struct rollout_record *record = &reader->records.items[i];
		w = begin(file, record->type, record->at_ms ? record->at_ms : meta->started_at_ms);
		jw_raw(&w, record->payload);
		status = end(file, &w);
	}
	return status == 0 ? flush(file) : status;
}

/* True if both files are in the same home, within which files are found by their ids. */
static bool is_same_home(const char *path, const char *other)
{
	auto_free char *home = rollout_path_home(path), *other_home = rollout_path_home(other);
	auto_free char *real = home ? realpath(home, NULL) : NULL;
	auto_free char *other_real = other_home ? realpath(other_home, NULL) : NULL;
	return real && other_real && str_is(str_of(real), other_real);
}

static void choose_base(const struct rollout_reader *reader, size_t count, const char *path, struct rollout_meta *meta)
{
	size_t all = count < reader->records.count ? count : reader->records.count;
	meta->base_rollout_id = STR_NONE;
	meta->base_bytes = meta->base_ordinal = 0;
	if (meta->is_paginated && all && is_same_home(path, reader->path))
		rollout_reader_find_base(reader, all - 1, meta);
}

int rollout_fork(const struct rollout_reader *reader, size_t count, const struct rollout_meta *own, const char *path,
                 struct error *err)
{
	struct rollout_meta meta = *own;
	choose_base(reader, count, path, &meta);
	auto_free char *folder = str_dup(path_dir(path));
	if (dir_make(folder, 0700, err) != 0)
		return -(int)err->code;
	auto_close int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot make %s", path);
	struct fork_file file = {.fd = fd, .path = path, .is_numbered = meta.is_paginated, .err = err};
	file.ordinal = (int64_t)meta.base_ordinal;
	buf_init(&file.out, LIMIT_ROLLOUT_LINE * 2);
	int status = write_lines(&file, reader, count, &meta);
	buf_finish(&file.out);
	if (status != 0)
		unlink(path);
	return status;
}

char *rollout_fork_whole(const char *home, const char *from, const char *originator, struct error *err)
{
	char id[UUID_TEXT_SIZE];
	struct rollout_reader *reader = rollout_reader_create(from, err);
	if (!reader)
		return NULL;
	struct rollout_meta meta = reader->meta;
	uuid_v7(id);
	meta.forked_from_id = meta.thread_id;
	meta.thread_id = str_of(id);
	meta.started_at_ms = clock_unix_ms();
	meta.originator = str_of(originator);
	meta.cli_version = STR(CODEX_VERSION);
	meta.source = session_source_exec;
	auto_free char *path = rollout_path(home, meta.started_at_ms, meta.thread_id);
	int status = rollout_fork(reader, reader->records.count, &meta, path, err);
	rollout_reader_destroy(reader);
	return status == 0 ? steal(path) : NULL;
}
