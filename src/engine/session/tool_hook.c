/* The arguments of a call are parsed again here, because hooks run before the tool has read them. */
#include "engine/session/tool_hook.h"

#include <string.h>

#include "base/limits.h"
#include "base/text.h"
#include "command/shell.h"
#include "engine/session/session_hooks.h"
#include "tool/mcp/mcp_offer.h"

static const char *const patch_aliases[] = {"Edit", "Write", NULL};

static bool is_tool(const struct tool_call *call, enum tool_tag tag)
{
	return call->type == tool_get(tag);
}

static bool is_command(const struct tool_call *call)
{
	return is_tool(call, TOOL_exec_command) || is_tool(call, TOOL_shell) || is_tool(call, TOOL_shell_command);
}

static const char *command_key(const struct tool_call *call)
{
	return is_tool(call, TOOL_exec_command) ? "cmd" : is_tool(call, TOOL_apply_patch) ? "input" : "command";
}

/* True for a vector that is a shell with a script: ["bash", "-lc", SCRIPT]. */
static bool is_script(const struct json *words)
{
	struct str option = STR_NONE;
	return json_is(words, JSON_array) && words->count == 3 && json_to_str(json_at(words, 1), &option) &&
	       (str_is(option, "-lc") || str_is(option, "-c"));
}

static struct str line_of_words(const struct json *words, struct arena *arena)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_USER_COMMAND * 8);
	struct str script = STR_NONE;
	const char **argv = arena_array(arena, const char *, words->count + 1);
	size_t count = 0;
	if (is_script(words) && json_to_str(json_at(words, 2), &script))
		return arena_str(arena, script);
	json_for_each(it, words)
		argv[count++] = arena_cstr(arena, it->text.ptr ? it->text : STR(""));
	shell_join(&line, argv);
	return arena_str(arena, buf_str(&line));
}

static struct str command_of(const struct tool_call *call, struct arena *arena)
{
	struct str text = STR("");
	if (call->is_custom)
		return call->input;
	const struct json *value = json_get(json_parse(arena, call->input, NULL), command_key(call));
	if (json_is(value, JSON_array))
		return line_of_words(value, arena);
	json_to_str(value, &text);
	return text;
}

static struct str mcp_name(const struct mcp_offered *offered, struct arena *arena)
{
	auto_buf struct buf name;
	buf_init(&name, LIMIT_TOOL_NAMESPACE + LIMIT_TOOL_NAME + 16);
	if (!str_has_prefix(offered->namespace, "mcp__"))
		buf_append_c(&name, "mcp__");
	buf_append_str(&name, offered->namespace);
	if (!str_has_suffix(offered->namespace, "__"))
		buf_append_c(&name, "__");
	buf_append_str(&name, offered->name);
	return arena_str(arena, buf_str(&name));
}

struct tool_hook_view tool_hook_view(const struct tool_call *call, struct arena *arena)
{
	if (is_command(call))
		return (struct tool_hook_view){.name = STR("Bash"), .command = command_of(call, arena)};
	if (is_tool(call, TOOL_apply_patch))
		return (struct tool_hook_view){STR("apply_patch"), patch_aliases, command_of(call, arena)};
	if (call->mcp.start && call->mcp.offered)
		return (struct tool_hook_view){.name = mcp_name(call->mcp.offered, arena)};
	return (struct tool_hook_view){.name = arena_str(arena, call->name)};
}

static void write_arguments(const struct tool_call *call, struct arena *arena, struct json_writer *w)
{
	const struct json *json = call->is_custom ? NULL : json_parse(arena, call->input, NULL);
	if (json)
		jw_value(w, json);
	else
		jw_str(w, call->input);
}

void tool_hook_write_input(const struct tool_call *call, struct json_writer *w)
{
	auto_arena struct arena arena = {0};
	struct tool_hook_view view = tool_hook_view(call, &arena);
	jw_member_str(w, "tool_name", view.name);
	jw_key(w, "tool_input");
	if (view.command.ptr) {
		jw_object(w);
		jw_member_str(w, "command", view.command);
		jw_object_end(w);
	} else {
		write_arguments(call, &arena, w);
	}
	jw_member_str(w, "tool_use_id", call->call_id);
}

/* A command's output follows lines about its end. */
static void write_response(const struct tool_call *call, struct json_writer *w)
{
	struct str text = buf_str(call->recorded.len ? &call->recorded : &call->output);
	ptrdiff_t at = is_command(call) ? str_find(text, STR("Output:\n")) : -1;
	jw_key(w, "tool_response");
	if (call->parts.len && !call->recorded.len)
		jw_raw(w, buf_str(&call->parts));
	else
		jw_str(w, at < 0 ? text : str_skip(text, (size_t)at + strlen("Output:\n")));
}

/* ---- replacing ---- */

static void write_command(const struct json *old, struct str command, struct json_writer *w)
{
	if (!json_is(old, JSON_array)) {
		jw_str(w, command);
		return;
	}
	jw_array(w);
	for (size_t i = 0; i < 2 && is_script(old); i++)
		jw_value(w, json_at(old, i));
	if (!is_script(old)) {
		jw_cstr(w, "bash");
		jw_cstr(w, "-lc");
	}
	jw_str(w, command);
	jw_array_end(w);
}

static struct str with_command(struct tool_call *call, struct str command)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	const char *key = command_key(call);
	const struct json *old = json_parse(&arena, call->input, NULL);
	buf_init(&out, LIMIT_TOOL_ITEM);
	if (call->is_custom)
		return arena_str(&call->arena, command);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	json_for_each(it, json_is(old, JSON_object) ? old : NULL) {
		if (str_is(it->key, key))
			continue;
		jw_key_str(&w, it->key);
		jw_value(&w, it);
	}
	jw_key(&w, key);
	write_command(json_get(old, key), command, &w);
	jw_object_end(&w);
	return out.over ? STR_NONE : arena_str(&call->arena, buf_str(&out));
}

static bool replace(struct tool_call *call, struct str updated)
{
	auto_arena struct arena arena = {0};
	struct str command = STR_NONE, input;
	const struct json *json = json_parse(&arena, updated, NULL);
	bool has_command = is_command(call) || is_tool(call, TOOL_apply_patch);
	if (has_command && !json_to_str(json_get(json, "command"), &command))
		return false;
	input = has_command ? with_command(call, command) : arena_str(&call->arena, updated);
	if (input.ptr)
		call->input = input;
	return input.ptr != NULL;
}

static void refuse(struct tool_call *call, struct str reason)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	struct tool_hook_view view = tool_hook_view(call, &arena);
	bool is_line = is_command(call);
	struct str what = is_line ? view.command : view.name;
	what.len = what.len > LIMIT_TOOL_OUTPUT / 2 ? text_floor_boundary(what, LIMIT_TOOL_OUTPUT / 2) : what.len;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_printf(&text, "%s blocked by PreToolUse hook: %.*s. %s: %.*s", is_line ? "Command" : "Tool call",
	           STR_ARG(reason), is_line ? "Command" : "Tool", STR_ARG(what));
	call->is_blocked = true;
	tool_call_finish(call, false, buf_str(&text));
}

void tool_hook_begin(struct tool_call *call, const struct hook_result *result)
{
	if (result->is_blocked)
		refuse(call, result->reason);
	else if (result->updated_input.len && !replace(call, result->updated_input))
		refuse(call, STR("its updatedInput does not fit this tool"));
	else
		tool_call_start(call);
}

void tool_hook_withhold(struct tool_call *call, struct str reason)
{
	buf_clear(&call->value);
	buf_clear(&call->output);
	buf_clear(&call->recorded);
	buf_clear(&call->parts);
	buf_clear(&call->follow_up);
	buf_append_str(&call->output, reason.len ? reason : STR("The output was withheld by a PostToolUse hook."));
}

/* ---- running ---- */

static void write_before(struct json_writer *w, const void *call)
{
	tool_hook_write_input(call, w);
}

static void write_after(struct json_writer *w, const void *call)
{
	tool_hook_write_input(call, w);
	write_response(call, w);
}

struct hook_batch *tool_hook_start(struct session *session, const struct settings *settings, struct tool_call *call,
                                   enum hook_event event, hook_done_fn done, void *self)
{
	auto_arena struct arena arena = {0};
	bool is_known = call->type || call->dynamic || call->mcp.start;
	if (!is_known || !session_hooks_has(session, event))
		return NULL;
	struct tool_hook_view view = tool_hook_view(call, &arena);
	const struct session_hook hook = {
		.event = event,
		.turn_id = call->turn_id,
		.settings = settings,
		.subject = {view.name.ptr, view.aliases},
		.tag = call->call_id.ptr,
		.write = event == hook_event_pre_tool_use ? write_before : write_after,
		.arg = call,
	};
	return session_hooks_start(session, &hook, done, self);
}
