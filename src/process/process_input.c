/* A terminal sends signals to its foreground process group. An interrupt typed before the command has become that
 * group would be lost, so bytes for a terminal are held back until the supervisor reports that the command runs. */
#include "process/process_input.h"

#include <signal.h>

#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"

struct write_request {
	uv_write_t uv;
	struct list link;
	struct process_input *input;
	size_t len;
	char bytes[];
};

void process_input_init(struct process_input *input, process_input_closed_fn on_closed, void *self)
{
	*input = (struct process_input){.on_closed = on_closed, .self = self};
	list_init(&input->held);
}

/* Writing to a command that has ended must be an error of the write; SIGPIPE would end the engine. */
static void ignore_sigpipe(void)
{
	struct sigaction now;
	if (sigaction(SIGPIPE, NULL, &now) == 0 && now.sa_handler == SIG_DFL)
		signal(SIGPIPE, SIG_IGN);
}

void process_input_open(struct process_input *input, struct loop *loop, int fd, bool has_terminal)
{
	ignore_sigpipe();
	uv_pipe_init(loop_uv(loop), &input->pipe, 0);
	uv_pipe_open(&input->pipe, fd);
	input->is_open = true;
	input->has_terminal = input->is_held = has_terminal;
}

static void drop_held(struct process_input *input)
{
	struct write_request *it;
	while ((it = list_first(&input->held, struct write_request, link))) {
		list_remove(&it->link);
		free(it);
	}
}

void process_input_finish(struct process_input *input)
{
	drop_held(input);
}

static void on_closed(uv_handle_t *uv)
{
	struct process_input *input = container_of((uv_pipe_t *)uv, struct process_input, pipe);
	input->on_closed(input->self);
}

void process_input_close(struct process_input *input)
{
	if (!input->is_open)
		return;
	input->is_open = false;
	uv_close((uv_handle_t *)&input->pipe, on_closed);
}

static void on_written(uv_write_t *uv, int status)
{
	struct write_request *request = container_of(uv, struct write_request, uv);
	struct process_input *input = request->input;
	input->pending -= request->len;
	if (status != 0 || (input->is_last && input->pending == 0))
		process_input_close(input);
	free(request);
}

/* Takes ownership of the request. */
static int write_now(struct write_request *request, struct error *err)
{
	struct process_input *input = request->input;
	uv_buf_t buf = uv_buf_init(request->bytes, (unsigned)request->len);
	int status = UV_EPIPE;
	if (input->is_open)
		status = uv_write(&request->uv, (uv_stream_t *)&input->pipe, &buf, 1, on_written);
	if (status == 0)
		return 0;
	input->pending -= request->len;
	free(request);
	return error_sys(err, -status, "cannot write to the command's input");
}

/* Writes what the pipe takes at once, so that most writes need no copy and no further turn of the loop; returns the
 * rest. An error shows in the write of the rest. */
static struct str write_some(struct process_input *input, struct str bytes)
{
	uv_buf_t buf = uv_buf_init((char *)bytes.ptr, (unsigned)bytes.len);
	if (input->pending || input->is_held || !input->is_open)
		return bytes;
	int count = uv_try_write((uv_stream_t *)&input->pipe, &buf, 1);
	return count > 0 ? str_skip(bytes, (size_t)count) : bytes;
}

/* Writes bytes, and a copy of those that the pipe does not take at once; or holds the copy back. */
static int put(struct process_input *input, struct str bytes, struct error *err)
{
	bytes = write_some(input, bytes);
	if (!bytes.len)
		return 0;
	struct write_request *request = xmalloc(sizeof(*request) + bytes.len);
	request->input = input;
	request->len = bytes.len;
	memcpy(request->bytes, bytes.ptr, bytes.len);
	input->pending += bytes.len;
	list_init(&request->link);
	if (!input->is_held)
		return write_now(request, err);
	list_append(&input->held, &request->link);
	return 0;
}

int process_input_write(struct process_input *input, struct str bytes, struct error *err)
{
	if (!input->is_open || input->is_last)
		return error_set(err, ERR_io, "the command's input is closed");
	if (input->pending > input->most || bytes.len > input->most - input->pending)
		return error_set(err, ERR_busy, "the command does not read its input: %zu bytes are already pending",
		                 input->pending);
	if (bytes.len)
		input->is_line_open = bytes.ptr[bytes.len - 1] != '\n';
	return put(input, bytes, err);
}

static void close_if_written(struct process_input *input)
{
	if (input->is_last && input->pending == 0)
		process_input_close(input);
}

void process_input_release(struct process_input *input)
{
	struct write_request *it;
	input->is_held = false;
	while ((it = list_first(&input->held, struct write_request, link))) {
		list_remove(&it->link);
		write_now(it, NULL); /* a failure closes the input, or shows in the next write */
	}
	close_if_written(input);
}

/* Writes the end of input, which is a character at a terminal. After an incomplete line the first one only submits
 * that line. It is written even if LIMIT_EXEC_STDIN bytes are pending. */
static void type_end(struct process_input *input)
{
	put(input, input->is_line_open ? STR("\x04\x04") : STR("\x04"), NULL);
}

void process_input_end(struct process_input *input)
{
	if (input->has_terminal && input->is_open && !input->is_last)
		type_end(input);
	input->is_last = true;
	close_if_written(input);
}
