/* The arguments of a call are parsed again here, because hooks run before the tool has read them. */
#include "engine/session/tool_hook.h"

#include <string.h>

#include "base/limits.h"
#include "command/shell.h"
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
void tool_hook_write_response(const struct tool_call *call, struct json_writer *w)
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

bool tool_hook_replace(struct tool_call *call, struct str updated)
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

void tool_hook_refusal(const struct tool_call *call, struct str reason, struct buf *out)
{
	auto_arena struct arena arena = {0};
	struct tool_hook_view view = tool_hook_view(call, &arena);
	bool is_line = is_command(call);
	buf_printf(out, "%s blocked by PreToolUse hook: %.*s. %s: %.*s", is_line ? "Command" : "Tool call",
	           STR_ARG(reason), is_line ? "Command" : "Tool", STR_ARG(is_line ? view.command : view.name));
}
