/* Terminals and pipes are polled instead of being wrapped in a libuv stream, which would close them and change the
 * terminal's mode. epoll rejects files and /dev/null, which never block a reader. */
#include "ui/debug/debug_input.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "transport/frame_lines.h"

struct debug_input {
	uv_poll_t poll;
	bool is_polled; /* false: the input is a file */
	int fd, flags;
	struct frame_lines lines;
	struct loop_deferred deliver;
	bool is_paused, has_ended, is_end_reported;
	const struct debug_input_events *events;
	void *self;
};

static void read_some(struct debug_input *input)
{
	char bytes[LIMIT_STREAM_READ];
	ssize_t count = read(input->fd, bytes, sizeof(bytes));
	if (count > 0) {
		frame_lines_add(&input->lines, str_n(bytes, (size_t)count));
	} else if (count == 0 || (errno != EAGAIN && errno != EINTR)) {
		input->has_ended = true;
		frame_lines_end(&input->lines);
	}
	loop_defer(&input->deliver);
}

static void on_readable(uv_poll_t *poll, int status, int events)
{
	(void)status, (void)events;
	uv_poll_stop(poll);
	read_some(container_of(poll, struct debug_input, poll));
}

static void on_deliver(void *self)
{
	struct debug_input *input = self;
	struct str line;
	enum frame frame = FRAME_LINE;
	while (!input->is_paused && (frame = frame_lines_next(&input->lines, &line)) != FRAME_NONE) {
		if (frame == FRAME_LINE)
			input->events->on_line(line, input->self);
	}
	if (input->is_paused || input->is_end_reported)
		return;
	input->is_end_reported = input->has_ended;
	if (input->has_ended)
		input->events->on_end(input->self);
	else if (input->is_polled)
		uv_poll_start(&input->poll, UV_READABLE, on_readable);
	else
		read_some(input);
}

struct debug_input *debug_input_create(struct loop *loop, int fd, const struct debug_input_events *events, void *self)
{
	struct debug_input *input = xnew(struct debug_input);
	input->fd = fd;
	input->flags = fcntl(
		/* Restored at the end, because polling sets O_NONBLOCK for all processes that share the file. */
		fd, F_GETFL);
	input->events = events;
	input->self = self;
	frame_lines_init(&input->lines, LIMIT_LINE);
	input->is_polled = uv_poll_init(loop_uv(loop), &input->poll, fd) == 0;
	loop_deferred_init(&input->deliver, loop, on_deliver, input);
	loop_defer(&input->deliver);
	return input;
}

void debug_input_pause(struct debug_input *input)
{
	input->is_paused = true;
}

void debug_input_resume(struct debug_input *input)
{
	input->is_paused = false;
	loop_defer(&input->deliver);
}

static void on_closed(uv_handle_t *handle)
{
	free(container_of((uv_poll_t *)handle, struct debug_input, poll));
}

void debug_input_destroy(struct debug_input *input)
{
	if (!input)
		return;
	loop_deferred_finish(&input->deliver);
	frame_lines_finish(&input->lines);
	if (input->flags >= 0)
		fcntl(input->fd, F_SETFL, input->flags);
	if (input->is_polled)
		uv_close((uv_handle_t *)&input->poll, on_closed);
	else
		free(input);
}
