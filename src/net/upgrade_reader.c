/* A client that is not yet authenticated costs a few kilobytes and one descriptor: it gets no stream, no queue and no
 * body. Bytes are peeked and consumed only up to the end of the head, so that the descriptor can be passed on without a
 * buffer. */
#include "net/upgrade_reader.h"

#include <ctype.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http_head.h"

enum { PIECE = 4 * KIB }; /* bytes per read */

struct upgrade_reader {
	uv_poll_t poll;
	struct loop_timer *timer;
	int fd; /* -1 after it was passed on or closed */
	const struct upgrade_reader_events *events;
	void *self;
	struct buf input; /* the head, as far as received */
	bool is_head;     /* HEAD request: the answer has no body */
	bool is_answered; /* further input is discarded */
	size_t discarded;
};

static void close_fd(struct upgrade_reader *reader)
{
	uv_poll_stop(&reader->poll);
	loop_timer_stop(reader->timer);
	if (reader->fd >= 0)
		close(steal_fd(&reader->fd));
}

static void end(struct upgrade_reader *reader)
{
	close_fd(reader);
	reader->events->on_end(reader->self);
}

/* ---- output ---- */

static void write_head(struct buf *out, int status, const struct str *headers, size_t header_count)
{
	buf_printf(out, "HTTP/1.1 %03d %s\r\n", status, http_status_reason(status));
	for (size_t i = 0; i < header_count; i++) {
		buf_append_str(out, headers[i]);
		buf_append_c(out, "\r\n");
	}
}

/* Sends all bytes or returns false. The socket's buffer is empty, and answers are short. */
static bool send_all(struct upgrade_reader *reader, struct str bytes)
{
	return send(reader->fd, bytes.ptr, bytes.len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)bytes.len;
}

void upgrade_reader_answer(struct upgrade_reader *reader, int status, const struct str *headers, size_t header_count,
                           const char *content_type, struct str body)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_UPGRADE_HEAD);
	write_head(&out, status, headers, header_count);
	if (content_type)
		buf_printf(&out, "Content-Type: %s\r\n", content_type);
	buf_printf(&out, "Content-Length: %zu\r\nConnection: close\r\n\r\n", body.len);
	if (!reader->is_head)
		buf_append_str(&out, body);
	send_all(reader, buf_str(&out)); /* best effort */
	shutdown(reader->fd, SHUT_WR);
	reader->is_answered = true;
	loop_timer_start(reader->timer, LIMIT_UPGRADE_LINGER_MS);
}

int upgrade_reader_accept(struct upgrade_reader *reader, const struct str *headers, size_t header_count)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_UPGRADE_HEAD);
	write_head(&out, 101, headers, header_count);
	buf_append_c(&out, "\r\n");
	bool is_sent = send_all(reader, buf_str(&out));
	int fd = is_sent ? steal_fd(&reader->fd) : -1;
	close_fd(reader);
	return fd;
}

static void refuse(struct upgrade_reader *reader, int status)
{
	auto_free char *text = xasprintf("%s\n", http_status_reason(status));
	upgrade_reader_answer(reader, status, NULL, 0, "text/plain", str_of(text));
}

/* ---- input ---- */

static void on_head(struct upgrade_reader *reader)
{
	struct http_head head;
	int refused = http_head_parse_request(&head, buf_str(&reader->input));
	reader->is_head = !refused && str_is(head.method, "HEAD");
	if (refused)
		refuse(reader, refused);
	else
		reader->events->on_head(&head, reader->self);
	http_head_finish(&head);
}

/* Consumes peeked bytes, at most to the end of the head. True if the head is complete. */
static bool take(struct upgrade_reader *reader, char *bytes, size_t count)
{
	size_t before = reader->input.len;
	size_t scanned = before > 3 ? before - 3 : 0;
	buf_append(&reader->input, bytes, count);
	ptrdiff_t end = str_find(str_skip(buf_str(&reader->input), scanned), STR("\r\n\r\n"));
	if (end >= 0)
		buf_truncate(&reader->input, scanned + (size_t)end + 4);
	ssize_t taken = recv(reader->fd, bytes, reader->input.len - before, 0);
	(void)taken; /* the bytes were peeked, so they can be read */
	return end >= 0;
}

static void read_head(struct upgrade_reader *reader, char *bytes, size_t count)
{
	bool is_complete = take(reader, bytes, count);
	if (!isalpha((unsigned char)reader->input.data[0]))
		refuse(reader, 400); /* not HTTP: a client of another protocol would wait for an answer forever */
	else if (reader->input.len > LIMIT_UPGRADE_HEAD)
		refuse(reader, 431);
	else if (is_complete)
		on_head(reader);
}

static void discard(struct upgrade_reader *reader, char *bytes, size_t count)
{
	ssize_t taken = recv(reader->fd, bytes, count, 0);
	(void)taken;
	reader->discarded += count;
	if (reader->discarded > LIMIT_UPGRADE_DISCARD)
		end(reader);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	struct upgrade_reader *reader = container_of(poll, struct upgrade_reader, poll);
	char bytes[PIECE];
	(void)events;
	ssize_t count = recv(reader->fd, bytes, sizeof(bytes), MSG_PEEK);
	bool must_wait = count < 0 && (errno == EAGAIN || errno == EINTR);
	if (count > 0 && reader->is_answered)
		discard(reader, bytes, (size_t)count);
	else if (count > 0)
		read_head(reader, bytes, (size_t)count);
	else if (!must_wait || status < 0)
		end(reader);
}

static void on_timeout(void *self)
{
	struct upgrade_reader *reader = self;
	if (reader->is_answered)
		end(reader);
	else
		refuse(reader, 408);
}

/* ---- the reader ---- */

struct upgrade_reader *upgrade_reader_create(struct loop *loop, int fd, const struct upgrade_reader_events *events,
                                             void *self)
{
	struct upgrade_reader *reader = xnew(struct upgrade_reader);
	reader->fd = fd;
	reader->events = events;
	reader->self = self;
	buf_init(&reader->input, LIMIT_UPGRADE_HEAD + PIECE);
	reader->timer = loop_timer_create(loop, on_timeout, reader);
	loop_timer_start(reader->timer, LIMIT_UPGRADE_MS);
	uv_poll_init(loop_uv(loop), &reader->poll, fd);
	uv_poll_start(&reader->poll, UV_READABLE, on_readable);
	return reader;
}

static void on_closed(uv_handle_t *handle)
{
	struct upgrade_reader *reader = container_of((uv_poll_t *)handle, struct upgrade_reader, poll);
	buf_finish(&reader->input);
	free(reader);
}

void upgrade_reader_destroy(struct upgrade_reader *reader)
{
	if (!reader)
		return;
	close_fd(reader);
	loop_timer_destroy(reader->timer);
	uv_close((uv_handle_t *)&reader->poll, on_closed);
}
