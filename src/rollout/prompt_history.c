/* An entry is appended with one write(2) to a descriptor opened with O_APPEND, so that readers never see a partial line
 * and writers never overwrite each other. The lock protects trimming, which rewrites the file in place: a new file
 * would have another inode and invalidate every offset that clients have stored. */
#include "rollout/prompt_history.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/mem.h"
#include "rollout/rollout_limits.h"

static char *history_path(const char *home)
{
	return path_join(home, "history.jsonl");
}

static int take_lock(int fd, const char *path, struct error *err)
{
	const struct timespec pause = {.tv_nsec = 1000 * 1000};
	for (int left = LIMIT_HISTORY_LOCK_MS; flock(fd, LOCK_EX | LOCK_NB) != 0; left--) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return error_sys(err, errno, "cannot lock %s", path);
		if (left == 0)
			return error_set(err, ERR_limit, "%s is locked by another program", path);
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* Returns the newest lines that fit into room, but at least the last one. */
static struct str newest(struct str lines, size_t room)
{
	while (lines.len > room) {
		ptrdiff_t end = str_find_char(lines, '\n');
		if (end < 0 || (size_t)end + 1 == lines.len)
			break;
		lines = str_skip(lines, (size_t)end + 1);
	}
	return lines;
}

static int trim(int fd, const char *path, int64_t max_bytes, struct error *err)
{
	struct stat info;
	if (max_bytes <= 0 || fstat(fd, &info) != 0 || info.st_size <= max_bytes)
		return 0;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_HISTORY_FILE);
	if (file_read(path, &text, err) != 0)
		return error_wrap(err, "cannot shorten %s", path);
	struct str kept = newest(buf_str(&text), (size_t)(max_bytes / 5 * 4));
	if (ftruncate(fd, 0) != 0)
		return error_sys(err, errno, "cannot shorten %s", path);
	return fd_write_all(fd, kept.ptr, kept.len, err);
}

static void write_line(const struct prompt_entry *entry, struct buf *out)
{
	struct json_writer w = json_writer(out);
	buf_append_char(out, '\n'); /* the previous line was truncated by a full disk */
	jw_object(&w);
	jw_member_str(&w, "session_id", entry->session_id);
	jw_member_i64(&w, "ts", entry->ts);
	jw_member_str(&w, "text", entry->text);
	jw_object_end(&w);
	buf_append_char(out, '\n');
}

int prompt_history_append(const char *home, const struct prompt_entry *entry, int64_t max_bytes, struct error *err)
{
	auto_free char *path = history_path(home);
	auto_buf struct buf line;
	buf_init(&line, LIMIT_HISTORY_FILE);
	write_line(entry, &line);
	if (line.over)
		return error_set(err, ERR_limit, "a prompt is too long for %s", path);
	if (dir_make(home, 0700, err) != 0)
		return -(int)err->code;
	auto_close int fd = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return error_sys(err, errno, "cannot open %s", path);
	int status = take_lock(fd, path, err);
	struct str text = str_skip(buf_str(&line), fd_breaks_off(fd) ? 0 : 1);
	if (status == 0)
		status = fd_write_all(fd, text.ptr, text.len, err);
	return status == 0 ? trim(fd, path, max_bytes, err) : status;
}

/* Reads the file if its inode is *log_id; with 0 any file. */
static bool read_history(const char *home, int64_t *log_id, struct buf *out)
{
	auto_free char *path = history_path(home);
	struct stat info;
	if (!file_is_regular(path) || stat(path, &info) != 0 || (*log_id && *log_id != (int64_t)info.st_ino))
		return false;
	*log_id = (int64_t)info.st_ino;
	return file_read(path, out, NULL) == 0;
}

void prompt_history_measure(const char *home, int64_t *ret_log_id, int64_t *ret_count)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_HISTORY_FILE);
	*ret_log_id = *ret_count = 0;
	if (!read_history(home, ret_log_id, &text))
		return;
	for (size_t i = 0; i < text.len; i++)
		*ret_count += text.data[i] == '\n';
}

bool prompt_history_find(const char *home, int64_t log_id, int64_t offset, struct arena *arena,
                         struct prompt_entry *ret)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_HISTORY_FILE);
	if (log_id <= 0 || offset < 0 || !read_history(home, &log_id, &text))
		return false;
	struct str rest = buf_str(&text), line = STR_NONE;
	for (int64_t at = 0; at <= offset; at++) {
		if (!str_next_line(&rest, &line))
			return false;
	}
	const struct json *root = json_parse_copy(arena, line, NULL);
	*ret = (struct prompt_entry){
		json_get_str(root, "session_id"),
		json_get_i64(root, "ts", 0),
		json_get_str(root, "text"),
	};
	return ret->session_id.ptr && ret->text.ptr;
}

/* Appends the last max_bytes of a file, without the line that they cut. */
static void read_tail(const char *path, size_t max_bytes, struct buf *out)
{
	struct stat info;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return;
	off_t from = info.st_size > (off_t)max_bytes ? info.st_size - (off_t)max_bytes : 0;
	char *room = buf_reserve(out, max_bytes);
	ssize_t n = room ? pread(fd, room, max_bytes, from) : 0;
	out->len += n > 0 ? (size_t)n : 0;
	ptrdiff_t end = from ? str_find_char(buf_str(out), '\n') : -1;
	buf_consume(out, (size_t)(end + 1));
}

void prompt_history_tail(const char *home, size_t max_bytes, void (*each)(struct str text, void *self), void *self)
{
	auto_free char *path = history_path(home);
	auto_buf struct buf text;
	buf_init(&text, max_bytes);
	read_tail(path, max_bytes, &text);
	struct str rest = buf_str(&text), line;
	while (str_next_line(&rest, &line)) {
		auto_arena struct arena arena = {0};
		struct str entry = json_get_str(json_parse(&arena, line, NULL), "text");
		if (entry.len)
			each(entry, self);
	}
}
