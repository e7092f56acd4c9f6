/* The items are written without records, because their form does not occur on the wire. A command's output is also
 * recorded as the model received it; the copy here is for display, and truncated accordingly. */
#include "rollout/rollout_tool_item.h"

#include "base/limits.h"
#include "base/text.h"
#include "rollout/rollout_limits.h"

static const char *status_of(bool is_declined, bool is_good)
{
	return is_declined ? "declined" : is_good ? "completed" : "failed";
}

/* Writes a path as a URL: "file:///…", percent-encoded. */
static void write_address(struct str path, const char *key, struct json_writer *w)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_append_c(&text, "file://");
	text_append_url_path(&text, path);
	jw_member_str(w, key, buf_str(&text));
}

/* ---- commands ---- */

static void write_words(const struct ev_exec_end *event, struct json_writer *w)
{
	jw_key(w, "command");
	jw_array(w);
	for (size_t i = 0; i < event->command_count; i++)
		jw_str(w, event->command[i]);
	jw_array_end(w);
	jw_key(w, "parsed_cmd");
	jw_array(w);
	for (size_t i = 0; i < event->parsed_cmd_count; i++)
		union_encode(&union_parsed_command, &event->parsed_cmd[i], w);
	jw_array_end(w);
}

static void write_output(struct str output, struct json_writer *w)
{
	auto_buf struct buf cut;
	buf_init(&cut, 2 * LIMIT_ROLLOUT_OUTPUT);
	if (output.len > LIMIT_ROLLOUT_OUTPUT) {
		text_append_middle(&cut, output, (struct text_budget){TEXT_BYTES, LIMIT_ROLLOUT_OUTPUT});
		output = buf_str(&cut);
	}
	jw_member_str(w, "aggregated_output", output.ptr ? output : STR(""));
}

static void write_end(const struct ev_exec_end *event, struct json_writer *w)
{
	write_output(event->aggregated_output, w);
	jw_member_i64(w, "exit_code", event->exit_code);
	jw_key(w, "duration");
	record_encode(&record_duration, event->duration, w);
}

/* Of a declined command that has run, a second run outside the sandbox was declined. */
void rollout_tool_item_command(const struct ev_exec_end *event, bool is_declined, struct json_writer *w)
{
	bool has_run = !is_declined || event->exit_code >= 0;
	jw_object(w);
	jw_member_cstr(w, "type", "CommandExecution");
	jw_member_str(w, "id", event->call_id);
	if (event->process_id.ptr && has_run)
		jw_member_str(w, "process_id", event->process_id);
	write_address(event->cwd, "cwd", w);
	write_words(event, w);
	jw_member_cstr(w, "source", enum_wire(&enum_exec_source, has_run ? (int)event->source : exec_source_agent));
	jw_member_cstr(w, "status", status_of(is_declined, event->exit_code == 0));
	if (has_run)
		write_end(event, w);
	jw_object_end(w);
}

void rollout_tool_item_command_asked(const struct ev_exec_approval *event, struct json_writer *w)
{
	struct ev_exec_end end = {
		.call_id = event->call_id,
		.command = event->command,
		.command_count = event->command_count,
		.cwd = event->cwd,
		.parsed_cmd = event->parsed_cmd,
		.parsed_cmd_count = event->parsed_cmd_count,
		.exit_code = -1, /* it has not run */
	};
	rollout_tool_item_command(&end, true, w);
}

/* ---- patches ---- */

static void begin_patch(struct str call_id, const struct str *paths, const struct file_change *changes, size_t count,
                        struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "FileChange");
	jw_member_str(w, "id", call_id);
	jw_key(w, "changes");
	jw_object(w);
	for (size_t i = 0; i < count; i++) {
		jw_key_str(w, paths[i]);
		union_encode(&union_file_change, &changes[i], w);
	}
	jw_object_end(w);
}

static void end_patch(const char *status, struct str out, struct str err, struct json_writer *w)
{
	jw_member_cstr(w, "status", status);
	jw_member_str(w, "stdout", out.ptr ? out : STR(""));
	jw_member_str(w, "stderr", err.ptr ? err : STR(""));
	jw_object_end(w);
}

void rollout_tool_item_patch(const struct ev_patch_end *event, bool is_declined, struct json_writer *w)
{
	begin_patch(event->call_id, event->changes_keys, event->changes, event->changes_count, w);
	end_patch(status_of(is_declined && !event->success, event->success), event->standard_output,
	          event->standard_error, w);
}

void rollout_tool_item_patch_begun(struct str call_id, const struct str *paths, const struct file_change *changes,
                                   size_t count, struct json_writer *w)
{
	begin_patch(call_id, paths, changes, count, w);
	end_patch("failed", STR(""), STR(""), w);
}

/* ---- images ---- */

void rollout_tool_item_image(const struct ev_view_image *event, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "ImageView");
	jw_member_str(w, "id", event->call_id);
	write_address(event->path, "path", w);
	jw_object_end(w);
}

void rollout_tool_item_dynamic(const struct ev_dynamic_tool_done *event, struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "DynamicToolCall");
	jw_member_str(w, "id", event->call_id);
	if (event->namespace.ptr)
		jw_member_str(w, "namespace", event->namespace);
	jw_member_str(w, "tool", event->tool);
	jw_member_raw(w, "arguments", event->arguments);
	jw_member_cstr(w, "status", event->success ? "completed" : "failed");
	jw_member_raw(w, "content_items", event->content_items);
	jw_member_bool(w, "success", event->success);
	jw_key(w, "duration");
	record_encode(&record_duration, event->duration, w);
	jw_object_end(w);
}

/* ---- MCP servers ---- */

static void begin_mcp(struct str call_id, const struct mcp_invocation *invocation, const char *status,
                      struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "type", "McpToolCall");
	jw_member_str(w, "id", call_id);
	jw_member_str(w, "server", invocation->server);
	jw_member_str(w, "tool", invocation->tool);
	jw_member_raw(w, "arguments", invocation->arguments.ptr ? invocation->arguments : STR("null"));
	jw_member_cstr(w, "status", status);
}

void rollout_tool_item_mcp_begun(const struct ev_mcp_call_begin *event, struct json_writer *w)
{
	begin_mcp(event->call_id, event->invocation, "failed", w);
	jw_object_end(w);
}

void rollout_tool_item_mcp(const struct ev_mcp_call_end *event, struct json_writer *w)
{
	const struct mcp_result *result = event->result;
	auto_arena struct arena arena = {0};
	const struct json *answer = result->tag == mcp_result_ok ? json_parse(&arena, result->ok->answer, NULL) : NULL;
	bool is_ok = answer && !json_get_bool(answer, "isError", false);
	begin_mcp(event->call_id, event->invocation, is_ok ? "completed" : "failed", w);
	if (answer) {
		jw_member_raw(w, "result", answer->span);
	} else if (result->tag == mcp_result_err) {
		jw_key(w, "error");
		jw_object(w);
		jw_member_str(w, "message", result->err->reason);
		jw_object_end(w);
	}
	jw_key(w, "duration");
	record_encode(&record_duration, event->duration, w);
	jw_object_end(w);
}
