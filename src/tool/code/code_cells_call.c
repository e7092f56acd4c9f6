/* A call of a script has the same life as one of the model: the same host, hooks, approvals, sandbox and events. What
 * differs is its result, a JavaScript value in place of a text. */
#include "tool/code/code_cells_priv.h"

#include <stdio.h>

#include "base/json.h"
#include "tool/code/code_limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"

static struct json_writer begin_result(struct buf *out, int64_t id)
{
	struct json_writer w = code_frame_begin(out, "result");
	jw_member_i64(&w, "id", id);
	return w;
}

static void end_result(struct code_cell *cell, struct buf *out, struct json_writer *w)
{
	if (code_frame_end(out, w))
		code_cell_send(cell, out);
	else
		code_cell_break(cell, "a result of a tool is too large for a script");
}

static void refuse(struct code_cell *cell, int64_t id, const char *why)
{
	auto_buf struct buf out;
	struct json_writer w = begin_result(&out, id);
	jw_member_cstr(&w, "error", why);
	end_result(cell, &out, &w);
}

/* ---- results ---- */

static void write_mcp_error(struct json_writer *w, struct str text)
{
	jw_object(w);
	jw_key(w, "content");
	jw_array(w);
	jw_object(w);
	jw_member_cstr(w, "type", "text");
	jw_member_str(w, "text", text);
	jw_object_end(w);
	jw_array_end(w);
	jw_member_bool(w, "isError", true);
	jw_object_end(w);
}

/* Tools without a value of their own return JSON or words. */
static void write_output(const struct tool_call *call, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	struct str text = buf_str(&call->output);
	const struct json *json = call->dynamic ? NULL : json_parse(&arena, text, NULL);
	if (json_is(json, JSON_object) || json_is(json, JSON_array))
		jw_value(w, json);
	else if (call->type == tool_get(TOOL_apply_patch) || call->type == tool_get(TOOL_update_plan))
		jw_raw(w, STR("{}"));
	else
		jw_str(w, text);
}

/* The texts of a client's tool that has answered with parts. */
static void write_parts(const struct tool_call *call, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_ITEM);
	json_for_each(part, json_parse(&arena, buf_str(&call->parts), NULL)) {
		struct str piece = json_get_str(part, "text");
		if (text.len && piece.len)
			buf_append_char(&text, '\n');
		buf_append_str(&text, piece);
	}
	jw_str(w, buf_str(&text));
}

static void write_result(const struct tool_call *call, struct json_writer *w)
{
	bool is_mcp = call->mcp.start, is_held = call->is_blocked || call->denial.ptr;
	struct str text = buf_str(&call->output);
	if (call->value.len && !is_held) {
		jw_member_raw(w, "value", buf_str(&call->value));
	} else if (is_mcp && !is_held) {
		jw_key(w, "value");
		write_mcp_error(w, text);
	} else if (!call->is_success || is_held) {
		jw_member_str(w, "error", text);
	} else {
		jw_key(w, "value");
		if (call->parts.len)
			write_parts(call, w);
		else
			write_output(call, w);
	}
}

/* Remembers a command that continues, so that it ends with the cell if that is terminated. */
static void note_session(struct code_cell *cell, const struct tool_call *call)
{
	auto_arena struct arena arena = {0};
	int64_t id =
		call->value.len ? json_get_i64(json_parse(&arena, buf_str(&call->value), NULL), "session_id", 0) : 0;
	if (id && call->type == tool_get(TOOL_exec_command))
		vec_push(&cell->sessions, id);
}

static void call_destroy(struct code_call *it)
{
	struct code_cells *cells = it->cell->cells;
	struct tool_host *host = cells->host;
	list_remove(&it->link);
	it->cell->call_count--;
	it->cell->call_bytes -= it->bytes;
	it->cell->running -= it->is_started;
	if (cells->exclusive == it->call)
		cells->exclusive = NULL;
	host->drop_nested(host, it->call);
	tool_call_destroy(it->call);
	free(it);
}

static void start_all(struct code_cells *cells)
{
	struct code_cell *cell;
	list_for_each(cell, &cells->all, link)
		code_calls_start(cell);
}

static void on_ended(struct tool_call *call, void *self)
{
	struct code_call *it = self;
	struct code_cell *cell = it->cell;
	struct code_cells *cells = cell->cells;
	auto_buf struct buf out;
	struct json_writer w = begin_result(&out, it->id);
	write_result(call, &w);
	call_destroy(it);
	end_result(cell, &out, &w);
	start_all(cells);
}

static void on_done(struct tool_call *call, void *self)
{
	struct tool_host *host = call->host;
	const struct code_call *it = self;
	note_session(it->cell, call); /* before a hook withholds the result */
	host->end_nested(host, call, on_ended, self);
}

/* ---- calls ---- */

static bool must_be_object(const struct code_tool *tool, bool is_text)
{
	return !tool->is_custom && is_text;
}

void code_call_add(struct code_cell *cell, const struct json *frame)
{
	char call_id[UUID_TEXT_SIZE + 8] = "exec-";
	struct tool_host *host = cell->cells->host;
	struct str name = json_get_str(frame, "name"), args = json_get_str(frame, "args");
	int64_t id = json_get_i64(frame, "id", 0);
	bool is_text = json_get_bool(frame, "is_text", false);
	const struct code_tool *tool = code_tools_find(&cell->tools, name);
	bool is_full = cell->call_count >= LIMIT_CODE_QUEUED || args.len > LIMIT_CODE_FRAME - cell->call_bytes;
	if (!tool || !args.ptr || is_full) {
		refuse(cell, id, tool ? "too many calls of tools wait" : "there is no such tool");
		return;
	}
	if (must_be_object(tool, is_text) || (tool->is_custom && !is_text)) {
		char why[LIMIT_TOOL_NAME + 64];
		snprintf(why, sizeof(why), "%.*s expects %s as its argument", STR_ARG(tool->js_name),
		         tool->is_custom ? "a string" : "an object");
		refuse(cell, id, why);
		return;
	}
	struct code_call *it = xnew(struct code_call);
	uuid_v7(call_id + strlen(call_id));
	struct tool_call_words words = {.call_id = str_of(call_id),
	                                .namespace = tool->namespace,
	                                .name = tool->name,
	                                .input = args,
	                                .is_custom = tool->is_custom};
	*it = (struct code_call){.cell = cell, .id = id, .bytes = args.len};
	it->call = tool_call_create(host, &words, on_done, it);
	it->call->is_nested = true;
	list_append(&cell->calls, &it->link);
	cell->call_count++;
	cell->call_bytes += args.len;
	code_calls_start(cell);
}

/* A tool that must run alone waits for others of its kind, but not for commands, which may run for minutes. */
static bool can_start(const struct code_call *it)
{
	const struct code_cells *cells = it->cell->cells;
	return tool_call_is_parallel(it->call) || !cells->exclusive;
}

void code_calls_start(struct code_cell *cell)
{
	struct code_call *it;
	struct tool_host *host = cell->cells->host;
	list_for_each(it, &cell->calls, link) {
		if (host->is_idle || cell->running >= LIMIT_CODE_CALLS)
			return;
		if (it->is_started || !can_start(it))
			continue;
		it->is_started = true;
		cell->running++;
		if (!tool_call_is_parallel(it->call))
			cell->cells->exclusive = it->call;
		it->call->turn_id = arena_str(&it->call->arena, host->turn_id);
		host->start_nested(host, it->call);
	}
}

void code_calls_drop(struct code_cell *cell)
{
	struct code_call *it;
	while ((it = list_first(&cell->calls, struct code_call, link)))
		call_destroy(it);
}
