/* Commands, patches, MCP and other tools, subagents. The items are those that app_server/history makes of a rollout, so
 * that a call looks the same when it runs and when session/load replays it. */
#include "acp/acp_client_file.h"
#include "acp/acp_event.h"
#include "acp/acp_job.h"
#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "app_server/history/item_view.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- commands ---- */

static void add_terminal(struct acp_tool_call *call, struct str cwd, struct arena *arena)
{
	auto_buf struct buf meta;
	struct acp_terminal *terminal = arena_new(arena, struct acp_terminal);
	terminal->terminal_id = call->tool_call_id;
	call->content = arena_new(arena, struct acp_tool_content);
	call->content[0] = (struct acp_tool_content){.tag = acp_tool_content_terminal, .terminal = terminal};
	call->content_count = 1;
	buf_init(&meta, LIMIT_LINE);
	struct json_writer w = json_writer(&meta);
	jw_object(&w);
	jw_key(&w, "terminal_info");
	jw_object(&w);
	jw_member_str(&w, "terminal_id", call->tool_call_id);
	jw_member_str(&w, "cwd", cwd);
	jw_object_end(&w);
	jw_object_end(&w);
	call->_meta = arena_str(arena, buf_str(&meta));
}

void on_acp_event_exec_command_begin(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_exec_begin *body = event->msg.exec_command_begin;
	struct app_item_command_execution command = {
		.id = body->call_id,
		.command = item_view_command_text(body->command, body->command_count, &arena),
		.cwd = body->cwd,
		.status = app_command_execution_status_in_progress,
		.command_actions = item_view_actions(body->parsed_cmd, body->parsed_cmd_count, body->cwd, &arena),
		.command_actions_count = body->parsed_cmd_count,
	};
	struct app_thread_item item = {.tag = app_thread_item_command_execution, .command_execution = &command};
	struct acp_tool_call call;
	if (acp_tool_find(session, body->call_id) ||
	    !acp_tool_of_item(&item, str_of(session->cwd), &arena, &call)) /* input for a running command */
		return;
	if (session->server->client.fills_terminals)
		add_terminal(&call, body->cwd, &arena);
	acp_tool_begin(session, &call);
	acp_tool_find(session, body->call_id)->outlives_task = true;
}

static void send_terminal(struct acp_session *session, struct str id, struct str text)
{
	auto_buf struct buf meta;
	struct acp_tool_call_change change = {.tool_call_id = id};
	buf_init(&meta, LIMIT_LINE);
	struct json_writer w = json_writer(&meta);
	jw_object(&w);
	jw_key(&w, "terminal_output_delta");
	jw_object(&w);
	jw_member_str(&w, "terminal_id", id);
	jw_member_str(&w, "data", text);
	jw_object_end(&w);
	jw_object_end(&w);
	change._meta = buf_str(&meta);
	acp_session_update(session, acp_update_tool_call_update, &change);
}

/* Sends the whole characters of tool->text. */
static void send_output(struct acp_session *session, struct acp_tool *tool)
{
	auto_buf struct buf text;
	struct str all = buf_str(&tool->text);
	size_t whole = text_utf8_whole(all);
	buf_init(&text, LIMIT_EXEC_CHUNK * 8);
	text_append_utf8_lossy(&text, str_n(all.ptr, whole));
	buf_consume(&tool->text, whole);
	if (text.len)
		send_terminal(session, str_of(tool->id), buf_str(&text));
}

/* A client without terminals gets the output with the end of the command. */
void on_acp_event_exec_command_output_delta(struct acp_session *session, const struct event *event)
{
	auto_buf struct buf bytes;
	const struct ev_exec_output *body = event->msg.exec_command_output_delta;
	struct acp_tool *tool = acp_tool_find(session, body->call_id);
	buf_init(&bytes, LIMIT_EXEC_CHUNK * 2);
	if (!tool || !session->server->client.fills_terminals || !text_base64_decode(&bytes, body->chunk))
		return;
	buf_append_str(&tool->text, buf_str(&bytes));
	send_output(session, tool);
}

static void end_terminal(struct acp_tool_call *call, const struct ev_exec_end *body, struct arena *arena)
{
	auto_buf struct buf meta;
	buf_init(&meta, LIMIT_LINE);
	struct json_writer w = json_writer(&meta);
	jw_object(&w);
	jw_key(&w, "terminal_exit");
	jw_object(&w);
	jw_member_str(&w, "terminal_id", body->call_id);
	jw_member_i64(&w, "exit_code", body->exit_code);
	jw_key(&w, "signal");
	jw_null(&w);
	jw_object_end(&w);
	jw_object_end(&w);
	call->_meta = arena_str(arena, buf_str(&meta));
}

static struct str output_of(const struct ev_exec_end *body, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_i64(&w, "exitCode", body->exit_code);
	jw_member_str(&w, "output", body->aggregated_output.ptr ? body->aggregated_output : STR(""));
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

void on_acp_event_exec_command_end(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_exec_end *body = event->msg.exec_command_end;
	struct app_item_command_execution command = {
		.id = body->call_id,
		.command = item_view_command_text(body->command, body->command_count, &arena),
		.cwd = body->cwd,
		.status = body->exit_code == 0 ? app_command_execution_status_completed
	                                       : app_command_execution_status_failed,
		.command_actions = item_view_actions(body->parsed_cmd, body->parsed_cmd_count, body->cwd, &arena),
		.command_actions_count = body->parsed_cmd_count,
		.aggregated_output = body->aggregated_output,
	};
	struct app_thread_item item = {.tag = app_thread_item_command_execution, .command_execution = &command};
	struct acp_tool_call call;
	if (!acp_tool_of_item(&item, str_of(session->cwd), &arena, &call))
		return;
	call.raw_output = output_of(body, &arena);
	if (session->server->client.fills_terminals && acp_tool_find(session, body->call_id)) {
		call.content = NULL; /* the terminal has it */
		call.content_count = 0;
		end_terminal(&call, body, &arena);
	}
	acp_tool_end(session, &call);
}

/* ---- patches ---- */

static void build_patch(struct acp_reading *reading, struct str id, const struct str *paths,
                        const struct file_change *changes, size_t count, enum app_patch_apply_status status)
{
	struct app_item_file_change *patch = item_view_file_change(id, paths, changes, count, &reading->arena);
	struct app_thread_item item = {.tag = app_thread_item_file_change, .file_change = patch};
	patch->status = status;
	acp_tool_of_item(&item, reading->cwd, &reading->arena, &reading->call);
}

static void read_begin(struct acp_reading *reading)
{
	const struct ev_patch_begin *body = reading->event->msg.patch_apply_begin;
	build_patch(reading, body->call_id, body->changes_keys, body->changes, body->changes_count,
	            app_patch_apply_status_in_progress);
}

static void on_begin_read(struct acp_session *session, struct acp_reading *reading)
{
	acp_tool_begin(session, &reading->call);
}

/* An approved patch is shown already. */
void on_acp_event_patch_apply_begin(struct acp_session *session, const struct event *event)
{
	if (!acp_tool_find(session, event->msg.patch_apply_begin->call_id))
		acp_reading_start(session, event, NULL, read_begin, on_begin_read);
}

static void read_end(struct acp_reading *reading)
{
	const struct ev_patch_end *body = reading->event->msg.patch_apply_end;
	build_patch(reading, body->call_id, body->changes_keys, body->changes, body->changes_count,
	            body->success ? app_patch_apply_status_completed : app_patch_apply_status_failed);
}

static void end_patch(struct acp_session *session, const struct ev_patch_end *body, struct acp_tool_call *call)
{
	auto_arena struct arena arena = {0};
	if (!body->success && body->standard_error.len && !call->content_count) {
		call->content = arena_new(&arena, struct acp_tool_content);
		call->content[0] = acp_tool_text(body->standard_error, &arena);
		call->content_count = 1;
	}
	acp_tool_end(session, call);
}

static void on_end_read(struct acp_session *session, struct acp_reading *reading)
{
	end_patch(session, reading->event->msg.patch_apply_end, &reading->call);
}

/* The diffs were sent when the patch began, and stay. */
void on_acp_event_patch_apply_end(struct acp_session *session, const struct event *event)
{
	const struct ev_patch_end *body = event->msg.patch_apply_end;
	struct acp_tool_call call = {
		.tool_call_id = body->call_id,
		.title = STR("Editing files"),
		.kind = acp_tool_kind_edit,
		.status = body->success ? acp_tool_status_completed : acp_tool_status_failed,
	};
	if (!acp_tool_find(session, body->call_id) && body->changes_count)
		acp_reading_start(session, event, NULL, read_end, on_end_read);
	else
		end_patch(session, body, &call);
}

void on_acp_event_view_image_tool_call(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_view_image *body = event->msg.view_image_tool_call;
	struct app_item_image_view view = {.id = body->call_id, .path = body->path};
	struct app_thread_item item = {.tag = app_thread_item_image_view, .image_view = &view};
	struct acp_tool_call call;
	acp_tool_of_item(&item, str_of(session->cwd), &arena, &call);
	acp_tool_end(session, &call);
}

/* ---- MCP ---- */

static struct app_thread_item_mcp_tool_call mcp_item(struct str id, const struct mcp_invocation *invocation)
{
	return (struct app_thread_item_mcp_tool_call){
		.id = id,
		.server = invocation->server,
		.tool = invocation->tool,
		.arguments = invocation->arguments,
		.status = app_mcp_tool_call_status_in_progress,
	};
}

void on_acp_event_mcp_tool_call_begin(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_begin *body = event->msg.mcp_tool_call_begin;
	struct app_thread_item_mcp_tool_call mcp = mcp_item(body->call_id, body->invocation);
	struct app_thread_item item = {.tag = app_thread_item_mcp_tool_call, .mcp_tool_call = &mcp};
	struct acp_tool_call call;
	acp_tool_of_item(&item, str_of(session->cwd), &arena, &call);
	acp_tool_begin(session, &call);
}

/* The questions of the call end with it. */
void on_acp_event_mcp_tool_call_end(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_end *body = event->msg.mcp_tool_call_end;
	struct app_thread_item_mcp_tool_call mcp = mcp_item(body->call_id, body->invocation);
	struct app_thread_item item = {.tag = app_thread_item_mcp_tool_call, .mcp_tool_call = &mcp};
	struct acp_tool_call call;
	if (body->result->tag == mcp_result_ok)
		item_view_mcp_answer(&mcp, json_parse(&arena, body->result->ok->answer, NULL), &arena);
	else
		item_view_mcp_error(&mcp, body->result->err->reason, &arena);
	acp_tool_of_item(&item, str_of(session->cwd), &arena, &call);
	acp_asks_withdraw(&session->server->wire, session, body->call_id, event->id);
	acp_tool_end(session, &call);
}

/* ---- tools that this front end carries out: the client's files ---- */

void on_acp_event_dynamic_tool_call_request(struct acp_session *session, const struct event *event)
{
	acp_client_file_call(session, event);
}

void on_acp_event_dynamic_tool_call_response(struct acp_session *session, const struct event *event)
{
	const struct ev_dynamic_tool_done *body = event->msg.dynamic_tool_call_response;
	struct acp_tool_call call = {
		.tool_call_id = body->call_id,
		.title = body->tool,
		.status = body->success ? acp_tool_status_completed : acp_tool_status_failed,
	};
	acp_asks_withdraw(&session->server->wire, session, body->call_id, event->id);
	acp_tool_end(session, &call);
}

/* ---- subagents ---- */

static void send_collab(struct acp_session *session, struct str id, const char *what, struct str detail, bool has_ended,
                        bool has_failed)
{
	auto_arena struct arena arena = {0};
	struct acp_tool_call call = {
		.tool_call_id = id,
		.title = str_of(arena_printf(&arena, "Subagent: %s", what)),
		.kind = acp_tool_kind_think,
		.status = !has_ended   ? acp_tool_status_in_progress
	                  : has_failed ? acp_tool_status_failed
	                               : acp_tool_status_completed,
	};
	if (detail.len) {
		call.content = arena_new(&arena, struct acp_tool_content);
		call.content[0] = acp_tool_text(detail, &arena);
		call.content_count = 1;
	}
	if (has_ended)
		acp_tool_end(session, &call);
	else
		acp_tool_begin(session, &call);
}

static bool has_failed(const struct agent_status *status)
{
	return status->tag == agent_status_errored || status->tag == agent_status_not_found;
}

/* COLLAB(event, "what", detail) defines the handlers of EVENT_begin; COLLAB_END those of EVENT_end. */
#define COLLAB(name, what, detail)                                                          \
	void on_acp_event_##name(struct acp_session *session, const struct event *event)    \
	{                                                                                   \
		send_collab(session, event->msg.name->call_id, what, detail, false, false); \
	}
#define COLLAB_END(name, what, failed)                                                        \
	void on_acp_event_##name(struct acp_session *session, const struct event *event)      \
	{                                                                                     \
		send_collab(session, event->msg.name->call_id, what, STR_NONE, true, failed); \
	}

COLLAB(collab_agent_spawn_begin, "start", event->msg.collab_agent_spawn_begin->prompt)
COLLAB_END(collab_agent_spawn_end, "start", has_failed(event->msg.collab_agent_spawn_end->status))
COLLAB(collab_agent_interaction_begin, "message", event->msg.collab_agent_interaction_begin->prompt)
COLLAB_END(collab_agent_interaction_end, "message", has_failed(event->msg.collab_agent_interaction_end->status))
COLLAB(collab_waiting_begin, "wait", STR_NONE)
COLLAB_END(collab_waiting_end, "wait", false)
COLLAB(collab_close_begin, "close", STR_NONE)
COLLAB_END(collab_close_end, "close", false)
COLLAB(collab_resume_begin, "resume", STR_NONE)
COLLAB_END(collab_resume_end, "resume", has_failed(event->msg.collab_resume_end->status))

/* ---- reviews of approvals ---- */

static void write_action(const struct guardian_action *action, struct buf *out)
{
	if (action->tag == guardian_action_command)
		buf_append_str(out, action->command->command);
	else if (action->tag == guardian_action_mcp_tool_call)
		buf_printf(out, "MCP %.*s on %.*s", STR_ARG(action->mcp_tool_call->tool_name),
		           STR_ARG(action->mcp_tool_call->server));
	else
		for (size_t i = 0; i < action->apply_patch->files_count; i++)
			buf_printf(out, "%s%.*s", i ? ", " : "patch of ", STR_ARG(action->apply_patch->files[i]));
}

static void write_text(const struct ev_guardian_assessment *body, struct buf *out)
{
	static const char *const words[] = {
		[guardian_status_in_progress] = "In progress", [guardian_status_approved] = "Approved",
		[guardian_status_denied] = "Denied",           [guardian_status_timed_out] = "Timed out",
		[guardian_status_aborted] = "Aborted",
	};
	buf_printf(out, "Status: %s\nAction: ", words[body->status]);
	write_action(body->action, out);
	if (body->has_risk_level)
		buf_printf(out, "\nRisk: %s\nAuthorization: %s",
		           enum_wire(&enum_guardian_risk_level, (int)body->risk_level),
		           enum_wire(&enum_guardian_user_authorization, (int)body->user_authorization));
	if (body->rationale.len)
		buf_printf(out, "\nRationale: %.*s", STR_ARG(body->rationale));
}

void on_acp_event_guardian_assessment(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text, input;
	const struct ev_guardian_assessment *body = event->msg.guardian_assessment;
	bool is_running = body->status == guardian_status_in_progress;
	buf_init(&text, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&input, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&input);
	jw_object(&w);
	jw_key(&w, "action");
	union_encode(&union_guardian_action, body->action, &w);
	jw_object_end(&w);
	write_text(body, &text);
	struct acp_tool_content content = acp_tool_text(buf_str(&text), &arena);
	struct acp_tool_call call = {
		.tool_call_id = str_of(arena_printf(&arena, "guardian_assessment:%.*s", STR_ARG(body->id))),
		.title = STR("Guardian Review"),
		.kind = acp_tool_kind_think,
		.status = is_running                                 ? acp_tool_status_in_progress
	                  : body->status == guardian_status_approved ? acp_tool_status_completed
	                                                             : acp_tool_status_failed,
		.content = &content,
		.content_count = 1,
		.raw_input = buf_str(&input),
	};
	if (is_running)
		acp_tool_begin(session, &call);
	else
		acp_tool_end(session, &call);
}
