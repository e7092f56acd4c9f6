/* Each kind of item is built by one function, with its final status; a call that begins gets another one afterwards. */
#include "acp/acp_tool.h"

#include <string.h>

#include "acp/acp_diff.h"
#include "acp/acp_session.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "command/shell.h"
#include "protocol/message/app.h"

struct acp_tool_content acp_tool_text(struct str text, struct arena *arena)
{
	struct acp_content *content = arena_new(arena, struct acp_content);
	content->content = arena_new(arena, struct acp_block);
	content->content->tag = acp_block_text;
	content->content->text = arena_new(arena, struct acp_text);
	content->content->text->text = text;
	return (struct acp_tool_content){.tag = acp_tool_content_content, .content = content};
}

static void set_text(struct acp_tool_call *call, struct str text, struct arena *arena)
{
	if (!text.len)
		return;
	call->content = arena_new(arena, struct acp_tool_content);
	call->content[0] = acp_tool_text(text, arena);
	call->content_count = 1;
}

/* Returns an object of texts; values of STR_NONE are omitted. */
static struct str object_of(const char *const *keys, const struct str *values, size_t count, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	for (size_t i = 0; i < count; i++) {
		if (values[i].ptr)
			jw_member_str(&w, keys[i], values[i]);
	}
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

/* ---- kinds of items ---- */

/* The title is the script, without the shell that runs it. */
static struct str command_title(struct str command, struct arena *arena)
{
	const char **words;
	if (!shell_split(command, arena, &words) || !words[0] || !words[1] || !words[2] || words[3])
		return command;
	bool is_script = strcmp(words[1], "-lc") == 0 || strcmp(words[1], "-c") == 0;
	return is_script && shell_is_known(words[0]) ? str_of(words[2]) : command;
}

static void add_location(struct acp_tool_call *call, struct str path)
{
	if (path.len && path.ptr[0] == '/')
		call->locations[call->locations_count++] = (struct acp_location){path};
}

static void of_command(const struct app_item_command_execution *command, struct arena *arena, struct acp_tool_call *ret)
{
	static const char *const keys[] = {"command", "cwd"};
	struct str title = command_title(command->command, arena);
	struct str values[] = {title, command->cwd};
	*ret = (struct acp_tool_call){
		.tool_call_id = command->id,
		.title = title,
		.kind = acp_tool_kind_execute,
		.status = command->status == app_command_execution_status_completed     ? acp_tool_status_completed
	                  : command->status == app_command_execution_status_in_progress ? acp_tool_status_in_progress
	                                                                                : acp_tool_status_failed,
		.locations = arena_array(arena, struct acp_location, command->command_actions_count + 1),
		.raw_input = object_of(keys, values, 2, arena),
	};
	for (size_t i = 0; i < command->command_actions_count; i++) {
		if (command->command_actions[i].tag == app_command_action_read)
			add_location(ret, command->command_actions[i].read->path);
	}
	set_text(ret, command->aggregated_output, arena);
}

static void of_patch(const struct app_item_file_change *patch, struct str cwd, struct arena *arena,
                     struct acp_tool_call *ret)
{
	*ret = (struct acp_tool_call){
		.tool_call_id = patch->id,
		.title = STR("Editing files"),
		.kind = acp_tool_kind_edit,
		.status = patch->status == app_patch_apply_status_completed     ? acp_tool_status_completed
	                  : patch->status == app_patch_apply_status_in_progress ? acp_tool_status_in_progress
	                                                                        : acp_tool_status_failed,
		.content = acp_diff_of_patch(patch, cwd, arena),
		.content_count = patch->changes_count,
		.locations = arena_array(arena, struct acp_location, patch->changes_count + 1),
	};
	for (size_t i = 0; i < patch->changes_count; i++)
		add_location(ret, ret->content[i].diff->path);
}

static void of_tool(struct str id, struct str title, enum acp_tool_kind kind, struct acp_tool_call *ret)
{
	*ret = (struct acp_tool_call){
		.tool_call_id = id,
		.title = title.len ? title : STR("Tool"),
		.kind = kind,
		.status = acp_tool_status_completed,
	};
}

/* The tools of acp_client_file.c are shown as when they ran. */
static void of_dynamic(const struct app_item_dynamic_tool_call *tool, struct str cwd, struct arena *arena,
                       struct acp_tool_call *ret)
{
	bool is_read = str_is(tool->tool, "read_editor_file"), is_write = str_is(tool->tool, "write_editor_file");
	of_tool(tool->id, tool->tool, acp_tool_kind_other, ret);
	ret->raw_input = tool->arguments;
	if (tool->status == app_dynamic_tool_call_status_failed)
		ret->status = acp_tool_status_failed;
	struct str name =
		is_read || is_write ? json_get_str(json_parse(arena, tool->arguments, NULL), "path") : STR_NONE;
	if (!name.len || str_has_nul(name))
		return;
	auto_free char *folder = str_dup(cwd), *file = str_dup(name);
	auto_free char *joined = path_join(folder, file);
	auto_free char *path = path_normalize(joined);
	ret->title = str_of(arena_printf(arena, "%s %s", is_write ? "Write" : "Read", path));
	ret->kind = is_write ? acp_tool_kind_edit : acp_tool_kind_read;
	ret->locations = arena_array(arena, struct acp_location, 1);
	add_location(ret, arena_str(arena, str_of(path)));
}

/* ---- MCP ---- */

/* Returns {"server":…,"tool":…,"arguments":…}. */
static struct str mcp_input(const struct app_thread_item_mcp_tool_call *call, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "server", call->server);
	jw_member_str(&w, "tool", call->tool);
	jw_member_raw(&w, "arguments", call->arguments.ptr ? call->arguments : STR("null"));
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

/* Returns {"result":…,"error":…}; one of them is null. */
static struct str mcp_output(const struct app_thread_item_mcp_tool_call *call, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_key(&w, "result");
	if (call->result)
		record_encode(&record_app_mcp_tool_call_result, call->result, &w);
	else
		jw_null(&w);
	jw_member_str(&w, "error", call->error ? call->error->message : STR_NONE);
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

/* Adds the texts and images of a CallToolResult. */
static void add_mcp_content(struct acp_tool_call *call, const struct json *content, struct arena *arena)
{
	call->content = arena_array(arena, struct acp_tool_content, content ? content->count : 0);
	json_for_each(it, content) {
		struct str type = json_get_str(it, "type");
		struct acp_tool_content part = acp_tool_text(json_get_str(it, "text"), arena);
		if (str_is(type, "image")) {
			struct acp_image *image = arena_new(arena, struct acp_image);
			*image = (struct acp_image){json_get_str(it, "mimeType"), json_get_str(it, "data")};
			*part.content->content = (struct acp_block){.tag = acp_block_image, .image = image};
			if (image->mime_type.ptr && image->data.ptr)
				call->content[call->content_count++] = part;
		} else if (str_is(type, "text") && json_get_str(it, "text").ptr) {
			call->content[call->content_count++] = part;
		}
	}
}

/* The result is absent from calls that run, and from rollouts of old versions. */
static void of_mcp(const struct app_thread_item_mcp_tool_call *call, struct arena *arena, struct acp_tool_call *ret)
{
	of_tool(call->id, str_of(arena_printf(arena, "mcp.%.*s.%.*s", STR_ARG(call->server), STR_ARG(call->tool))),
	        acp_tool_kind_execute, ret);
	ret->raw_input = mcp_input(call, arena);
	ret->status = call->status == app_mcp_tool_call_status_completed     ? acp_tool_status_completed
	              : call->status == app_mcp_tool_call_status_in_progress ? acp_tool_status_in_progress
	                                                                     : acp_tool_status_failed;
	if (call->result || call->error)
		ret->raw_output = mcp_output(call, arena);
	if (call->error)
		set_text(ret, call->error->message, arena);
	else if (call->result)
		add_mcp_content(ret, json_parse(arena, call->result->content, NULL), arena);
}

/* ---- subagents ---- */

static void of_collab(const struct app_item_collab_agent_tool_call *call, struct arena *arena,
                      struct acp_tool_call *ret)
{
	of_tool(call->id,
	        str_of(arena_printf(arena, "Subagent: %s", enum_wire(&enum_app_collab_agent_tool, (int)call->tool))),
	        acp_tool_kind_think, ret);
	if (call->status == app_collab_agent_tool_call_status_failed)
		ret->status = acp_tool_status_failed;
	set_text(ret, call->prompt, arena);
}

/* ---- all kinds ---- */

bool acp_tool_of_item(const struct app_thread_item *item, struct str cwd, struct arena *arena,
                      struct acp_tool_call *ret)
{
	switch (item->tag) {
	case app_thread_item_command_execution:
		of_command(item->command_execution, arena, ret);
		return true;
	case app_thread_item_file_change:
		of_patch(item->file_change, cwd, arena, ret);
		return true;
	case app_thread_item_dynamic_tool_call:
		of_dynamic(item->dynamic_tool_call, cwd, arena, ret);
		return true;
	case app_thread_item_mcp_tool_call:
		of_mcp(item->mcp_tool_call, arena, ret);
		return true;
	case app_thread_item_web_search:
		of_tool(item->web_search->id, item->web_search->query, acp_tool_kind_fetch, ret);
		return true;
	case app_thread_item_image_view:
		of_tool(item->image_view->id, STR("View image"), acp_tool_kind_read, ret);
		ret->locations = arena_array(arena, struct acp_location, 1);
		add_location(ret, item->image_view->path);
		return true;
	case app_thread_item_collab_agent_tool_call:
		of_collab(item->collab_agent_tool_call, arena, ret);
		return true;
	default:
		return false;
	}
}

/* ---- sending ---- */

static struct acp_tool_call_change change_of(const struct acp_tool_call *call)
{
	return (struct acp_tool_call_change){
		.tool_call_id = call->tool_call_id,
		.has_status = true,
		.status = call->status,
		.content = call->content,
		.content_count = call->content_count,
		.raw_output = call->raw_output,
		._meta = call->_meta,
	};
}

void acp_tool_begin(struct acp_session *session, const struct acp_tool_call *call)
{
	struct acp_tool_call_change change = change_of(call);
	if (acp_tool_find(session, call->tool_call_id)) {
		acp_session_update(session, acp_update_tool_call_update, &change);
		return;
	}
	acp_tool_add(session, call->tool_call_id);
	acp_session_update(session, acp_update_tool_call, call);
}

void acp_tool_end(struct acp_session *session, const struct acp_tool_call *call)
{
	struct acp_tool *tool = acp_tool_find(session, call->tool_call_id);
	struct acp_tool_call_change change = change_of(call);
	if (tool)
		acp_session_update(session, acp_update_tool_call_update, &change);
	else
		acp_session_update(session, acp_update_tool_call, call);
	acp_tool_remove(tool);
}

void acp_tool_web_search(struct acp_session *session, const struct web_search_item *item, bool is_complete)
{
	struct acp_tool_call call;
	of_tool(item->id, item->query.len ? item->query : STR("Web search"), acp_tool_kind_fetch, &call);
	struct acp_tool_call_change title = {.tool_call_id = item->id, .title = call.title};
	if (is_complete && acp_tool_find(session, item->id)) /* the query is known now */
		acp_session_update(session, acp_update_tool_call_update, &title);
	if (!is_complete) {
		call.status = acp_tool_status_in_progress;
		acp_tool_begin(session, &call);
	} else {
		acp_tool_end(session, &call);
	}
}
