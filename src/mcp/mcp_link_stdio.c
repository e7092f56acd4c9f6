/* A line that is too long is skipped, and reported as the loss of an unknown answer: its id is not known, because most
 * servers write the id after the result. */
#include "mcp/mcp_link_stdio.h"

#include <string.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/text.h"
#include "process/process.h"

struct mcp_stdio {
	struct mcp_link link;
	struct list ending;  /* in `closed`; unlinked before the link is closed */
	struct list *closed; /* the pool's list of closed links */
	struct process *process;
	struct buf line;
	bool skips_line; /* the rest of a line that is too long follows */
	char tail[MCP_STDERR_MAX];
	size_t tail_len;
};

static struct mcp_stdio *stdio_of(struct mcp_link *link)
{
	return container_of(link, struct mcp_stdio, link);
}

static void stdio_free(struct mcp_stdio *stdio)
{
	list_remove(&stdio->ending);
	process_destroy(stdio->process);
	buf_finish(&stdio->line);
	free(stdio);
}

/* ---- input of the process ---- */

static int stdio_send(struct mcp_link *link, struct str json, uint64_t request, struct error *err)
{
	auto_buf struct buf line;
	(void)request;
	buf_init(&line, LIMIT_EXEC_STDIN);
	buf_append_str(&line, json);
	buf_append_char(&line, '\n');
	if (line.over)
		return error_set(err, ERR_limit, "the message has more than %d KiB", LIMIT_EXEC_STDIN / KIB);
	if (process_write_stdin(stdio_of(link)->process, buf_str(&line), err) != 0)
		return error_wrap(err, "cannot write to the server");
	return 0;
}

/* ---- output of the process ---- */

static bool is_closed(const struct mcp_stdio *stdio)
{
	return !list_empty(&stdio->ending);
}

static void report_lost(struct mcp_stdio *stdio)
{
	struct error err;
	error_set(&err, ERR_limit, "the server has sent a message of more than %d MiB", LIMIT_MCP_MESSAGE / MIB);
	stdio->link.events->on_request_failed(MCP_NO_REQUEST, &err, stdio->link.self);
}

/* Adds a part of a line. */
static void keep(struct mcp_stdio *stdio, struct str part)
{
	if (stdio->skips_line)
		return;
	buf_append_str(&stdio->line, part);
	if (!stdio->line.over)
		return;
	stdio->skips_line = true;
	buf_finish(&stdio->line);
	buf_init(&stdio->line, LIMIT_MCP_MESSAGE);
}

/* Ends the line. The event may close the link, which then stays allocated until the process has ended. */
static void end_line(struct mcp_stdio *stdio)
{
	bool is_lost = stdio->skips_line;
	struct str line = str_trim(buf_str(&stdio->line));
	stdio->skips_line = false;
	if (is_lost)
		report_lost(stdio);
	else if (line.len)
		stdio->link.events->on_message(line, stdio->link.self);
	buf_reuse(&stdio->line);
}

static void on_stdout(struct mcp_stdio *stdio, struct str bytes)
{
	while (bytes.len && !is_closed(stdio)) {
		ptrdiff_t at = str_find_char(bytes, '\n');
		if (at < 0) {
			keep(stdio, bytes);
			return;
		}
		keep(stdio, str_n(bytes.ptr, (size_t)at));
		bytes = str_skip(bytes, (size_t)at + 1);
		end_line(stdio);
	}
}

static void on_stderr(struct mcp_stdio *stdio, struct str bytes)
{
	if (bytes.len > sizeof(stdio->tail))
		bytes = str_skip(bytes, bytes.len - sizeof(stdio->tail));
	size_t kept = stdio->tail_len;
	if (kept + bytes.len > sizeof(stdio->tail)) {
		size_t drop = kept + bytes.len - sizeof(stdio->tail);
		memmove(stdio->tail, stdio->tail + drop, kept - drop);
		kept -= drop;
	}
	memcpy(stdio->tail + kept, bytes.ptr, bytes.len);
	stdio->tail_len = kept + bytes.len;
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct mcp_stdio *stdio = self;
	if (is_closed(stdio))
		return;
	if (stream == exec_stream_stdout)
		on_stdout(stdio, bytes);
	else
		on_stderr(stdio, bytes);
}

/* ---- start and end ---- */

static void on_run(void *self)
{
	struct mcp_stdio *stdio = self;
	if (!is_closed(stdio))
		stdio->link.events->on_open(stdio->link.self);
}

/* Describes the end of the process, with the end of its stderr on one line. */
static void describe_end(const struct mcp_stdio *stdio, const struct process_result *result, struct error *err)
{
	auto_buf struct buf tail = {0};
	struct str text = text_trim(str_n(stdio->tail, stdio->tail_len));
	if (result->error) {
		error_set(err, result->error->code, "%s", result->error->text);
		return;
	}
	if (result->signal)
		error_set(err, ERR_transport, "the process was ended by signal %d", result->signal);
	else
		error_set(err, ERR_transport, "the process exited with status %d", result->exit_code);
	if (!text.len)
		return;
	char before[128];
	memcpy(before, err->text, strlen(err->text) + 1);
	if (text.len > ERROR_TEXT_MAX / 2)
		text = str_skip(text, text.len - ERROR_TEXT_MAX / 2);
	buf_init(&tail, ERROR_TEXT_MAX * 8);
	text_append_line(&tail, text);
	error_set(err, ERR_transport, "%s; its error output ends with: %.*s", before, STR_ARG(buf_str(&tail)));
}

static void on_end(const struct process_result *result, void *self)
{
	struct mcp_stdio *stdio = self;
	struct error err;
	process_kill_now(stdio->process); /* processes that the server has left */
	if (is_closed(stdio)) {
		stdio_free(stdio);
		return;
	}
	if (stdio->line.len) /* the last line may lack its end */
		end_line(stdio);
	if (is_closed(stdio)) {
		stdio_free(stdio);
		return;
	}
	describe_end(stdio, result, &err);
	process_destroy(steal(stdio->process));
	stdio->link.events->on_closed(&err, stdio->link.self);
}

static void stdio_close(struct mcp_link *link)
{
	struct mcp_stdio *stdio = stdio_of(link);
	if (!stdio->process) {
		stdio_free(stdio);
		return;
	}
	list_append(stdio->closed, &stdio->ending);
	process_close_stdin(stdio->process);
	process_kill(stdio->process);
}

static const struct mcp_link_ops stdio_ops = {
	.send = stdio_send,
	.close = stdio_close,
};

struct mcp_link *mcp_link_stdio_open(struct loop *loop, const struct mcp_stdio_spec *spec,
                                     const struct mcp_link_events *events, void *self, struct error *err)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end, .on_run = on_run};
	struct mcp_stdio *stdio = xnew(struct mcp_stdio);
	const struct process_spec process = {
		.argv = spec->argv,
		.env = spec->env,
		.cwd = spec->cwd,
		.stdin_open = true,
		.drain_ms = LIMIT_MCP_DRAIN_MS,
	};
	stdio->link = (struct mcp_link){.ops = &stdio_ops, .events = events, .self = self};
	stdio->closed = spec->ending;
	list_init(&stdio->ending);
	buf_init(&stdio->line, LIMIT_MCP_MESSAGE);
	stdio->process = process_start(loop, &process, &handler, stdio, err);
	if (stdio->process)
		return &stdio->link;
	stdio_free(stdio);
	return NULL;
}

void mcp_link_stdio_kill_all(struct list *ending)
{
	struct mcp_stdio *it;
	list_for_each(it, ending, ending)
		stdio_free(it);
}
