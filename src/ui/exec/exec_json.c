/* The event stream that the official SDKs read: item ids are increasing numbers, deltas are omitted, usage is the
 * session's total. Each event is one write, so that readers receive whole lines. */
#include "ui/exec/exec_printer.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"

#include "protocol/message/message.h"
#include "ui/cli/terminal.h"

/* An item that was started and may be completed later. */
struct open_item {
	char *call_id;
	unsigned number;
	struct str command; /* owned; set while a command runs */
};

struct exec_json {
	struct exec_printer printer;
	struct buf line;
	unsigned next_item;
	VEC(struct open_item) open;
	bool has_todo;
	unsigned todo_number;
	struct buf todo; /* the items of the to-do list as JSON */
	struct token_usage usage;
	struct buf error; /* text of the last error event */
	bool has_failed;
	bool is_turn_over; /* the turn has ended, and with it its items */
};

/* ---- lines ---- */

static struct json_writer begin(struct exec_json *json, const char *type)
{
	buf_clear(&json->line);
	struct json_writer w = json_writer(&json->line);
	jw_object(&w);
	jw_member_cstr(&w, "type", type);
	return w;
}

static void end(struct exec_json *json, struct json_writer *w)
{
	jw_object_end(w);
	buf_append_char(&json->line, '\n');
	exec_printer_write(&json->printer, buf_str(&json->line));
	buf_reuse(&json->line);
}

static struct json_writer begin_item(struct exec_json *json, const char *type, unsigned number, const char *item_type)
{
	struct json_writer w = begin(json, type);
	jw_key(&w, "item");
	jw_object(&w);
	jw_key(&w, "id");
	jw_strf(&w, "item_%u", number);
	jw_member_cstr(&w, "type", item_type);
	return w;
}

static void end_item(struct exec_json *json, struct json_writer *w)
{
	jw_object_end(w);
	end(json, w);
}

/* ---- open items ---- */

static struct open_item *find_open(struct exec_json *json, struct str call_id)
{
	vec_for_each(it, &json->open) {
		if (str_is(call_id, it->call_id))
			return it;
	}
	return NULL;
}

static unsigned open_item(struct exec_json *json, struct str call_id, struct str command)
{
	struct open_item item = {str_dup(call_id), json->next_item++, str_copy(command)};
	vec_push(&json->open, item);
	return item.number;
}

static void forget(struct exec_json *json, struct open_item *item)
{
	free(item->call_id);
	str_free(&item->command);
	*item = json->open.items[--json->open.count];
}

/* Returns the number that an item got when it started; a new one if it never started. */
static unsigned close_item(struct exec_json *json, struct str call_id)
{
	struct open_item *item = find_open(json, call_id);
	if (!item)
		return json->next_item++;
	unsigned number = item->number;
	forget(json, item);
	return number;
}

/* ---- events ---- */

static void on_session_configured(struct exec_json *json, const struct event *event)
{
	struct json_writer w = begin(json, "thread.started");
	jw_member_str(&w, "thread_id", event->msg.session_configured->session_id);
	end(json, &w);
}

static void on_task_started(struct exec_json *json, const struct event *event)
{
	(void)event;
	struct json_writer w = begin(json, "turn.started");
	end(json, &w);
}

static void on_token_count(struct exec_json *json, const struct event *event)
{
	if (event->msg.token_count->info)
		json->usage = *event->msg.token_count->info->total_token_usage;
}

static void write_command(struct json_writer *w, struct str command, struct str output, const int64_t *exit_code,
                          const char *status)
{
	jw_member_str(w, "command", command);
	jw_member_str(w, "aggregated_output", output.ptr ? output : STR(""));
	jw_key(w, "exit_code");
	if (exit_code)
		jw_i64(w, *exit_code);
	else
		jw_null(w);
	jw_member_cstr(w, "status", status);
}

static void on_exec_begin(struct exec_json *json, const struct event *event)
{
	const struct ev_exec_begin *begun = event->msg.exec_command_begin;
	auto_buf struct buf command;
	buf_init(&command, LIMIT_LINE);
	terminal_command_append(&command, begun->command, begun->command_count);
	unsigned number = open_item(json, begun->call_id, buf_str(&command));
	struct json_writer w = begin_item(json, "item.started", number, "command_execution");
	write_command(&w, buf_str(&command), STR(""), NULL, "in_progress");
	end_item(json, &w);
}

static void on_exec_end(struct exec_json *json, const struct event *event)
{
	const struct ev_exec_end *ended = event->msg.exec_command_end;
	if (json->is_turn_over)
		return;
	auto_buf struct buf command;
	buf_init(&command, LIMIT_LINE);
	terminal_command_append(&command, ended->command, ended->command_count);
	struct json_writer w =
		begin_item(json, "item.completed", close_item(json, ended->call_id), "command_execution");
	const char *status = ended->exit_code == 0 ? "completed" : "failed";
	write_command(&w, buf_str(&command), ended->aggregated_output, &ended->exit_code, status);
	end_item(json, &w);
}

static void write_changes(struct json_writer *w, const struct str *paths, const struct file_change *changes,
                          size_t count)
{
	static const char *const kinds[] = {
		[file_change_add] = "add", [file_change_delete] = "delete", [file_change_update] = "update"};
	jw_key(w, "changes");
	jw_array(w);
	for (size_t i = 0; i < count; i++) {
		jw_object(w);
		jw_member_str(w, "path", paths[i]);
		jw_member_cstr(w, "kind", kinds[changes[i].tag]);
		jw_object_end(w);
	}
	jw_array_end(w);
}

static void on_patch_begin(struct exec_json *json, const struct event *event)
{
	const struct ev_patch_begin *begun = event->msg.patch_apply_begin;
	unsigned number = open_item(json, begun->call_id, STR(""));
	struct json_writer w = begin_item(json, "item.started", number, "file_change");
	write_changes(&w, begun->changes_keys, begun->changes, begun->changes_count);
	jw_member_cstr(&w, "status", "in_progress");
	end_item(json, &w);
}

static void on_patch_end(struct exec_json *json, const struct event *event)
{
	const struct ev_patch_end *ended = event->msg.patch_apply_end;
	struct json_writer w = begin_item(json, "item.completed", close_item(json, ended->call_id), "file_change");
	write_changes(&w, ended->changes_keys, ended->changes, ended->changes_count);
	jw_member_cstr(&w, "status", ended->success ? "completed" : "failed");
	end_item(json, &w);
}

/* ---- MCP servers ---- */

static struct json_writer begin_mcp(struct exec_json *json, const char *type, unsigned number,
                                    const struct mcp_invocation *invocation)
{
	struct json_writer w = begin_item(json, type, number, "mcp_tool_call");
	jw_member_str(&w, "server", invocation->server);
	jw_member_str(&w, "tool", invocation->tool);
	jw_member_raw(&w, "arguments", invocation->arguments.ptr ? invocation->arguments : STR("null"));
	return w;
}

static void on_mcp_begin(struct exec_json *json, const struct event *event)
{
	const struct ev_mcp_call_begin *begun = event->msg.mcp_tool_call_begin;
	struct json_writer w =
		begin_mcp(json, "item.started", open_item(json, begun->call_id, STR("")), begun->invocation);
	jw_member_raw(&w, "result", STR("null"));
	jw_member_raw(&w, "error", STR("null"));
	jw_member_cstr(&w, "status", "in_progress");
	end_item(json, &w);
}

static void write_mcp_result(const struct json *answer, struct json_writer *w)
{
	const struct json *content = json_get(answer, "content"), *data = json_get(answer, "structuredContent");
	jw_key(w, "result");
	jw_object(w);
	jw_member_raw(w, "content", content ? content->span : STR("[]"));
	jw_member_raw(w, "structured_content", data ? data->span : STR("null"));
	jw_object_end(w);
	jw_member_raw(w, "error", STR("null"));
	jw_member_cstr(w, "status", json_get_bool(answer, "isError", false) ? "failed" : "completed");
}

static void write_mcp_error(struct str message, struct json_writer *w)
{
	jw_member_raw(w, "result", STR("null"));
	jw_key(w, "error");
	jw_object(w);
	jw_member_str(w, "message", message);
	jw_object_end(w);
	jw_member_cstr(w, "status", "failed");
}

static void on_mcp_end(struct exec_json *json, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_end *ended = event->msg.mcp_tool_call_end;
	struct json_writer w = begin_mcp(json, "item.completed", close_item(json, ended->call_id), ended->invocation);
	if (ended->result->tag == mcp_result_ok)
		write_mcp_result(json_parse(&arena, ended->result->ok->answer, NULL), &w);
	else
		write_mcp_error(ended->result->err->reason, &w);
	end_item(json, &w);
}

static void write_text_item(struct exec_json *json, const char *type, const char *member, struct str text)
{
	struct json_writer w = begin_item(json, "item.completed", json->next_item++, type);
	jw_member_str(&w, member, text);
	end_item(json, &w);
}

static void on_agent_message(struct exec_json *json, const struct agent_message_item *message)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_SSE_EVENT);
	if (message->content_count == 1) {
		write_text_item(json, "agent_message", "text", message->content[0].text->text);
		return;
	}
	for (size_t i = 0; i < message->content_count; i++)
		buf_append_str(&text, message->content[i].text->text);
	write_text_item(json, "agent_message", "text", buf_str(&text));
}

static void on_reasoning(struct exec_json *json, const struct reasoning_item *reasoning)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_SSE_EVENT);
	bool has_summary = reasoning->summary_text_count; /* without one, the reasoning itself is shown */
	size_t count = has_summary ? reasoning->summary_text_count : reasoning->raw_content_count;
	for (size_t i = 0; i < count; i++) {
		if (i)
			buf_append_char(&text, '\n');
		buf_append_str(&text, has_summary ? reasoning->summary_text[i] : reasoning->raw_content[i]);
	}
	if (text.len)
		write_text_item(json, "reasoning", "text", buf_str(&text));
}

static void write_web_search(struct exec_json *json, const char *type, unsigned number,
                             const struct web_search_item *search)
{
	struct json_writer w = begin_item(json, type, number, "web_search");
	jw_member_str(&w, "query", search->query.ptr ? search->query : STR(""));
	jw_member_raw(&w, "action", search->action.ptr ? search->action : STR("{\"type\":\"other\"}"));
	end_item(json, &w);
}

static void on_item_started(struct exec_json *json, const struct event *event)
{
	const struct turn_item *item = event->msg.item_started->item;
	if (item->tag != turn_item_web_search)
		return;
	unsigned number = open_item(json, item->web_search->id, STR(""));
	write_web_search(json, "item.started", number, item->web_search);
}

static void on_web_search(struct exec_json *json, const struct web_search_item *search)
{
	write_web_search(json, "item.completed", close_item(json, search->id), search);
}

static void on_item_completed(struct exec_json *json, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_agent_message)
		on_agent_message(json, item->agent_message);
	else if (item->tag == turn_item_reasoning)
		on_reasoning(json, item->reasoning);
	else if (item->tag == turn_item_plan)
		write_text_item(json, "plan", "text", item->plan->text);
	else if (item->tag == turn_item_web_search)
		on_web_search(json, item->web_search);
}

static void write_todo(struct exec_json *json, const char *type)
{
	struct json_writer w = begin_item(json, type, json->todo_number, "todo_list");
	jw_member_raw(&w, "items", buf_str(&json->todo));
	end_item(json, &w);
}

static void on_plan_update(struct exec_json *json, const struct event *event)
{
	const struct ev_plan_update *update = event->msg.plan_update;
	buf_clear(&json->todo);
	struct json_writer w = json_writer(&json->todo);
	jw_array(&w);
	for (size_t i = 0; i < update->plan_count; i++) {
		jw_object(&w);
		jw_member_str(&w, "text", update->plan[i].step);
		jw_member_bool(&w, "completed", update->plan[i].status == step_status_completed);
		jw_object_end(&w);
	}
	jw_array_end(&w);
	bool is_first = !json->has_todo;
	if (is_first)
		json->todo_number = json->next_item++;
	json->has_todo = true;
	write_todo(json, is_first ? "item.started" : "item.updated");
}

static void on_warning(struct exec_json *json, const struct event *event)
{
	write_text_item(json, "error", "message", event->msg.warning->message);
}

static void write_error(struct exec_json *json, struct str message)
{
	struct json_writer w = begin(json, "error");
	jw_member_str(&w, "message", message);
	end(json, &w);
}

static void on_error(struct exec_json *json, const struct event *event)
{
	json->has_failed = true;
	buf_clear(&json->error);
	buf_append_str(&json->error, event->msg.error->message);
	write_error(json, event->msg.error->message);
}

static void on_stream_error(struct exec_json *json, const struct event *event)
{
	const struct ev_stream_error *error = event->msg.stream_error;
	auto_buf struct buf text;
	buf_init(&text, 8 * KIB);
	buf_append_str(&text, error->message);
	if (error->additional_details.ptr)
		buf_printf(&text, " (%.*s)", STR_ARG(error->additional_details));
	write_error(json, buf_str(&text));
}

/* Closes the items that are open when the turn ends or fails: the to-do list and an unfinished command are reported as
 * completed; other unfinished items get no item.completed. */
static void close_turn(struct exec_json *json)
{
	json->is_turn_over = true;
	if (json->has_todo)
		write_todo(json, "item.completed");
	json->has_todo = false;
	while (json->open.count) {
		struct open_item *item = &json->open.items[0];
		if (item->command.len) {
			struct json_writer w = begin_item(json, "item.completed", item->number, "command_execution");
			write_command(&w, item->command, STR(""), NULL, "completed");
			end_item(json, &w);
		}
		forget(json, item);
	}
}

static void write_failed(struct exec_json *json, struct str message)
{
	struct json_writer w = begin(json, "turn.failed");
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_str(&w, "message", message);
	jw_object_end(&w);
	end(json, &w);
}

static void on_task_complete(struct exec_json *json, const struct event *event)
{
	(void)event;
	close_turn(json);
	if (json->has_failed) {
		write_failed(json, buf_str(&json->error));
		return;
	}
	struct json_writer w = begin(json, "turn.completed");
	jw_key(&w, "usage");
	jw_object(&w);
	jw_member_i64(&w, "input_tokens", json->usage.input_tokens);
	jw_member_i64(&w, "cached_input_tokens", json->usage.cached_input_tokens);
	jw_member_i64(&w, "cache_write_input_tokens", 0);
	jw_member_i64(&w, "output_tokens", json->usage.output_tokens);
	jw_member_i64(&w, "reasoning_output_tokens", json->usage.reasoning_output_tokens);
	jw_object_end(&w);
	end(json, &w);
}

static void on_turn_aborted(struct exec_json *json, const struct event *event)
{
	close_turn(json);
	const char *reason = enum_wire(&enum_turn_abort_reason, (int)event->msg.turn_aborted->reason);
	char text[64];
	snprintf(text, sizeof(text), "turn %s", reason);
	write_failed(json, str_of(text));
}

typedef void (*event_fn)(struct exec_json *json, const struct event *event);

static const event_fn handlers[EV_count] = {
	[EV_session_configured] = on_session_configured,
	[EV_task_started] = on_task_started,
	[EV_task_complete] = on_task_complete,
	[EV_turn_aborted] = on_turn_aborted,
	[EV_token_count] = on_token_count,
	[EV_item_started] = on_item_started,
	[EV_item_completed] = on_item_completed,
	[EV_exec_command_begin] = on_exec_begin,
	[EV_exec_command_end] = on_exec_end,
	[EV_patch_apply_begin] = on_patch_begin,
	[EV_patch_apply_end] = on_patch_end,
	[EV_mcp_tool_call_begin] = on_mcp_begin,
	[EV_mcp_tool_call_end] = on_mcp_end,
	[EV_plan_update] = on_plan_update,
	[EV_warning] = on_warning,
	[EV_error] = on_error,
	[EV_stream_error] = on_stream_error,
};

static void on_event(struct exec_printer *printer, const struct event *event)
{
	struct exec_json *json = (struct exec_json *)printer;
	if (handlers[event->msg.tag])
		handlers[event->msg.tag](json, event);
}

static void destroy(struct exec_printer *printer)
{
	struct exec_json *json = (struct exec_json *)printer;
	while (json->open.count)
		forget(json, &json->open.items[0]);
	vec_finish(&json->open);
	buf_finish(&json->line);
	buf_finish(&json->todo);
	buf_finish(&json->error);
	free(json);
}

struct exec_printer *exec_json_create(void)
{
	struct exec_json *json = xnew(struct exec_json);
	json->printer = (struct exec_printer){.on_event = on_event, .destroy = destroy};
	buf_init(&json->line, (size_t)LIMIT_ROLLOUT_LINE * 2);
	buf_init(&json->todo, LIMIT_LINE);
	buf_init(&json->error, 64 * KIB);
	return &json->printer;
}
