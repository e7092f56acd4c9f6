/* The editor writes without the engine's sandbox, so a write needs the user's permission in every mode but full access,
 * inside the workspace too: the editor may follow links, and its folders .git and .codex are protected from commands.
 * With the approval policy never, the write is refused. Reading needs no permission, as commands may
 * read all files, too. */
#include "acp/acp_client_file.h"

#include "acp/acp_diff.h"
#include "acp/acp_job.h"
#include "acp/acp_limits.h"
#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

static const char read_spec[] =
	"{\"name\":\"read_editor_file\",\"description\":\"Returns the text of a file as the user's editor has it, "
	"including "
	"changes that were not saved. Prefer it to commands for files that the user may be editing.\",\"inputSchema\":{"
	"\"type\":\"object\",\"properties\":{\"path\":{\"type\":\"string\",\"description\":\"absolute, or relative to "
	"the "
	"working folder\"},\"line\":{\"type\":\"integer\",\"description\":\"first line, from 1\"},\"limit\":{\"type\":"
	"\"integer\",\"description\":\"number of lines\"}},\"required\":[\"path\"],\"additionalProperties\":false}}";
static const char write_spec[] =
	"{\"name\":\"write_editor_file\",\"description\":\"Replaces the text of a file through the user's editor. Only "
	"for "
	"files with unsaved changes; use apply_patch for all "
	"others.\",\"inputSchema\":{\"type\":\"object\",\"properties\":{"
	"\"path\":{\"type\":\"string\",\"description\":\"absolute, or relative to the working folder\"},\"content\":{"
	"\"type\":\"string\",\"description\":\"the whole new text\"}},\"required\":[\"path\",\"content\"],"
	"\"additionalProperties\":false}}";

struct str acp_client_file_specs(const struct acp_session *session, struct arena *arena)
{
	const struct acp_client *client = &session->server->client;
	if (!client->reads_files && !client->writes_files)
		return STR_NONE;
	return str_of(arena_printf(arena, "[%s%s%s]", client->reads_files ? read_spec : "",
	                           client->reads_files && client->writes_files ? "," : "",
	                           client->writes_files ? write_spec : ""));
}

/* ---- answers to the model ---- */

static void answer(struct acp_session *session, struct str call_id, bool success, struct str output)
{
	struct dynamic_tool_answer body = {.callId = call_id, .output = output, .success = success};
	codex_answer(session->codex, EV_dynamic_tool_call_request, call_id, &body);
}

static void fail(struct acp_session *session, struct str call_id, const char *what, struct str why)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RPC_ERROR);
	buf_printf(&text, "%s%s%.*s", what, why.len ? ": " : "", STR_ARG(why));
	answer(session, call_id, false, buf_str(&text));
}

static void on_read(struct acp_ask *ask, const void *result, struct str error)
{
	const struct acp_read_file_result *file = result;
	if (file)
		answer(ask->owner, str_of(ask->key), true, file->content);
	else
		fail(ask->owner, str_of(ask->key), "The editor could not read the file", error);
}

static void on_written(struct acp_ask *ask, const void *result, struct str error)
{
	if (result)
		answer(ask->owner, str_of(ask->key), true, STR("The editor has written the file."));
	else
		fail(ask->owner, str_of(ask->key), "The editor could not write the file", error);
}

/* ---- calls ---- */

/* Returns the absolute, normalised path of the arguments, or NULL. The caller frees it. */
static char *path_of(const struct acp_session *session, const struct json *arguments)
{
	struct str path = json_get_str(arguments, "path");
	if (!path.len || str_has_nul(path))
		return NULL;
	auto_free char *name = str_dup(path);
	auto_free char *joined = path_join(session->cwd, name);
	return path_normalize(joined);
}

static struct str title_of(bool is_write, const char *path, struct arena *arena)
{
	return str_of(arena_printf(arena, "%s %s", is_write ? "Write" : "Read", path));
}

static void show(struct acp_session *session, const struct ev_dynamic_tool_call *call, const char *path, bool is_write)
{
	auto_arena struct arena arena = {0};
	struct acp_location location = {str_of(path)};
	struct acp_tool_call view = {
		.tool_call_id = call->callId,
		.title = title_of(is_write, path, &arena),
		.kind = is_write ? acp_tool_kind_edit : acp_tool_kind_read,
		.status = is_write ? acp_tool_status_pending : acp_tool_status_in_progress,
		.locations = &location,
		.locations_count = 1,
		.raw_input = call->arguments,
	};
	acp_tool_begin(session, &view);
}

static void start_read(struct acp_session *session, const struct ev_dynamic_tool_call *call, const char *path,
                       const struct json *arguments)
{
	int64_t line = json_get_i64(arguments, "line", 0), limit = json_get_i64(arguments, "limit", 0);
	struct acp_read_file_params params = {
		.session_id = str_of(session->id),
		.path = str_of(path),
		.has_line = line > 0,
		.line = line,
		.has_limit = limit > 0,
		.limit = limit,
	};
	show(session, call, path, false);
	acp_ask_send(&session->server->wire, ACP_ASK_read_text_file, &params, session, call->callId, on_read);
}

/* ---- writes: the old text is read for the diff, then the user is asked ---- */

/* A single allocation: path, NUL, content. */
struct pending_write {
	size_t content_len;
	char text[];
};

static struct str content_of(const struct pending_write *write)
{
	return str_n(write->text + strlen(write->text) + 1, write->content_len);
}

static void write_now(struct acp_session *session, struct str call_id, const struct pending_write *write)
{
	struct acp_write_file_params params = {str_of(session->id), str_of(write->text), content_of(write)};
	acp_ask_send(&session->server->wire, ACP_ASK_write_text_file, &params, session, call_id, on_written);
}

static void on_permission(struct acp_ask *ask, const void *result, struct str error)
{
	const struct acp_permission_result *permission = result;
	(void)error;
	if (permission && str_is(permission->outcome->outcome, "selected") &&
	    str_is(permission->outcome->option_id, "allow_once"))
		write_now(ask->owner, str_of(ask->key), ask->self);
	else
		fail(ask->owner, str_of(ask->key), "The user did not allow this write", STR_NONE);
}

static void ask_permission(struct acp_session *session, const struct acp_tool_call *call, struct pending_write *write)
{
	struct acp_permission_option options[] = {
		{STR("allow_once"), STR("Allow"), acp_permission_kind_allow_once},
		{STR("cancel"), STR("Reject"), acp_permission_kind_reject_once},
	};
	auto_arena struct arena arena = {0};
	struct acp_location location = {str_of(write->text)};
	struct acp_tool_call_change change = {
		.tool_call_id = call->tool_call_id,
		.title = title_of(true, write->text, &arena),
		.has_kind = true,
		.kind = acp_tool_kind_edit,
		.has_status = true,
		.status = acp_tool_status_pending,
		.content = call->content,
		.content_count = call->content_count,
		.locations = &location,
		.locations_count = 1,
	};
	struct acp_permission_params params = {str_of(session->id), &change, options, countof(options), STR_NONE};
	struct acp_ask *ask = acp_ask_send(&session->server->wire, ACP_ASK_request_permission, &params, session,
	                                   call->tool_call_id, on_permission);
	ask->self = write;
}

/* old: STR_NONE if there is no such file. A text over LIMIT_ACP_DIFF_FILE is not shown. Takes write. */
static void show_write(struct acp_session *session, struct str call_id, struct str old, struct pending_write *write)
{
	struct str new_text = content_of(write);
	struct acp_diff diff = {str_of(write->text), old, new_text, STR_NONE};
	struct acp_tool_content content = {.tag = acp_tool_content_diff, .diff = &diff};
	bool is_small = old.len <= LIMIT_ACP_DIFF_FILE && new_text.len <= LIMIT_ACP_DIFF_FILE;
	struct acp_tool_call view = {
		.tool_call_id = call_id,
		.status = acp_tool_status_pending,
		.content = &content,
		.content_count = is_small ? 1 : 0,
	};
	acp_tool_begin(session, &view);
	if (session->choices.active_mode != ACP_MODE_agent_full_access) {
		ask_permission(session, &view, write);
		return;
	}
	write_now(session, call_id, write);
	free(write);
}

static void on_old_text(struct acp_ask *ask, const void *result, struct str error)
{
	const struct acp_read_file_result *file = result;
	(void)error;
	show_write(ask->owner, str_of(ask->key), file ? file->content : STR_NONE, steal(ask->self));
}

static void read_old_file(struct acp_reading *reading)
{
	const struct pending_write *write = reading->self;
	reading->text = acp_diff_read(write->text, &reading->arena);
}

static void on_old_file(struct acp_session *session, struct acp_reading *reading)
{
	show_write(session, reading->event->msg.dynamic_tool_call_request->callId, reading->text, steal(reading->self));
}

/* The editor may have other text than the disk. */
static void start_write(struct acp_session *session, const struct event *event, const char *path, struct str content)
{
	const struct ev_dynamic_tool_call *call = event->msg.dynamic_tool_call_request;
	show(session, call, path, true);
	if (!acp_choices_may_ask(&session->choices, session->config) &&
	    session->choices.active_mode != ACP_MODE_agent_full_access) {
		fail(session, call->callId,
		     "Writing through the editor needs a permission, and the approval policy is "
		     "never: use apply_patch",
		     STR_NONE);
		return;
	}
	struct pending_write *write = xmalloc(sizeof(*write) + strlen(path) + 1 + content.len);
	write->content_len = content.len;
	memcpy(write->text, path, strlen(path) + 1);
	memcpy(write->text + strlen(path) + 1, content.ptr, content.len);
	struct acp_read_file_params params = {.session_id = str_of(session->id), .path = str_of(write->text)};
	if (session->server->client.reads_files)
		acp_ask_send(&session->server->wire, ACP_ASK_read_text_file, &params, session, call->callId,
		             on_old_text)
			->self = write;
	else
		acp_reading_start(session, event, write, read_old_file, on_old_file);
}

void acp_client_file_call(struct acp_session *session, const struct event *event)
{
	const struct ev_dynamic_tool_call *call = event->msg.dynamic_tool_call_request;
	auto_arena struct arena arena = {0};
	const struct json *arguments = json_parse(&arena, call->arguments, NULL);
	auto_free char *path = path_of(session, arguments);
	struct str content = json_get_str(arguments, "content");
	const struct acp_client *client = &session->server->client;
	if (!path)
		fail(session, call->callId, "`path` must be the name of a file", STR_NONE);
	else if (str_is(call->tool, "read_editor_file") && client->reads_files)
		start_read(session, call, path, arguments);
	else if (str_is(call->tool, "write_editor_file") && client->writes_files && content.ptr)
		start_write(session, event, path, content);
	else
		fail(session, call->callId, "The editor does not offer this tool, or `content` is missing", STR_NONE);
}
