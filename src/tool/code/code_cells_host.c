/* A host that can run another script waits for it until the task ends, so that a task pays for one start. Scripts that
 * run at the same time have a host each; one of them may stay.
 *
 * No frame says that a host stays, because a script that has taken over its process writes frames. The host says it by
 * its standard error, which scripts do not have, when the process of the script has ended: until then that process
 * could read the next script. A host that speaks by its standard output while it waits is ended: what it says would
 * count as a part of the next script. */
#include <stdio.h>

#include "base/mem.h"
#include "process/process.h"
#include "tool/code/code_cells_priv.h"
#include "tool/code/code_limits.h"

/* Of codex-code-mode-host. */
enum { EXIT_NO_ENGINE = 3, EXIT_NO_LOCK = 4 };
#define READY "\1"

static void host_destroy(struct code_host *host)
{
	if (!host)
		return;
	process_destroy(host->process);
	free(host);
}

void code_host_leave(struct code_cell *cell)
{
	struct code_cells *cells = cell->cells;
	struct code_host *host = steal(cell->runner);
	host->cell = NULL;
	if (!cell->has_ended || host->is_behind || cells->host->is_idle || (cells->spare && cells->spare->is_ready)) {
		host_destroy(host);
		return;
	}
	host_destroy(steal(cells->spare)); /* one that has not said that it is ready */
	cells->spare = host;
}

static void end_cell(struct code_cell *cell, const char *why)
{
	free(cell->exit_reason);
	cell->exit_reason = xstrdup(why);
	loop_defer(&cell->step);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct code_host *host = self;
	if (stream != exec_stream_stdout) {
		host->is_ready |= str_is(bytes, READY);
		return;
	}
	if (!host->cell) { /* there is nothing that it could say */
		host_destroy(steal(host->cells->spare));
		return;
	}
	code_frames_add(&host->cell->frames, bytes);
	loop_defer(&host->cell->step);
}

static const char *end_of(const struct process_result *result, char *text, size_t size)
{
	if (result->error)
		snprintf(text, size, "its process could not be started: %s", result->error->text);
	else if (result->exit_code == EXIT_NO_ENGINE)
		snprintf(text, size,
		         "there is no JavaScript engine: install the package libjavascriptcoregtk-4.1-0 or "
		         "nodejs");
	else if (result->exit_code == EXIT_NO_LOCK)
		snprintf(text, size, "the system cannot confine its process: it has no seccomp filters");
	else if (result->signal)
		snprintf(text, size,
		         "its process was killed by signal %d, perhaps because it used too much memory or time",
		         result->signal);
	else
		snprintf(text, size, "its process has ended with status %d, perhaps because no memory was left",
		         result->exit_code);
	return text;
}

static void on_end(const struct process_result *result, void *self)
{
	struct code_host *host = self;
	struct code_cell *cell = host->cell;
	char why[ERROR_TEXT_MAX + 64];
	if (!cell) {
		host_destroy(steal(host->cells->spare));
		return;
	}
	end_cell(cell, end_of(result, why, sizeof(why)));
}

static struct code_host *host_start(struct code_cell *cell, struct error *err)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
	const struct tool_host *host = cell->cells->host;
	struct code_host *runner = xnew(struct code_host);
	const char *argv[] = {host->code.program, NULL};
	/* A ring of node's libuv would take system calls past the filter. */
	const char *env[] = {host->code.path, "UV_USE_IO_URING=0", host->code.engine, NULL};
	const struct process_spec spec = {
		.argv = argv,
		.env = env,
		.cwd = "/",
		.stdin_open = true,
		.stdin_most = LIMIT_CODE_FRAME,
		.drain_ms = PROCESS_DRAIN_MS,
	};
	*runner = (struct code_host){.cells = cell->cells, .cell = cell};
	runner->process = process_start(host->loop, &spec, &handler, runner, err);
	return runner->process ? runner : (free(runner), NULL);
}

bool code_host_send(struct code_host *host, struct str frame)
{
	struct error err;
	bool is_start = !host->is_started, is_sent = process_write_stdin(host->process, frame, &err) == 0;
	host->is_started = true;
	host->is_behind |= !is_start && process_has_input(host->process);
	return is_sent || err.code != ERR_busy;
}

struct code_host *code_host_take(struct code_cell *cell, struct error *err)
{
	struct code_cells *cells = cell->cells;
	bool has_spare = cells->spare && cells->spare->is_ready;
	struct code_host *host = has_spare ? steal(cells->spare) : host_start(cell, err);
	if (!host)
		return NULL;
	host->cell = cell;
	host->is_ready = host->is_started = false;
	return host;
}

void code_cells_rest(struct code_cells *cells)
{
	if (cells)
		host_destroy(steal(cells->spare));
}
