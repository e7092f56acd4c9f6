/* The torn bytes are saved to their own file before the rollout is truncated, so that they always exist at least once.
 * Codex 0.169 refuses a numbered file whose last line has no number; the last complete line is therefore checked and,
 * if an older version wrote it, the lines before it. */
#include "rollout/rollout_tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"
#include "rollout/rollout_line.h"

enum { CHUNK = 64 * KIB, LOOK_BACK_LINES = 16 };

static ssize_t read_at(int fd, void *out, size_t len, off_t at)
{
	ssize_t got;
	do
		got = pread(fd, out, len, at);
	while (got < 0 && errno == EINTR);
	return got;
}

/* Returns the start of the line that ends at `end`: the offset after the previous newline, or 0; -1 on a read error. */
static off_t line_start(int fd, off_t end)
{
	auto_free char *chunk = xmalloc(CHUNK);
	while (end > 0) {
		size_t len = end < CHUNK ? (size_t)end : CHUNK;
		if (read_at(fd, chunk, len, end - (off_t)len) != (ssize_t)len)
			return -1;
		const char *newline = memrchr(chunk, '\n', len);
		if (newline)
			return end - (off_t)len + (newline - chunk) + 1;
		end -= (off_t)len;
	}
	return 0;
}

/* Parses the bytes from start to end as a line, whose text is stored in the arena. */
static bool parse_line(int fd, off_t start, off_t end, struct arena *arena, struct rollout_line *ret)
{
	size_t len = (size_t)(end - start);
	if (end <= start || len > LIMIT_ROLLOUT_LINE)
		return false;
	char *text = arena_alloc(arena, len);
	if (read_at(fd, text, len, start) != (ssize_t)len)
		return false;
	return rollout_line_parse(arena, str_n(text, len), ret, NULL) == 0;
}

static int copy_range(int from, off_t at, off_t end, int to, struct error *err)
{
	auto_free char *chunk = xmalloc(CHUNK);
	while (at < end) {
		ssize_t got = read_at(from, chunk, end - at < CHUNK ? (size_t)(end - at) : CHUNK, at);
		if (got <= 0)
			return error_sys(err, got < 0 ? errno : EIO, "cannot read it");
		int status = fd_write_all(to, chunk, (size_t)got, err);
		if (status < 0)
			return status;
		at += got;
	}
	return fsync(to) == 0 ? 0 : error_sys(err, errno, "cannot sync");
}

/* Creates the first free <path>.torn-<n>. */
static int create_torn_file(const char *path, char **ret_name, struct error *err)
{
	for (int n = 1; n <= LIMIT_ROLLOUT_TORN; n++) {
		auto_free char *name = xasprintf("%s.torn-%d", path, n);
		int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd >= 0)
			*ret_name = steal(name);
		if (fd >= 0 || errno != EEXIST)
			return fd >= 0 ? fd : error_sys(err, errno, "cannot create %s", name);
	}
	return error_set(err, ERR_limit, "%s has been torn %d times; look at its .torn files", path,
	                 LIMIT_ROLLOUT_TORN);
}

static int set_aside(int fd, const char *path, off_t start, off_t end, char **ret_name, struct error *err)
{
	auto_free char *name = NULL;
	auto_close int torn = create_torn_file(path, &name, err);
	if (torn < 0)
		return torn;
	int status = copy_range(fd, start, end, torn, err);
	if (status == 0 && ftruncate(fd, start) != 0)
		status = error_sys(err, errno, "cannot shorten it");
	if (status < 0) {
		unlink(name);
		return error_wrap(err, "moving the broken last line of %s aside", path);
	}
	*ret_name = steal(name);
	return 0;
}

/* Truncates the file to complete lines and returns its new size, or a negative code. */
static off_t mend(int fd, const char *path, off_t size, char **ret_torn, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct rollout_line line;
	off_t start = line_start(fd, size);
	if (start < 0)
		return error_sys(err, errno ? errno : EIO, "cannot read %s", path);
	if (start == size)
		return size;
	if (!parse_line(fd, start, size, &arena, &line)) {
		int status = set_aside(fd, path, start, size, ret_torn, err);
		return status < 0 ? status : start;
	}
	int status = fd_write_all(fd, "\n", 1, err);
	return status < 0 ? error_wrap(err, "ending the last line of %s", path) : size + 1;
}

/* Returns the start of the last complete line that parses, or -1; damaged lines after it are counted, too. */
static off_t last_line(int fd, off_t size, uint64_t *ret_lines_behind, struct rollout_line *ret)
{
	*ret_lines_behind = 0;
	for (int i = 0; i < LOOK_BACK_LINES && size > 0; i++) {
		auto_arena struct arena arena = {0};
		off_t start = line_start(fd, size - 1);
		if (start < 0 || parse_line(fd, start, size - 1, &arena, ret))
			return start;
		++*ret_lines_behind;
		size = start;
	}
	return -1;
}

/* True if the file's first line has a number. */
static bool begins_numbered(int fd)
{
	auto_arena struct arena arena = {0};
	struct rollout_line line;
	char *text = arena_alloc(&arena, LIMIT_ROLLOUT_HEAD);
	ssize_t got = read_at(fd, text, LIMIT_ROLLOUT_HEAD, 0);
	const char *newline = got > 0 ? memchr(text, '\n', (size_t)got) : NULL;
	return newline && parse_line(fd, 0, newline - text, &arena, &line) && line.has_ordinal;
}

/* Finds the number to continue with in a file that an older version continued without numbers. */
static void read_ordinal_before(int fd, off_t size, struct rollout_tail *tail)
{
	uint64_t lines = 0;
	while (size > 0 && !tail->has_ordinal) {
		auto_arena struct arena arena = {0};
		struct rollout_line line;
		off_t start = line_start(fd, size - 1);
		if (start < 0)
			return;
		tail->has_ordinal = parse_line(fd, start, size - 1, &arena, &line) && line.has_ordinal;
		tail->next_ordinal = line.ordinal + ++lines;
		size = start;
	}
}

static void read_ordinal(int fd, off_t size, struct rollout_tail *tail)
{
	uint64_t lines_behind;
	struct rollout_line line = {0};
	if (last_line(fd, size, &lines_behind, &line) < 0)
		return;
	tail->has_ordinal = line.has_ordinal;
	tail->next_ordinal = line.ordinal + lines_behind + 1;
	if (!line.has_ordinal && begins_numbered(fd))
		read_ordinal_before(fd, size, tail);
}

int rollout_tail_repair(int fd, const char *path, struct rollout_tail *ret, struct error *err)
{
	struct rollout_tail tail = {0};
	struct stat st;
	if (fstat(fd, &st) != 0)
		return error_sys(err, errno, "cannot read the status of %s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, ERR_invalid, "%s is not a regular file", path);
	off_t size = mend(fd, path, st.st_size, &tail.torn_path, err);
	if (size < 0)
		return (int)size;
	read_ordinal(fd, size, &tail);
	*ret = tail;
	return 0;
}

void rollout_tail_finish(struct rollout_tail *tail)
{
	free(tail->torn_path);
	*tail = (struct rollout_tail){0};
}
