/* The process is not trusted: every frame is checked, and a wrong one ends the cell. Its end is handled after the
 * frames that came before it. */
#include "tool/code/code_cells.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/json.h"
#include "tool/code/code_limits.h"
#include "base/mem.h"
#include "process/process.h"
#include "tool/code/code_cells_priv.h"
#include "tool/exec/exec_session.h"

/* ---- the answer ---- */

static void cell_destroy(struct code_cell *cell);

static void stop_waiting(struct code_cell *cell)
{
	loop_timer_stop(cell->timer);
	cell->waiter = NULL;
	cell->is_due = false;
}

static void write_head(const struct code_cell *cell, const char *state, struct buf *out)
{
	double seconds = (double)(clock_now_ns() - cell->wait_started_ns) / 1e9;
	buf_printf(out, "Script %s\nWall time %.1f seconds\nOutput:\n", state, seconds);
}

static void answer(struct code_cell *cell, const char *state)
{
	struct tool_call *call = cell->waiter;
	auto_buf struct buf head;
	buf_init(&head, 1 * KIB);
	write_head(cell, state, &head);
	code_result_write(&cell->result, buf_str(&head), cell->tokens, &call->output, &call->parts);
	stop_waiting(cell);
	call->state = NULL;
	tool_call_finish_output(call, !cell->has_failed);
}

static bool is_asking(const struct code_cell *cell)
{
	struct tool_host *host = cell->cells->host;
	return host->is_asking(host);
}

/* Answers the waiting call with the end of the script, which closes the cell. */
static void answer_end(struct code_cell *cell)
{
	if (is_asking(cell)) {
		cell->is_due = true;
		return;
	}
	if (cell->failure) {
		struct tool_call *call = cell->waiter;
		stop_waiting(cell);
		call->state = NULL;
		tool_call_finish(call, false, str_of(cell->failure));
	} else {
		answer(cell, cell->has_failed ? "failed" : "completed");
	}
	cell_destroy(cell);
}

static void answer_running(struct code_cell *cell)
{
	char state[48];
	if (is_asking(cell)) {
		cell->is_due = true;
		return;
	}
	snprintf(state, sizeof(state), "running with cell ID %s", cell->id);
	answer(cell, state);
}

/* Delivers the answer that is_due has held, if no request is pending any more. */
static void cell_release(struct code_cell *cell)
{
	if (!cell->is_due || !cell->waiter || is_asking(cell))
		return;
	cell->is_due = false;
	if (cell->runner)
		answer_running(cell);
	else
		answer_end(cell);
}

static void on_timer(void *self)
{
	answer_running(self);
}

/* ---- the end of a script ---- */

/* Ends the calls and the work of the process; the output stays for the answer. */
static void stop_script(struct code_cell *cell)
{
	struct code_cells *cells = cell->cells;
	if (!cell->runner)
		return;
	code_calls_drop(cell);
	code_host_leave(cell);
	code_frames_finish(&cell->frames);
	code_tools_finish(&cell->tools);
	cells->running--;
	if (!cells->is_ending) /* others may have waited for a call of this one */
		code_cells_resume(cells);
}

static bool is_left(const struct code_cell *cell)
{
	return !cell->runner && !cell->waiter;
}

/* Drops the oldest ended cells whose output no call has got until what the rest keeps is within the limits. */
static void bound_left(struct code_cells *cells)
{
	struct code_cell *it;
	size_t count = 0, bytes = 0;
	list_for_each(it, &cells->all, link) {
		count += is_left(it);
		bytes += is_left(it) ? it->result.text_bytes + it->result.image_bytes : 0;
	}
	list_for_each(it, &cells->all, link) {
		if (count <= LIMIT_CODE_LEFT && bytes <= LIMIT_CODE_LEFT_BYTES)
			return;
		if (!is_left(it))
			continue;
		count--;
		bytes -= it->result.text_bytes + it->result.image_bytes;
		cell_destroy(it);
	}
}

/* The script has ended. May destroy the cell. */
static void close_cell(struct code_cell *cell)
{
	stop_script(cell);
	if (cell->waiter)
		answer_end(cell);
	else
		bound_left(cell->cells);
}

void code_cell_break(struct code_cell *cell, const char *why)
{
	if (!cell->runner)
		return;
	cell->failure = xasprintf("The script was ended: %s. Its effects up to then may have happened; values that "
	                          "ended scripts have stored are kept.",
	                          why);
	close_cell(cell);
}

static void on_script_end(struct code_cell *cell, const struct json *frame)
{
	auto_buf struct buf text;
	struct str error = json_get_str(frame, "error");
	buf_init(&text, LIMIT_CODE_FRAME);
	code_store_merge(cell->cells, json_get(frame, "stored"));
	cell->has_ended = !cell->frames.rest.len && !cell->exit_reason;
	if (error.ptr) {
		cell->has_failed = true;
		buf_printf(&text, "Script error:\n");
		buf_append_str(&text, error);
		code_result_add_error(&cell->result, buf_str(&text));
	}
	close_cell(cell);
}

/* ---- frames ---- */

static void add_note(struct code_cell *cell, struct str text)
{
	auto_buf struct buf item;
	struct tool_host *host = cell->cells->host;
	buf_init(&item, 8 * (size_t)LIMIT_CODE_TEXT);
	if (!cell->exec_id || cell->notes++ >= LIMIT_CODE_NOTES || str_is_blank(text))
		return;
	struct json_writer w = json_writer(&item);
	jw_object(&w);
	jw_member_cstr(&w, "type", "custom_tool_call_output");
	jw_member_cstr(&w, "call_id", cell->exec_id);
	jw_member_cstr(&w, "name", "exec");
	jw_member_str(&w, "output", text);
	jw_object_end(&w);
	if (!item.over)
		host->add_item(host, buf_str(&item));
}

static void take_frame(struct code_cell *cell, const struct json *frame)
{
	struct str type = json_get_str(frame, "t"), text = json_get_str(frame, "text");
	if (str_is(type, "text"))
		code_result_add_text(&cell->result, text);
	else if (str_is(type, "image"))
		code_result_add_image(&cell->result, json_get_str(frame, "url"));
	else if (str_is(type, "notify"))
		add_note(cell, text);
	else if (str_is(type, "call"))
		code_call_add(cell, frame);
	else if (str_is(type, "done"))
		on_script_end(cell, frame);
	else if (!str_is(type, "yield"))
		code_cell_break(cell, "its process has sent an unknown message");
	else if (cell->waiter && !cell->is_due)
		answer_running(cell);
}

/* Handles one frame, which may free the cell. */
static void on_step(void *self)
{
	struct code_cell *cell = self;
	struct str text;
	auto_arena struct arena arena = {0};
	if (!cell->runner)
		return;
	if (!code_frames_next(&cell->frames, &text)) {
		if (code_frames_are_broken(&cell->frames))
			code_cell_break(cell, "its process has sent a message that is too long");
		else if (cell->exit_reason)
			code_cell_break(cell, cell->exit_reason);
		return;
	}
	const struct json *frame = json_parse_copy(&arena, text, NULL);
	code_frames_drop(&cell->frames);
	loop_defer(&cell->step);
	if (frame)
		take_frame(cell, frame);
	else
		code_cell_break(cell, "its process has sent a message that is not JSON");
}

void code_cell_send(struct code_cell *cell, struct buf *frame)
{
	if (cell->runner && !code_host_send(cell->runner, buf_str(frame)))
		code_cell_break(cell, "it does not read the results of its calls");
}

/* ---- start and end ---- */

static void send_script(struct code_cell *cell, struct str source)
{
	auto_buf struct buf frame;
	const struct code_cells *cells = cell->cells;
	if (code_frame_write_start(&frame, source, &cell->tools, cells->store.items, cells->store.count))
		code_cell_send(cell, &frame);
	else
		code_cell_break(cell, "the script and the stored values are too large");
}

struct code_cell *code_cell_start(struct code_cells *cells, const struct tool_call *exec, struct error *err)
{
	struct tool_host *host = cells->host;
	if (cells->running >= LIMIT_CODE_CELLS) {
		error_set(err, ERR_limit, "%d scripts are running: wait for one of them, or terminate it",
		          LIMIT_CODE_CELLS);
		return NULL;
	}
	struct code_cell *cell = xnew(struct code_cell);
	cell->cells = cells;
	list_init(&cell->calls);
	list_init(&cell->link);
	code_frames_init(&cell->frames);
	code_tools_read(&cell->tools, host->code.tools);
	cell->timer = loop_timer_create(host->loop, on_timer, cell);
	loop_deferred_init(&cell->step, host->loop, on_step, cell);
	cell->exec_id = str_dup(exec->call_id);
	cell->runner = code_host_take(cell, err);
	if (!cell->runner) {
		cell_destroy(cell);
		return NULL;
	}
	cells->running++;
	snprintf(cell->id, sizeof(cell->id), "%u", ++cells->last_id);
	list_append(&cells->all, &cell->link);
	send_script(cell, ((const struct args_exec *)exec->args)->input);
	return cell;
}

struct code_cell *code_cell_find(struct code_cells *cells, struct str id)
{
	struct code_cell *it;
	list_for_each(it, &cells->all, link) {
		if (str_is(id, it->id))
			return it;
	}
	return NULL;
}

/* Called when the waiting call is cancelled: the user has interrupted it. */
static void stop_call(struct tool_call *call)
{
	struct code_cell *cell = call->state;
	call->state = NULL;
	if (cell)
		cell_destroy(cell);
}

void code_cell_wait(struct code_cell *cell, struct tool_call *call, uint64_t yield_ms, size_t tokens)
{
	cell->waiter = call;
	cell->tokens = tokens;
	cell->wait_started_ns = clock_now_ns();
	call->state = cell;
	call->stop = stop_call;
	if (!cell->runner)
		answer_end(cell);
	else
		loop_timer_start(cell->timer, yield_ms);
}

static void end_sessions(struct code_cell *cell)
{
	vec_for_each(id, &cell->sessions)
		exec_sessions_end_background(cell->cells->host->exec, *id);
	cell->sessions.count = 0;
}

void code_cell_terminate(struct code_cell *cell, struct tool_call *call, size_t tokens)
{
	cell->waiter = NULL;
	stop_script(cell); /* first, because its calls wait for the commands */
	end_sessions(cell);
	cell->waiter = call;
	cell->tokens = tokens;
	cell->wait_started_ns = clock_now_ns();
	answer(cell, "terminated");
	cell_destroy(cell);
}

static void cell_destroy(struct code_cell *cell)
{
	if (cell->waiter)
		cell->waiter->state = NULL;
	cell->waiter = NULL;
	stop_script(cell);
	list_remove(&cell->link);
	code_frames_finish(&cell->frames); /* once more, for a cell whose process was not started */
	code_result_finish(&cell->result);
	code_tools_finish(&cell->tools);
	vec_finish(&cell->sessions);
	loop_timer_destroy(cell->timer);
	loop_deferred_finish(&cell->step);
	free(cell->exec_id);
	free(cell->failure);
	free(cell->exit_reason);
	free(cell);
}

/* ---- the cells of a session ---- */

struct code_cells *code_cells_create(struct tool_host *host)
{
	struct code_cells *cells = xnew(struct code_cells);
	cells->host = host;
	list_init(&cells->all);
	return cells;
}

void code_cells_end(struct code_cells *cells)
{
	struct code_cell *it;
	if (!cells)
		return;
	cells->is_ending = true;
	while ((it = list_first(&cells->all, struct code_cell, link))) {
		code_calls_drop(it); /* first, because they wait for the commands */
		end_sessions(it);
		cell_destroy(it);
	}
	cells->is_ending = false;
	code_cells_rest(cells);
}

void code_cells_destroy(struct code_cells *cells)
{
	if (!cells)
		return;
	code_cells_end(cells);
	code_store_finish(cells);
	free(cells);
}

void code_cells_resume(struct code_cells *cells)
{
	struct code_cell *it;
	if (!cells)
		return;
	list_for_each(it, &cells->all, link)
		code_calls_start(it);
}

void code_cells_release(struct code_cells *cells)
{
	struct code_cell *it;
	if (!cells)
		return;
	list_for_each(it, &cells->all, link)
		cell_release(it);
}

void code_cells_forget_calls(struct code_cells *cells)
{
	struct code_cell *it;
	if (!cells)
		return;
	list_for_each(it, &cells->all, link)
		free(steal(it->exec_id));
}

bool code_cells_have_calls(const struct code_cells *cells)
{
	const struct code_cell *it;
	if (!cells)
		return false;
	list_for_each(it, &cells->all, link) {
		if (it->call_count)
			return true;
	}
	return false;
}
