/* The tools exec, which runs a script, and wait, which gets the rest of one. The model reads the errors of a pragma:
 * each names what is wrong, and the form that is right. */
#include <stdio.h>

#include "base/error.h"
#include "base/json.h"
#include "tool/code/code_limits.h"
#include "base/str.h"
#include "tool/code/code_cells_priv.h"
#include "tool/tool_impl.h"

enum { WAIT_MS = 10000, WAIT_TOKENS = 10000 };

/* The history keeps no more than a fifth above the limit of one output. */
static size_t budget_of(const struct tool_host *host, int64_t tokens)
{
	size_t most = text_budget_bytes(host->output_budget) / 4 * 6 / 5;
	return tokens < 0 ? 0 : (size_t)tokens < most ? (size_t)tokens : most;
}

/* A script that waits until its begin is stored: its commands would run twice if another process started it again. */
struct exec_begin {
	struct tool_wait wait;
	struct tool_call *call;
	struct code_pragma pragma;
};

static void start_script(struct exec_begin *begin)
{
	struct error err;
	struct tool_call *call = begin->call;
	struct tool_host *host = call->host;
	call->state = NULL;
	call->stop = NULL;
	struct code_cell *cell = code_cell_start(host->code.cells, call, &err);
	if (cell)
		code_cell_wait(cell, call, (uint64_t)begin->pragma.yield_time_ms,
		               budget_of(host, begin->pragma.max_output_tokens));
	else
		tool_call_finishf(call, false, "the script could not be started: %s", err.text);
}

static void on_stored(struct tool_wait *wait)
{
	start_script(container_of(wait, struct exec_begin, wait));
}

static void stop_begin(struct tool_call *call)
{
	struct exec_begin *begin = call->state;
	call->state = NULL;
	call->stop = NULL;
	list_remove(&begin->wait.link);
}

void tool_exec_start(struct tool_call *call)
{
	struct error err;
	struct code_pragma pragma;
	struct tool_host *host = call->host;
	const struct args_exec *args = call->args;
	if (host->code.refusal) {
		tool_call_finish(call, false, str_of(host->code.refusal));
		return;
	}
	if (code_pragma_read(args->input, &pragma, &err) != 0) {
		tool_call_finish(call, false, str_of(err.text));
		return;
	}
	struct exec_begin *begin = arena_new(&call->arena, struct exec_begin);
	*begin = (struct exec_begin){.wait.then = on_stored, .call = call, .pragma = pragma};
	list_init(&begin->wait.link);
	call->state = begin;
	call->stop = stop_begin;
	if (!host->settle(host, &begin->wait, call->call_id))
		start_script(begin);
}

static void write_part(struct json_writer *w, struct str text)
{
	jw_object(w);
	jw_member_cstr(w, "type", "input_text");
	jw_member_str(w, "text", text);
	jw_object_end(w);
}

static void refuse_cell(struct tool_call *call, struct str id)
{
	char text[256];
	struct json_writer w = json_writer(&call->parts);
	snprintf(text, sizeof(text), "Script error:\nthere is no running cell with ID %.*s",
	         id.len < 64 ? (int)id.len : 64, id.ptr);
	jw_array(&w);
	write_part(&w, STR("Script failed\nWall time 0.0 seconds\nOutput:\n"));
	write_part(&w, str_of(text));
	jw_array_end(&w);
	tool_call_finish_output(call, false);
}

void tool_code_wait_start(struct tool_call *call)
{
	struct tool_host *host = call->host;
	const struct args_code_wait *args = call->args;
	struct code_cell *cell = code_cell_find(host->code.cells, args->cell_id);
	size_t tokens = budget_of(host, args->has_max_tokens ? args->max_tokens : WAIT_TOKENS);
	int64_t yield_ms = args->has_yield_time_ms ? args->yield_time_ms : WAIT_MS;
	if (yield_ms < 0)
		yield_ms = 0;
	if (yield_ms > LIMIT_CODE_YIELD_MS)
		yield_ms = LIMIT_CODE_YIELD_MS;
	if (!cell || cell->waiter)
		refuse_cell(call, args->cell_id);
	else if (args->has_terminate && args->terminate && cell->runner)
		code_cell_terminate(cell, call, tokens);
	else
		code_cell_wait(cell, call, (uint64_t)yield_ms, tokens);
}
