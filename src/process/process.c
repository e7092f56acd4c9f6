/* A process may outlive its owner: libuv closes handles later, a killed child must still be reaped, and a pipe that
 * a background process holds must still be read. process_destroy only detaches the owner; the struct frees itself
 * when the child has been reaped and the last handle has closed.
 *
 * All pipes of a thread are read through one buffer: the callback of a read passes the bytes on before the next one. */
#include "process/process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <uv.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "process/process_input.h"
#include "process/spawn.h"
#include "process/supervisor.h"
#include "process/tree_kill.h"

enum { STREAMS = 2 };
static _Thread_local size_t lingering_count;

struct stream {
	uv_pipe_t pipe;
	struct process *process;
	bool is_open;
	int kept_end; /* the command's end, open until the command's end is reported; -1: closed */
};

struct process {
	struct loop *loop;
	struct process_handler handler;
	void *self;
	struct reaped_command reaped;
	struct supervisor_child child;
	char *buf;                  /* PROCESS_READ_SIZE bytes, for all commands of the thread */
	struct stream out[STREAMS]; /* indexed by enum exec_stream */
	struct process_input in;
	bool has_terminal;
	struct loop_timer *drain;
	uint64_t drain_ms, started_ms;
	struct process_result result;
	struct error *error; /* why the command never ran, or NULL */
	int nowhere;         /* /dev/null while output is skipped; -1: not open */
	size_t handles;      /* handles that libuv has not closed yet */
	unsigned pauses;     /* calls of process_resume that are still due */
	bool is_ended;       /* on_end has run */
	bool is_dropped;     /* destroyed by its owner */
	bool is_lingering;
};

static void on_stream_read(uv_stream_t *uv, ssize_t got, const uv_buf_t *buf);

static void free_if_done(struct process *process)
{
	if (!process->is_dropped || process->child.is_running || process->handles)
		return;
	process_reaper_remove(&process->reaped);
	lingering_count -= process->is_lingering;
	loop_timer_destroy(process->drain);
	mem_close_slot(&process->nowhere);
	process_input_finish(&process->in);
	free(process->error);
	process_buffer_unref();
	free(process);
}

static void handle_closed(struct process *process)
{
	process->handles--;
	free_if_done(process);
}

static void on_stream_closed(uv_handle_t *uv)
{
	handle_closed(((struct stream *)uv->data)->process);
}

static void on_input_closed(void *self)
{
	handle_closed(self);
}

static void stream_close(struct stream *stream)
{
	if (!stream->is_open)
		return;
	stream->is_open = false;
	mem_close_slot(&stream->kept_end);
	uv_close((uv_handle_t *)&stream->pipe, on_stream_closed);
}

/* Takes ownership of fd. */
static void stream_open(struct stream *stream, struct process *process, int fd)
{
	uv_pipe_init(loop_uv(process->loop), &stream->pipe, 0);
	uv_pipe_open(&stream->pipe, fd);
	stream->pipe.data = stream;
	stream->process = process;
	stream->is_open = true;
	stream->kept_end = -1;
	process->handles++;
}

static void on_alloc(uv_handle_t *uv, size_t suggested, uv_buf_t *ret_buf)
{
	(void)suggested;
	*ret_buf = uv_buf_init(((struct stream *)uv->data)->process->buf, PROCESS_READ_SIZE);
}

static void stream_read_start(struct stream *stream)
{
	if (stream->is_open)
		uv_read_start((uv_stream_t *)&stream->pipe, on_alloc, on_stream_read);
}

static bool has_open_output(const struct process *process)
{
	return process->out[exec_stream_stdout].is_open || process->out[exec_stream_stderr].is_open;
}

static void report_end(struct process *process)
{
	process->is_ended = true;
	loop_timer_stop(process->drain);
	process_input_close(&process->in);
	process->handler.on_end(&process->result, process->self);
}

static void end_if_complete(struct process *process)
{
	if (!process->is_ended && !process->is_dropped && !process->child.is_running && !has_open_output(process))
		report_end(process);
}

static void report_output(struct stream *stream, size_t len)
{
	struct process *process = stream->process;
	if (process->is_ended || process->is_dropped)
		return;
	process->handler.on_output((enum exec_stream)(stream - process->out), str_n(process->buf, len), process->self);
}

/* Reads what the pipe holds, because data that arrived while the loop was busy belongs to the output. A background
 * process may keep printing, so the amount is limited to what a pipe can hold. */
static void read_rest(struct stream *stream, unsigned most_pauses)
{
	uv_os_fd_t fd;
	size_t total = 0;
	while (stream->is_open && total < LIMIT_EXEC_CAPTURE && stream->process->pauses <= most_pauses &&
	       uv_fileno((uv_handle_t *)&stream->pipe, &fd) == 0) {
		ssize_t got = read(fd, stream->process->buf, PROCESS_READ_SIZE);
		if (got < 0 && errno == EINTR)
			continue;
		if (got == 0 || (got < 0 && errno == EIO))
			stream_close(stream);
		if (got <= 0)
			return;
		total += (size_t)got;
		report_output(stream, (size_t)got);
	}
}

/* True if more data may be readable. After a hang-up of a terminal, libuv stops reading with the next read that does
 * not fill its buffer. Reads from a terminal never fill it, so the rest is read here. */
static bool has_more(struct stream *stream)
{
	if (!stream->process->has_terminal)
		return false;
	read_rest(stream, UINT_MAX);
	if (!stream->process->pauses)
		stream_read_start(stream);
	return stream->is_open;
}

static void on_stream_read(uv_stream_t *uv, ssize_t got, const uv_buf_t *buf)
{
	struct stream *stream = uv->data;
	struct process *process = stream->process;
	(void)buf;
	if (got > 0)
		report_output(stream, (size_t)got);
	if (got >= 0 || (got == UV_EOF && has_more(stream)))
		return;
	stream_close(stream);
	end_if_complete(process);
}

/* From now on the pipes are read only so that their writers do not block. */
static void linger(struct process *process)
{
	bool has_room = lingering_count < LIMIT_EXEC_LINGERING;
	for (int i = 0; i < STREAMS; i++) {
		struct stream *stream = &process->out[i];
		if (!has_room)
			stream_close(stream);
		if (stream->is_open)
			uv_unref((uv_handle_t *)&stream->pipe);
	}
	process->is_lingering = has_room;
	lingering_count += has_room;
}

static int output_fd(struct process *process);

/* True if no process has the terminal open any more. The kernel may still be transferring the last output. */
static bool is_hung_up(struct process *process)
{
	struct pollfd end = {.fd = output_fd(process)};
	return process->has_terminal && end.fd >= 0 && poll(&end, 1, 0) == 1 && (end.revents & POLLHUP);
}

static void on_drain_over(void *self)
{
	struct process *process = self;
	if (is_hung_up(process)) {
		loop_timer_start(process->drain, process->drain_ms);
		return;
	}
	for (int i = 0; i < STREAMS; i++)
		read_rest(&process->out[i], UINT_MAX);
	if (process->is_dropped)
		return;
	process->result.is_cut = has_open_output(process);
	if (process->result.is_cut)
		linger(process);
	report_end(process);
}

/* Called when the command has ended: usually its output has, too. */
static void release_output(struct process *process)
{
	struct stream *stream = &process->out[exec_stream_stdout];
	if (!stream->is_open || stream->kept_end < 0)
		return;
	mem_close_slot(&stream->kept_end);
	stream->kept_end = -1;
	read_rest(stream, 0);
}

static void start_drain(struct process *process)
{
	if (!process->child.is_running && !process->is_ended && !process->pauses && has_open_output(process))
		loop_timer_start(process->drain, process->drain_ms);
}

/* Reports that the command never ran. The pipes are closed without waiting for their end, because a process that
 * hangs in its start may hold them for long. */
static void report_failure(struct process *process, const struct error *err)
{
	if (process->is_ended || process->is_dropped)
		return;
	process->error = xnew(struct error);
	*process->error = *err;
	process->result.error = process->error;
	process->result.exit_code = -1;
	for (int i = 0; i < STREAMS; i++)
		stream_close(&process->out[i]);
	report_end(process);
}

static void on_child_end(int wait_status, const struct error *err, void *self)
{
	struct process *process = self;
	if (!supervisor_pid()) /* the supervisor was killed: no other process would terminate its orphans */
		process_reaper_kill_now(&process->reaped);
	process_reaper_ended(&process->reaped);
	if (process->is_dropped) {
		free_if_done(process);
		return;
	}
	process->result.wall_ms = clock_now_ms() - process->started_ms;
	if (err)
		report_failure(process, err);
	if (err || process->is_ended)
		return;
	process->result.exit_code = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : -1;
	process->result.signal = WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : 0;
	release_output(process);
	start_drain(process);
	end_if_complete(process);
}

static void on_child_start(void *self)
{
	struct process *process = self;
	process_reaper_started(&process->reaped, process->child.pid, process->child.is_reaped);
}

static void on_child_run(void *self)
{
	struct process *process = self;
	process_input_release(&process->in);
	if (process->handler.on_run && !process->is_ended && !process->is_dropped)
		process->handler.on_run(process->self);
}

/* Called if the supervisor does not answer. The command must not run later. */
static void on_child_silence(const struct error *err, void *self)
{
	struct process *process = self;
	process->reaped.is_condemned = process->reaped.is_urgent = true;
	report_failure(process, err);
}

static const struct supervisor_handler child_handler = {on_child_start, on_child_run, on_child_end, on_child_silence};

/* Called when the reaper stops: nothing is reported any more, and no handle may stay on the loop. */
static void on_reaper_stop(struct reaped_command *reaped)
{
	struct process *process = container_of(reaped, struct process, reaped);
	supervisor_forget(&process->child);
	process->is_ended = true;
	loop_timer_stop(process->drain);
	process_input_close(&process->in);
	for (int i = 0; i < STREAMS; i++)
		stream_close(&process->out[i]);
	free_if_done(process);
}

static int spawn(struct process *process, const struct process_spec *spec, const struct process_fds *fds,
                 struct error *err)
{
	char mark[PROCESS_MARK_ENV_SIZE];
	auto_arena struct arena arena = {0};
	const struct launch bare = {.argv = spec->argv, .env = spec->env};
	const struct launch *launch = spec->launch ? spec->launch : &bare;
	process_mark_env(&process->reaped.mark, mark);
	auto_free const char **env = process_marked_env(launch->env, mark, launch->mark);
	struct spawn_plan plan = {
		.name = spec->argv[0],
		.argv = launch->argv,
		.extra_fd = launch->fd,
		.env = env,
		.cwd = spec->cwd,
		.has_terminal = process->has_terminal,
		.reports_run = process->handler.on_run != NULL,
	};
	memcpy(plan.fds, fds->child, sizeof(plan.fds));
	if (!(plan.paths = spawn_paths(launch->argv[0], spec->env, &arena, err)))
		return -(int)err->code;
	if (spec->checks_program && !(plan.wanted = spawn_paths(spec->argv[0], spec->env, &arena, err)))
		return -(int)err->code;
	return supervisor_spawn(process->loop, &plan, &process->child, &child_handler, process, err);
}

static void open_streams(struct process *process, struct process_fds *fds, bool keeps_end)
{
	if (fds->ours[0] >= 0) {
		process_input_open(&process->in, process->loop, steal_fd(&fds->ours[0]), process->has_terminal);
		process->handles++;
	}
	for (int i = 0; i < STREAMS; i++) {
		if (fds->ours[i + 1] >= 0)
			stream_open(&process->out[i], process, steal_fd(&fds->ours[i + 1]));
		stream_read_start(&process->out[i]);
	}
	if (keeps_end)
		process->out[exec_stream_stdout].kept_end = process_fds_take_output(fds);
	process->drain = loop_timer_create(process->loop, on_drain_over, process);
}

struct process *process_start(struct loop *loop, const struct process_spec *spec, const struct process_handler *handler,
                              void *self, struct error *err)
{
	if (!spec->argv[0]) {
		error_set(err, ERR_invalid, "cannot run an empty command");
		return NULL;
	}
	auto_process_fds struct process_fds fds = PROCESS_FDS_NONE;
	const struct process_fds_spec ends = {spec->argv[0], spec->terminal, spec->stdin_open, spec->merge_output};
	if (process_fds_open(&fds, &ends, err) != 0)
		return NULL;
	struct process *process = xnew(struct process);
	process->loop = process->reaped.loop = loop;
	process->reaped.on_stop = on_reaper_stop;
	process->handler = *handler;
	process->self = self;
	process->drain_ms = spec->drain_ms;
	process->has_terminal = spec->terminal != NULL;
	process_input_init(&process->in, on_input_closed, process);
	process->in.most = spec->stdin_most ? spec->stdin_most : LIMIT_EXEC_STDIN;
	process->nowhere = -1;
	process->started_ms = clock_now_ms();
	process_reaper_add(&process->reaped);
	if (spawn(process, spec, &fds, err) != 0) {
		process_reaper_remove(&process->reaped);
		free(process);
		return NULL;
	}
	process->buf = process_buffer_ref();
	open_streams(process, &fds, spec->merge_output && !spec->terminal);
	return process;
}

void process_destroy(struct process *process)
{
	if (!process)
		return;
	if (process->child.is_running)
		process_reaper_kill_now(&process->reaped);
	process->is_dropped = true;
	loop_timer_stop(process->drain);
	process_input_close(&process->in);
	for (int i = 0; i < STREAMS && !process->is_lingering; i++)
		stream_close(&process->out[i]);
	free_if_done(process);
}

bool process_is_running(const struct process *process)
{
	return process->child.is_running;
}

int process_write_stdin(struct process *process, struct str bytes, struct error *err)
{
	return process_input_write(&process->in, bytes, err);
}

bool process_has_input(const struct process *process)
{
	return process->in.pending > 0;
}

void process_close_stdin(struct process *process)
{
	process_input_end(&process->in);
}

void process_kill(struct process *process)
{
	process_reaper_kill(&process->reaped);
}

void process_kill_now(struct process *process)
{
	process_reaper_kill_now(&process->reaped);
}

void process_pause(struct process *process)
{
	if (process->pauses++ || process->is_ended)
		return;
	loop_timer_stop(process->drain);
	for (int i = 0; i < STREAMS; i++) {
		if (process->out[i].is_open)
			uv_read_stop((uv_stream_t *)&process->out[i].pipe);
	}
}

void process_resume(struct process *process)
{
	if (!process->pauses || --process->pauses)
		return;
	for (int i = 0; i < STREAMS; i++)
		stream_read_start(&process->out[i]);
	start_drain(process);
}

static int output_fd(struct process *process)
{
	uv_os_fd_t fd;
	struct stream *stream = &process->out[exec_stream_stdout];
	return stream->is_open && uv_fileno((uv_handle_t *)&stream->pipe, &fd) == 0 ? fd : -1;
}

int process_resize(struct process *process, const struct pty_size *size, struct error *err)
{
	int fd = process->has_terminal ? output_fd(process) : -1;
	if (fd < 0)
		return error_set(err, ERR_unsupported, "the command has no terminal");
	struct winsize cells = {.ws_row = size->rows, .ws_col = size->cols};
	return ioctl(fd, TIOCSWINSZ, &cells) == 0 ? 0 : error_sys(err, errno, "cannot resize the terminal");
}

bool process_widen(struct process *process)
{
	int fd = output_fd(process);
	if (process->nowhere < 0)
		process->nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
	return fd >= 0 && process->nowhere >= 0 && fcntl(fd, F_SETPIPE_SZ, PROCESS_WIDE_PIPE) >= PROCESS_WIDE_PIPE;
}

uint64_t process_skip(struct process *process, size_t keep)
{
	int fd = output_fd(process), waiting = 0;
	if (fd < 0 || ioctl(fd, FIONREAD, &waiting) != 0 || (size_t)waiting <= keep)
		return 0;
	ssize_t gone = splice(fd, NULL, process->nowhere, NULL, (size_t)waiting - keep, SPLICE_F_NONBLOCK);
	return gone > 0 ? (uint64_t)gone : 0;
}
