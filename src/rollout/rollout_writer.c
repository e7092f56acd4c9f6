/* The batch is a buffer of complete lines, which is written with one write(2) to a descriptor that stays open. The rest
 * of a short write stays in the batch; since the file is locked and opened for appending, it continues exactly where
 * the write ended. A large payload is written without being copied to the batch, which would raise peak memory by its
 * size. */
#include "rollout/rollout_writer.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/shared_text.h"
#include "base/uuid.h"
#include "loop/loop.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_lock.h"
#include "rollout/rollout_meta.h"
#include "rollout/rollout_path.h"
#include "rollout/rollout_rescue.h"
#include "rollout/rollout_sink.h"
#include "rollout/rollout_source.h"
#include "rollout/rollout_tail.h"

enum { NOT_IN_A_LINE = -1 };

struct rollout_writer {
	char *home; /* NULL if the file is outside of any CODEX_HOME */
	char *path;
	char thread_id[UUID_TEXT_SIZE];
	enum fsync_policy fsync;
	int fd;      /* -1 until the first flush of a new session */
	bool is_new; /* the file still has its temporary name */
	struct rollout_lock *lock;
	struct rollout_tail tail;
	struct arena meta_arena;
	const struct rollout_meta *meta; /* of a session without content; NULL: its line has been appended */
	struct shared_text *base;        /* meta's base_instructions, or NULL */
	const struct rollout_sink *sink; /* takes the lines; the file is a cache. NULL: the file is the rollout */
	bool has_no_cache;               /* with a sink: the file could not be written */
	struct buf batch;
	ptrdiff_t line_start;             /* offset of the current line, or NOT_IN_A_LINE */
	bool has_content;                 /* a line was appended */
	bool is_dirty;                    /* flushed since the last sync */
	bool is_let_go;                   /* the file is being removed on purpose, so it is not rescued */
	enum rollout_rescue_kind rescued; /* a rescue that has not been reported yet */
};

static struct rollout_writer *writer_new(enum fsync_policy fsync)
{
	struct rollout_writer *writer = xnew(struct rollout_writer);
	*writer = (struct rollout_writer){.fd = -1, .fsync = fsync, .line_start = NOT_IN_A_LINE};
	buf_init(&writer->batch, LIMIT_ROLLOUT_PENDING);
	return writer;
}

struct rollout_writer *rollout_writer_create(const char *home, const struct rollout_meta *meta, enum fsync_policy fsync)
{
	assert(uuid_is_valid(meta->thread_id));
	struct rollout_writer *writer = writer_new(fsync);
	writer->home = xstrdup(home);
	writer->path = rollout_path(home, meta->started_at_ms, meta->thread_id);
	memcpy(writer->thread_id, meta->thread_id.ptr, meta->thread_id.len);
	writer->tail.has_ordinal = meta->is_paginated;
	struct rollout_meta *copy = rollout_meta_copy(meta, &writer->meta_arena);
	if (meta->base_instructions.ptr)
		writer->base = shared_text_intern(meta->base_instructions);
	copy->base_instructions = shared_text_str(writer->base);
	writer->meta = copy;
	return writer;
}

static void drop_meta(struct rollout_writer *writer)
{
	writer->meta = NULL;
	shared_text_unref(steal(writer->base));
	arena_finish(&writer->meta_arena);
}

void rollout_writer_destroy(struct rollout_writer *writer)
{
	if (!writer)
		return;
	if (writer->fd >= 0) {
		flock(writer->fd, LOCK_UN); /* a pending sync holds a copy of the descriptor, and with it the lock */
		close(writer->fd);
	}
	rollout_lock_destroy(writer->lock);
	drop_meta(writer);
	rollout_tail_finish(&writer->tail);
	buf_finish(&writer->batch);
	free(writer->home);
	free(writer->path);
	free(writer);
}

/* ---- opening ---- */

static int lock_thread(struct rollout_writer *writer, struct error *err)
{
	if (!writer->home || !writer->thread_id[0])
		return 0;
	writer->lock = rollout_lock_create(writer->home, str_of(writer->thread_id), err);
	return writer->lock ? 0 : -(err ? (int)err->code : ERR_busy);
}

/* Gives the file its final name with the first batch, so that a process that is killed earlier leaves no empty
 * session. */
static char *first_name(const struct rollout_writer *writer)
{
	return xasprintf("%s.new", writer->path);
}

static int give_name(struct rollout_writer *writer, struct error *err)
{
	auto_free char *first = writer->is_new ? first_name(writer) : NULL;
	if (first && rename(first, writer->path) != 0)
		return error_sys(err, errno, "cannot create %s", writer->path);
	writer->is_new = false;
	return 0;
}

static int create_file(struct rollout_writer *writer, struct error *err)
{
	auto_free char *name = first_name(writer);
	auto_free char *folder = str_dup(path_dir(writer->path));
	int status = dir_make(folder, 0700, err);
	if (status == 0 && !writer->lock)
		status = lock_thread(writer, err);
	if (status < 0)
		return status;
	auto_close int fd = open(name, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot create %s", writer->path);
	status = rollout_lock_fd(fd, writer->path, err);
	writer->is_new = status == 0;
	if (status == 0)
		writer->fd = steal_fd(&fd);
	return status;
}

/* Unpacks the file, because packed files cannot be appended to. */
static int unpack(struct rollout_writer *writer, struct error *err)
{
	if (!str_has_suffix(str_of(writer->path), ".zst"))
		return 0;
	char *plain = rollout_source_unpack(writer->path, err);
	if (!plain)
		return err ? -(int)err->code : -ERR_invalid;
	free(writer->path);
	writer->path = plain;
	return 0;
}

static int open_file(struct rollout_writer *writer, struct error *err)
{
	struct rollout_file_name name;
	writer->home = rollout_path_home(writer->path);
	if (rollout_path_parse(path_name(writer->path), &name))
		memcpy(writer->thread_id, name.thread_id.ptr, name.thread_id.len);
	int status = lock_thread(writer, err);
	if (status == 0)
		status = unpack(writer, err);
	if (status < 0)
		return status;
	writer->fd = open(writer->path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (writer->fd < 0)
		return error_sys(err, errno, "cannot open %s for writing", writer->path);
	status = rollout_lock_fd(writer->fd, writer->path, err);
	return status < 0 ? status : rollout_tail_repair(writer->fd, writer->path, &writer->tail, err);
}

struct rollout_writer *rollout_writer_open(const char *path, enum fsync_policy fsync, struct error *err)
{
	struct rollout_writer *writer = writer_new(fsync);
	writer->path = realpath(path, NULL);
	writer->has_content = true;
	if (!writer->path)
		error_sys(err, errno, "cannot open %s", path);
	else if (open_file(writer, err) == 0)
		return writer;
	rollout_writer_destroy(writer);
	return NULL;
}

/* ---- lines ---- */

static struct json_writer begin_line(struct rollout_writer *writer, enum rollout_line_type type, int64_t unix_ms)
{
	assert(writer->line_start == NOT_IN_A_LINE);
	char timestamp[CLOCK_RFC3339_SIZE];
	clock_rfc3339(unix_ms, timestamp);
	writer->line_start = (ptrdiff_t)writer->batch.len;
	struct json_writer w = json_writer(&writer->batch);
	jw_object(&w);
	jw_member_cstr(&w, "timestamp", timestamp);
	if (writer->tail.has_ordinal)
		jw_member_i64(&w, "ordinal", (int64_t)writer->tail.next_ordinal);
	jw_member_cstr(&w, "type", rollout_line_name(type));
	jw_key(&w, "payload");
	return json_writer(&writer->batch);
}

/* The first line is encoded only when another follows, because most of its size are instructions, and a session that
 * is open but not used needs no copy of them. */
static void append_meta(struct rollout_writer *writer)
{
	if (!writer->meta)
		return;
	struct json_writer w = begin_line(writer, LINE_session_meta, writer->meta->started_at_ms);
	rollout_meta_encode(writer->meta, &w);
	best_effort(rollout_writer_end(writer, NULL)); /* cannot fail: a meta line fits into an empty batch */
	drop_meta(writer);
}

struct json_writer rollout_writer_begin(struct rollout_writer *writer, enum rollout_line_type type)
{
	append_meta(writer);
	return begin_line(writer, type, clock_unix_ms());
}

/* Replaces line breaks, which JSON may contain between tokens but a line may not. */
static void join_lines(char *text, size_t len)
{
	char *newline;
	while ((newline = memchr(text, '\n', len))) {
		*newline = ' ';
		len -= (size_t)(newline + 1 - text);
		text = newline + 1;
	}
}

int rollout_writer_end(struct rollout_writer *writer, struct error *err)
{
	assert(writer->line_start != NOT_IN_A_LINE);
	struct buf *batch = &writer->batch;
	size_t start = (size_t)writer->line_start;
	writer->line_start = NOT_IN_A_LINE;
	buf_append_c(batch, "}\n");
	if (batch->over || batch->len - start > LIMIT_ROLLOUT_LINE) {
		bool is_too_long = !batch->over;
		buf_truncate(batch, start);
		if (is_too_long)
			return error_set(err, ERR_limit, "%s: a line would be longer than %d MiB", writer->path,
			                 LIMIT_ROLLOUT_LINE / MIB);
		return error_set(err, ERR_limit, "%s: the write buffer is full (%zu bytes)", writer->path, batch->len);
	}
	join_lines(batch->data + start, batch->len - start - 1);
	writer->has_content = true;
	writer->tail.next_ordinal++;
	return 0;
}

/* ---- flushing ---- */

static int write_batch(struct rollout_writer *writer, struct error *err)
{
	struct buf *batch = &writer->batch;
	size_t sent = 0;
	int failure = 0;
	while (sent < batch->len && failure == 0) {
		ssize_t put = write(writer->fd, batch->data + sent, batch->len - sent);
		if (put > 0)
			sent += (size_t)put;
		else if (put == 0 || errno != EINTR)
			failure = put == 0 ? ENOSPC : errno;
	}
	writer->is_dirty |= sent > 0;
	if (failure) {
		buf_consume(batch, sent);
		return error_sys(err, failure, "cannot write to %s (%zu bytes are kept to be written later)",
		                 writer->path, batch->len);
	}
	if (batch->cap > LIMIT_ROLLOUT_KEPT)
		buf_finish(batch);
	else
		buf_clear(batch);
	return 0;
}

/* Writes the payload after the batch, which ends with the beginning of the line. Returns the part of the payload
 * that could not be written; it is kept in the batch like the rest of any short write. */
static struct str write_payload(struct rollout_writer *writer, struct str payload)
{
	ssize_t put = 1;
	if (write_batch(writer, NULL) != 0)
		return payload;
	while (payload.len && put > 0) {
		put = write(writer->fd, payload.ptr, payload.len);
		if (put > 0)
			payload = str_skip(payload, (size_t)put);
	}
	return payload;
}

void rollout_writer_insert(struct rollout_writer *writer, const struct json_aside *aside)
{
	struct buf *batch = &writer->batch;
	struct str rest = aside->text;
	bool is_direct = !writer->sink && writer->fd >= 0 && batch->len + rest.len < LIMIT_ROLLOUT_LINE - KIB;
	if (batch->over)
		return; /* rollout_writer_end drops the line */
	auto_free char *tail = str_dup(str_skip(buf_str(batch), aside->at));
	buf_truncate(batch, aside->at);
	if (is_direct)
		rest = write_payload(writer, rest);
	ptrdiff_t start = writer->line_start - (ptrdiff_t)(aside->at - batch->len); /* without what was written */
	writer->line_start = start > 0 ? start : 0;
	buf_append_str(batch, rest);
	buf_append_c(batch, tail);
}

int rollout_writer_append(struct rollout_writer *writer, enum rollout_line_type type, struct str payload,
                          struct error *err)
{
	struct json_writer w = rollout_writer_begin(writer, type);
	if (payload.len > LIMIT_ROLLOUT_DIRECT && str_find_char(payload, '\n') < 0)
		rollout_writer_insert(writer, &(struct json_aside){payload, writer->batch.len});
	else
		jw_raw(&w, payload);
	return rollout_writer_end(writer, err);
}

void rollout_writer_keep(struct rollout_writer *writer)
{
	append_meta(writer);
	writer->has_content = true;
}

/* Saves a file that has lost its name, because its content would be lost when the process ends. */
static int rescue_file(struct rollout_writer *writer, struct error *err)
{
	char *path;
	if (writer->is_let_go || !rollout_is_lost(writer->fd, writer->path))
		return 0;
	int fd = rollout_rescue(writer->fd, writer->path, &path, err);
	if (fd < 0)
		return error_wrap(err, "%s was deleted and cannot be created again", writer->path);
	writer->rescued = strcmp(path, writer->path) == 0 ? ROLLOUT_DELETED : ROLLOUT_REPLACED;
	close(writer->fd); /* closing releases the lock */
	free(writer->path);
	writer->fd = fd;
	writer->path = path;
	writer->is_dirty = true;
	writer->is_new = false;
	return 0;
}

void rollout_writer_let_go(struct rollout_writer *writer, bool is_let_go)
{
	writer->is_let_go = is_let_go;
}

enum rollout_rescue_kind rollout_writer_take_rescue(struct rollout_writer *writer)
{
	enum rollout_rescue_kind rescued = writer->rescued;
	writer->rescued = ROLLOUT_UNTOUCHED;
	return rescued;
}

static bool needs_sync(const struct rollout_writer *writer)
{
	return writer->is_dirty && writer->fsync != fsync_policy_none;
}

static int sync_now(struct rollout_writer *writer, struct error *err)
{
	if (!needs_sync(writer))
		return 0;
	if (fdatasync(writer->fd) != 0)
		return error_sys(err, errno, "cannot sync %s to disk", writer->path);
	writer->is_dirty = false;
	return 0;
}

void rollout_writer_use_sink(struct rollout_writer *writer, const struct rollout_sink *sink)
{
	writer->sink = sink;
	writer->fsync = fsync_policy_none;
}

static int write_cache(struct rollout_writer *writer)
{
	int status = writer->fd < 0 ? create_file(writer, NULL) : 0;
	if (status == 0)
		status = write_batch(writer, NULL);
	return status == 0 ? give_name(writer, NULL) : status;
}

/* The file is removed after an error, because a reader would take what is missing for the whole. */
static void drop_cache(struct rollout_writer *writer)
{
	auto_free char *first = first_name(writer);
	unlink(writer->is_new ? first : writer->path);
	writer->has_no_cache = true;
}

static int flush_to_sink(struct rollout_writer *writer)
{
	writer->sink->on_lines(writer->sink->self, writer->thread_id, buf_str(&writer->batch));
	if (!writer->has_no_cache && write_cache(writer) != 0)
		drop_cache(writer);
	buf_clear(&writer->batch);
	return 0;
}

int rollout_writer_flush(struct rollout_writer *writer, struct error *err)
{
	assert(writer->line_start == NOT_IN_A_LINE);
	if (writer->batch.len == 0 || !writer->has_content)
		return 0;
	if (writer->sink)
		return flush_to_sink(writer);
	int status = writer->fd < 0 ? create_file(writer, err) : rescue_file(writer, err);
	if (status == 0)
		status = write_batch(writer, err);
	if (status == 0)
		status = give_name(writer, err);
	if (status == 0 && writer->fsync == fsync_policy_always)
		status = sync_now(writer, err);
	return status;
}

void rollout_writer_flush_large(struct rollout_writer *writer)
{
	if (writer->batch.len > LIMIT_ROLLOUT_DIRECT && writer->fd >= 0 && !writer->sink)
		best_effort(write_batch(writer, NULL));
}

size_t rollout_writer_pending_bytes(const struct rollout_writer *writer)
{
	return writer->has_content ? writer->batch.len : 0;
}

struct sync_job {
	int fd;
	int sys; /* an errno, or 0 */
	char *path;
	rollout_writer_sync_fn done;
	void *self;
};

static void on_worker_run(void *self)
{
	struct sync_job *job = self;
	job->sys = fdatasync(job->fd) == 0 ? 0 : errno;
}

static void on_worker_done(void *self)
{
	struct sync_job *job = self;
	struct error err;
	if (job->sys)
		error_sys(&err, job->sys, "cannot sync %s to disk", job->path);
	job->done(job->sys ? &err : NULL, job->self);
	close(job->fd);
	free(job->path);
	free(job);
}

bool rollout_writer_sync(struct rollout_writer *writer, struct loop *loop, rollout_writer_sync_fn done, void *self)
{
	int fd = needs_sync(writer) ? fcntl(writer->fd, F_DUPFD_CLOEXEC, 0) : -1;
	if (fd < 0)
		return false;
	struct sync_job *job = xnew(struct sync_job);
	*job = (struct sync_job){.fd = fd, .path = xstrdup(writer->path), .done = done, .self = self};
	writer->is_dirty = false;
	worker_run(loop, on_worker_run, on_worker_done, job);
	return true;
}

const char *rollout_writer_path(const struct rollout_writer *writer)
{
	return writer->path;
}

const char *rollout_writer_torn_path(const struct rollout_writer *writer)
{
	return writer->tail.torn_path;
}

bool rollout_writer_is_paginated(const struct rollout_writer *writer)
{
	return writer->tail.has_ordinal;
}
