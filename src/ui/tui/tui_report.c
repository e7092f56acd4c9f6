/* Commands that show something: status, MCP servers, background terminals, changes of the work tree. */
#include <stdio.h>

#include "base/arena.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/hook_config.h"
#include "protocol/message/approval.h"
#include "protocol/message/message.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_git.h"
#include "ui/tui/tui_priv.h"

/* ---- status ---- */

void on_slash_status(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	auto_free char *guide = path_join(tui->cwd, "AGENTS.md");
	(void)text;
	buf_init(&out, LIMIT_LINE);
	buf_printf(&out, "Model: %s %s\nModel provider: %s\nDirectory: %s\n", tui->model ? tui->model : "",
	           tui->effort ? tui->effort : "", tui->config->model_provider, tui->cwd);
	buf_printf(&out, "Permissions: %s\nAgents.md: %s\n",
	           tui->permissions ? tui->permissions : approval_name(tui->config->approval_policy),
	           file_exists(guide) ? "AGENTS.md" : "none");
	buf_printf(&out, "Collaboration mode: %s\nSession: %s\n", tui->is_plan_mode ? "Plan" : "Default",
	           tui->session_id ? tui->session_id : "");
	if (tui->thread_name)
		buf_printf(&out, "Name: %s\n", tui->thread_name);
	tui_attach_describe(tui, &out);
	tui_status_append_usage(tui, &out);
	tui_cells_note(tui->cells, buf_str(&out));
}

/* ---- the configuration ---- */

void on_slash_config(struct tui *tui, struct str text)
{
	size_t count;
	const struct config_layer *layers = config_layers(tui->config, &count);
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	buf_append_c(&out, "Settings; later files override earlier ones\n");
	for (size_t i = 0; i < count; i++) {
		const char *separator = ": ";
		buf_printf(&out, "  %s", layers[i].root->source);
		toml_for_each(it, layers[i].root) {
			buf_printf(&out, "%s%.*s", separator, STR_ARG(it->key));
			separator = ", ";
		}
		buf_append_char(&out, '\n');
	}
	tui_cells_note(tui->cells, buf_str(&out));
}

void on_slash_hooks(struct tui *tui, struct str text)
{
	struct hook_config hooks;
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	hook_config_init(&hooks, tui->config);
	buf_append_c(&out, "Hooks\n");
	vec_for_each(hook, &hooks.list.hooks)
		buf_printf(&out, "  %s%s%s: %s%s\n", hook_events[hook->event].name, hook->matcher ? " " : "",
		           hook->matcher ? hook->matcher : "", hook->command,
		           hook->is_usable ? "" : " (does not run; see codex hooks)");
	if (!hooks.list.hooks.count)
		buf_append_c(&out, "  No hooks apply in this folder.\n");
	hook_config_finish(&hooks);
	tui_cells_note(tui->cells, buf_str(&out));
}

/* ---- MCP servers ---- */

void on_slash_mcp(struct tui *tui, struct str text)
{
	tui->wants_tools = str_is(text, "verbose") ? TOOLS_by_name : TOOLS_by_count;
	tui_submit(tui, OP_list_mcp_tools, NULL);
}

/* The name of a tool is mcp__SERVER__TOOL. */
static bool belongs_to(struct str tool, struct str server, struct str *ret_name)
{
	struct str rest = tool;
	if (!str_cut_prefix(&rest, "mcp__") || rest.len < server.len + 2 ||
	    !str_eq(str_n(rest.ptr, server.len), server) || memcmp(rest.ptr + server.len, "__", 2) != 0)
		return false;
	*ret_name = str_skip(rest, server.len + 2);
	return true;
}

static void add_server(struct buf *out, const struct json *server, const struct json *tools, bool has_names)
{
	size_t count = 0;
	struct str name, state = STR("");
	auto_buf struct buf names;
	buf_init(&names, LIMIT_LINE);
	json_for_each(it, tools) {
		if (!belongs_to(it->key, server->key, &name))
			continue;
		count++;
		buf_printf(&names, "    %.*s\n", STR_ARG(name));
	}
	json_to_str(server, &state);
	buf_printf(out, "  %.*s: %zu %s%s%.*s\n", STR_ARG(server->key), count, count == 1 ? "tool" : "tools",
	           str_is(state, "unsupported") ? "" : ", ", str_is(state, "unsupported") ? 0 : (int)state.len,
	           state.ptr);
	if (has_names)
		buf_append_str(out, buf_str(&names));
}

void tui_show_tools(struct tui *tui, const struct ev_mcp_list_tools *list)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf out;
	bool has_names = tui->wants_tools == TOOLS_by_name;
	buf_init(&out, LIMIT_LINE);
	if (tui->wants_tools == TOOLS_unwanted)
		return;
	tui->wants_tools = TOOLS_unwanted;
	const struct json *servers = json_parse(&arena, list->auth_statuses, NULL);
	const struct json *tools = json_parse(&arena, list->tools, NULL);
	buf_append_c(&out, "MCP Tools\n");
	json_for_each(server, servers)
		add_server(&out, server, tools, has_names);
	if (!servers || !servers->child)
		buf_append_c(&out, "  No MCP servers are configured; `codex mcp add` adds one.\n");
	tui_cells_note(tui->cells, buf_str(&out));
}

/* ---- background terminals ---- */

/* Calls may repeat an id while a command still runs, and the model chooses the ids of calls: one may be that of a
 * process. */
static bool is_terminal(const struct tui_terminal *terminal, const struct ev_exec_end *ended)
{
	return terminal->has_process ? str_is(ended->process_id, terminal->id)
	                             : !ended->process_id.ptr && str_is(ended->call_id, terminal->id);
}

void tui_terminal_begun(struct tui *tui, const struct ev_exec_begin *begun)
{
	bool has_process = begun->process_id.ptr;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	terminal_script_append(&text, begun->command, begun->command_count);
	if (text.over) {
		buf_clear(&text);
		buf_append_c(&text, "(a command that is too long to be shown)");
	}
	if (tui->terminals.count < LIMIT_COMMANDS)
		vec_push(&tui->terminals,
		         (struct tui_terminal){str_dup(has_process ? begun->process_id : begun->call_id),
		                               buf_take(&text), has_process, false});
}

void tui_terminal_ended(struct tui *tui, const struct ev_exec_end *ended)
{
	for (size_t i = tui->terminals.count; i-- > 0;) {
		struct tui_terminal *terminal = &tui->terminals.items[i];
		if (ended && !is_terminal(terminal, ended))
			continue;
		free(terminal->id);
		free(terminal->text);
		*terminal = tui->terminals.items[--tui->terminals.count];
		if (ended)
			return;
	}
}

void tui_terminals_leave(struct tui *tui)
{
	vec_for_each(terminal, &tui->terminals)
		terminal->in_background = true;
}

size_t tui_terminals_write(const struct tui *tui, char *text, size_t size)
{
	size_t count = 0;
	vec_for_each(terminal, &tui->terminals)
		count += terminal->in_background;
	snprintf(text, size, "  %zu background terminal%s running · /ps to view · /stop to close", count,
	         count == 1 ? "" : "s");
	return count;
}

void on_slash_ps(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	buf_append_c(&out, "Background terminals\n");
	vec_for_each(terminal, &tui->terminals)
		buf_printf(&out, "  %s\n", terminal->text);
	if (!tui->terminals.count)
		buf_append_c(&out, "  None is running.\n");
	tui_cells_note(tui->cells, buf_str(&out));
}

void on_slash_stop(struct tui *tui, struct str text)
{
	(void)text;
	tui_submit(tui, OP_clean_background_terminals, NULL);
	tui_cells_note(tui->cells, STR("Stopping all background terminals"));
}

/* ---- changes of the work tree ---- */

#define SHOW_NEW "$GIT diff --no-ext-diff --no-textconv --no-color --no-index -- /dev/null \"$0\""

static const struct tui_git_script diff_script = {
	.text = "test \"$($GIT rev-parse --is-inside-work-tree)\" = true || exit 8; "
		"$GIT diff --no-ext-diff --no-textconv --no-color; "
		"export GIT; $GIT ls-files -z --others --exclude-standard | xargs -0 -r -n1 sh -c '" SHOW_NEW
		"'; exit 0"};

static void on_diff(struct str output, bool is_ok, void *self)
{
	struct tui *tui = self;
	tui->git = NULL;
	if (!is_ok)
		tui_cells_fail(tui->cells, STR("/diff: this folder is not inside a git repository"));
	else if (!output.len)
		tui_cells_note(tui->cells, STR("No changes in the work tree"));
	else
		tui_diff_open(tui, output);
	tui_frame_change(tui->frame);
}

void on_slash_diff(struct tui *tui, struct str text)
{
	(void)text;
	tui_git_cancel(tui->git);
	tui->git = tui_git_start(tui->loop, tui->cwd, &diff_script, on_diff, tui);
}

/* ---- reports ---- */

void on_slash_feedback(struct tui *tui, struct str text)
{
	auto_buf struct buf out;
	(void)text;
	buf_init(&out, LIMIT_LINE);
	buf_printf(&out,
	           "Nothing is uploaded. To report a problem, attach what you want to show:\n"
	           "  this session: %s\n  versions and checks: codex doctor\n",
	           tui->rollout_path ? tui->rollout_path : "not recorded");
	tui_cells_note(tui->cells, buf_str(&out));
}
