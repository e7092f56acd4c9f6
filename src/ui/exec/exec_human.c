/* Progress is printed on stderr and the answer on stdout, so that `codex exec … > answer.md` contains only the answer.
 * Control characters in the output are escaped, and long output is truncated; the rollout has all of it. */
#include "ui/exec/exec_printer.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config_env.h"

#include "protocol/message/message.h"
#include "protocol/message/approval.h"
#include "ui/cli/status_line.h"
#include "ui/cli/terminal.h"

enum { OUTPUT_LINES_SHOWN = 20, PROMPT_LINES_SHOWN = 60, DIFF_LINES_SHOWN = 200, LINE_SHOWN = 2 * KIB };

struct exec_human {
	struct exec_printer printer;
	bool color;
	const struct exec_facts *facts;
	struct status_line *status;
	unsigned running; /* number of running commands */
	char *shown_call; /* id of the call whose command was printed last */
	struct buf text;  /* text of the current event for stderr */
	struct buf last;  /* the agent's last message */
	struct buf plan;  /* the plan that the agent proposed; empty: none */
	int64_t blended;
};

static const char *style(const struct exec_human *human, enum style which)
{
	return terminal_style(human->color, which);
}

/* ---- printing ---- */

static void flush(struct exec_human *human)
{
	status_line_erase(human->status);
	best_effort(fd_write_all(STDERR_FILENO, human->text.data, human->text.len, NULL));
	buf_clear(&human->text);
}

static void heading(struct exec_human *human, enum style which, const char *word)
{
	buf_printf(&human->text, "%s%s%s\n", style(human, which), word, style(human, STYLE_plain));
}

static void paragraph(struct exec_human *human, struct str text)
{
	terminal_text_append(&human->text, str_trim_end(text));
	buf_append_char(&human->text, '\n');
}

static void append_line(struct exec_human *human, enum style which, const char *mark, struct str line)
{
	size_t len = line.len > LINE_SHOWN ? text_floor_boundary(line, LINE_SHOWN) : line.len;
	buf_printf(&human->text, "%s%s", which == STYLE_plain ? "" : style(human, which), mark);
	terminal_text_append(&human->text, str_n(line.ptr, len));
	if (len < line.len)
		buf_printf(&human->text, "… %zu more bytes", line.len - len);
	buf_printf(&human->text, "%s\n", which == STYLE_plain ? "" : style(human, STYLE_plain));
}

static void append_rest(struct exec_human *human, size_t lines)
{
	if (lines)
		buf_printf(&human->text, "%s… %zu more line%s%s\n", style(human, STYLE_dim), lines,
		           lines == 1 ? "" : "s", style(human, STYLE_plain));
}

static void append_text(struct exec_human *human, struct str text, size_t most_lines)
{
	struct str line;
	size_t shown = 0, total = text_line_count(text);
	while (shown < most_lines && str_next_line(&text, &line)) {
		append_line(human, STYLE_plain, "", terminal_text_line(line));
		shown++;
	}
	append_rest(human, total - shown);
}

static void append_fact(struct exec_human *human, const char *name, struct str value)
{
	buf_printf(&human->text, "%s%s:%s ", style(human, STYLE_bold), name, style(human, STYLE_plain));
	terminal_text_append(&human->text, value);
	buf_append_char(&human->text, '\n');
}

/* Writes "workspace-write [workdir, /tmp, $TMPDIR, /srv/data] (network access enabled)". */
static void append_sandbox(struct exec_human *human, const struct sandbox *sandbox)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_append_c(&text, union_find_tag(&union_sandbox, (int)sandbox->tag)->wire);
	if (sandbox->tag == sandbox_workspace_write) {
		const struct workspace_write *write = sandbox->workspace_write;
		const char *tmpdir = config_env("TMPDIR");
		buf_append_c(&text, " [workdir");
		buf_append_c(&text, write->exclude_slash_tmp ? "" : ", /tmp");
		buf_append_c(&text, write->exclude_tmpdir_env_var || !tmpdir || !*tmpdir ? "" : ", $TMPDIR");
		for (size_t i = 0; i < write->writable_roots_count; i++)
			buf_printf(&text, ", %.*s", STR_ARG(write->writable_roots[i]));
		buf_append_c(&text, write->network_access ? "] (network access enabled)" : "]");
	}
	append_fact(human, "sandbox", buf_str(&text));
}

static void on_session_configured(struct exec_human *human, const struct event *event)
{
	const struct ev_session_configured *session = event->msg.session_configured;
	buf_append_c(&human->text, "Codex in C v" CODEX_VERSION "\n--------\n");
	append_fact(human, "workdir", session->cwd);
	append_fact(human, "model", session->model);
	append_fact(human, "provider", session->model_provider_id);
	append_fact(human, "approval", str_of(approval_name(session->approval_policy)));
	append_sandbox(human, session->sandbox_policy);
	if (session->has_reasoning_effort)
		append_fact(human, "reasoning effort",
		            str_of(enum_wire(&enum_reasoning_effort, (int)session->reasoning_effort)));
	append_fact(human, "session id", session->session_id);
	buf_append_c(&human->text, "--------\n");
	heading(human, STYLE_cyan, "user");
	append_text(human, str_trim_end(human->facts->prompt), PROMPT_LINES_SHOWN);
}

static void on_task_started(struct exec_human *human, const struct event *event)
{
	(void)event;
	status_line_set(human->status, "Waiting for the model", STR(""));
	status_line_start(human->status);
}

static void print_command(struct exec_human *human, const struct str *words, size_t count, struct str cwd,
                          struct str call_id)
{
	auto_buf struct buf command;
	buf_init(&command, LIMIT_LINE);
	terminal_command_append(&command, words, count);
	heading(human, STYLE_magenta, "exec");
	terminal_text_append(&human->text, buf_str(&command));
	buf_printf(&human->text, " %sin ", style(human, STYLE_dim));
	terminal_text_append(&human->text, cwd);
	buf_printf(&human->text, "%s\n", style(human, STYLE_plain));
	free(human->shown_call);
	human->shown_call = str_dup(call_id);
}

static void on_exec_begin(struct exec_human *human, const struct event *event)
{
	const struct ev_exec_begin *begun = event->msg.exec_command_begin;
	print_command(human, begun->command, begun->command_count, begun->cwd, begun->call_id);
	human->running++;
	if (begun->command_count) /* the script distinguishes this command from others */
		status_line_set(human->status, "Running ", begun->command[begun->command_count - 1]);
}

static void on_exec_end(struct exec_human *human, const struct event *event)
{
	const struct ev_exec_end *ended = event->msg.exec_command_end;
	int64_t ms = ended->duration ? ended->duration->secs * 1000 + ended->duration->nanos / 1000000 : 0;
	const char *end = ended->aggregated_output.len ? ":" : "";
	if (!human->shown_call || !str_is(ended->call_id, human->shown_call)) /* others started in between */
		print_command(human, ended->command, ended->command_count, ended->cwd, ended->call_id);
	if (ended->exit_code == 0)
		buf_printf(&human->text, "%s succeeded in %lldms%s%s\n", style(human, STYLE_green), (long long)ms, end,
		           style(human, STYLE_plain));
	else
		buf_printf(&human->text, "%s exited %lld in %lldms%s%s\n", style(human, STYLE_red),
		           (long long)ended->exit_code, (long long)ms, end, style(human, STYLE_plain));
	append_text(human, ended->aggregated_output, OUTPUT_LINES_SHOWN);
	human->running -= human->running > 0;
	status_line_set(human->status, human->running ? "Running commands" : "Waiting for the model", STR(""));
}

static void on_mcp_begin(struct exec_human *human, const struct event *event)
{
	const struct mcp_invocation *call = event->msg.mcp_tool_call_begin->invocation;
	heading(human, STYLE_magenta, "tool");
	terminal_text_append(&human->text, call->server);
	buf_append_char(&human->text, '.');
	terminal_text_append(&human->text, call->tool);
	buf_append_char(&human->text, '(');
	terminal_text_append(&human->text, call->arguments);
	buf_append_c(&human->text, ")\n");
	status_line_set(human->status, "Calling ", call->tool);
}

/* Prints the texts of the result, or the error. */
static void append_mcp_result(struct exec_human *human, const struct mcp_result *result, const struct json *answer)
{
	const struct json *data = json_get(answer, "structuredContent");
	if (result->tag == mcp_result_err) {
		append_text(human, result->err->reason, OUTPUT_LINES_SHOWN);
		return;
	}
	json_for_each(it, json_get(answer, "content"))
		append_text(human, json_get_str(it, "text"), OUTPUT_LINES_SHOWN);
	if (data && !json_get(answer, "content")->count)
		append_text(human, data->span, OUTPUT_LINES_SHOWN);
}

static void on_mcp_end(struct exec_human *human, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_mcp_call_end *ended = event->msg.mcp_tool_call_end;
	const struct mcp_result *result = ended->result;
	const struct json *answer = result->tag == mcp_result_ok ? json_parse(&arena, result->ok->answer, NULL) : NULL;
	bool is_ok = answer && !json_get_bool(answer, "isError", false);
	terminal_text_append(&human->text, ended->invocation->server);
	buf_append_char(&human->text, '.');
	terminal_text_append(&human->text, ended->invocation->tool);
	buf_printf(&human->text, "%s %s in %lldms:%s\n", style(human, is_ok ? STYLE_green : STYLE_red),
	           is_ok ? "succeeded" : "failed",
	           (long long)(ended->duration->secs * 1000 + ended->duration->nanos / 1000000),
	           style(human, STYLE_plain));
	append_mcp_result(human, result, answer);
	status_line_set(human->status, "Waiting for the model", STR(""));
}

/* Servers that are ready are not worth a line. */
static void on_mcp_startup(struct exec_human *human, const struct event *event)
{
	const struct ev_mcp_startup_update *update = event->msg.mcp_startup_update;
	if (update->status->tag != mcp_startup_status_failed)
		return;
	heading(human, STYLE_red, "mcp");
	append_text(human, update->status->failed->error, OUTPUT_LINES_SHOWN);
}

static enum style diff_style(struct str line)
{
	if (str_has_prefix(line, "+"))
		return STYLE_green;
	if (str_has_prefix(line, "-"))
		return STYLE_red;
	return str_has_prefix(line, "@@") ? STYLE_cyan : STYLE_dim;
}

/* Appends the lines of a diff, or those of a new file with the marks of a diff. */
static void append_diff(struct exec_human *human, struct str diff, bool is_new_file)
{
	struct str line;
	size_t shown = 0, total = text_line_count(diff);
	while (shown < DIFF_LINES_SHOWN && str_next_line(&diff, &line)) {
		append_line(human, is_new_file ? STYLE_green : diff_style(line), is_new_file ? "+" : "", line);
		shown++;
	}
	append_rest(human, total - shown);
}

static void append_change(struct exec_human *human, struct str path, const struct file_change *change)
{
	static const char letters[] = {[file_change_add] = 'A', [file_change_delete] = 'D', [file_change_update] = 'M'};
	buf_printf(&human->text, "%c ", letters[change->tag]);
	terminal_text_append(&human->text, path);
	if (change->tag == file_change_update && change->update->move_path.ptr) {
		buf_append_c(&human->text, " -> ");
		terminal_text_append(&human->text, change->update->move_path);
	}
	buf_append_char(&human->text, '\n');
	if (change->tag == file_change_update)
		append_diff(human, change->update->unified_diff, false);
	else if (change->tag == file_change_add)
		append_diff(human, change->add->content, true);
}

static void on_patch_begin(struct exec_human *human, const struct event *event)
{
	const struct ev_patch_begin *begun = event->msg.patch_apply_begin;
	heading(human, STYLE_magenta, "file update");
	for (size_t i = 0; i < begun->changes_count; i++)
		append_change(human, begun->changes_keys[i], &begun->changes[i]);
}

static void on_patch_end(struct exec_human *human, const struct event *event)
{
	const struct ev_patch_end *ended = event->msg.patch_apply_end;
	if (ended->success)
		return;
	heading(human, STYLE_red, "the patch was not applied:");
	paragraph(human, ended->standard_error);
}

static void print_thinking(struct exec_human *human, const struct reasoning_item *item)
{
	if (item->summary_text_count + item->raw_content_count)
		heading(human, STYLE_dim, "thinking");
	for (size_t i = 0; i < item->summary_text_count; i++)
		paragraph(human, item->summary_text[i]);
	for (size_t i = 0; i < item->raw_content_count; i++)
		paragraph(human, item->raw_content[i]);
}

static void print_plan(struct exec_human *human, const struct plan_item *item)
{
	heading(human, STYLE_magenta, "proposed plan");
	buf_clear(&human->plan);
	buf_append_str(&human->plan, str_trim_end(item->text));
	paragraph(human, buf_str(&human->plan));
}

static void on_item_completed(struct exec_human *human, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_agent_message) {
		heading(human, STYLE_magenta, "codex");
		buf_clear(&human->last);
		for (size_t i = 0; i < item->agent_message->content_count; i++)
			buf_append_str(&human->last, item->agent_message->content[i].text->text);
		paragraph(human, buf_str(&human->last));
	} else if (item->tag == turn_item_plan) {
		print_plan(human, item->plan);
	} else if (item->tag == turn_item_reasoning && !human->facts->hides_thinking) {
		print_thinking(human, item->reasoning);
	}
}

static void on_plan_update(struct exec_human *human, const struct event *event)
{
	static const char *const marks[] = {
		[step_status_pending] = "[ ]", [step_status_in_progress] = "[>]", [step_status_completed] = "[x]"};
	const struct ev_plan_update *update = event->msg.plan_update;
	heading(human, STYLE_magenta, "plan");
	if (update->explanation.ptr)
		paragraph(human, update->explanation);
	for (size_t i = 0; i < update->plan_count; i++) {
		buf_printf(&human->text, "  %s ", marks[update->plan[i].status]);
		paragraph(human, update->plan[i].step);
	}
}

static void on_token_count(struct exec_human *human, const struct event *event)
{
	const struct token_usage_info *info = event->msg.token_count->info;
	if (info) /* uncached tokens only */
		human->blended = info->total_token_usage->input_tokens - info->total_token_usage->cached_input_tokens +
		                 info->total_token_usage->output_tokens;
}

static void on_warning(struct exec_human *human, const struct event *event)
{
	buf_printf(&human->text, "%swarning:%s ", style(human, STYLE_yellow), style(human, STYLE_plain));
	paragraph(human, event->msg.warning->message);
}

static void on_guardian(struct exec_human *human, const struct event *event)
{
	paragraph(human, event->msg.guardian_warning->message);
}

static void on_error(struct exec_human *human, const struct event *event)
{
	buf_printf(&human->text, "%sERROR:%s ", style(human, STYLE_red), style(human, STYLE_plain));
	paragraph(human, event->msg.error->message);
}

static void on_stream_error(struct exec_human *human, const struct event *event)
{
	const struct ev_stream_error *error = event->msg.stream_error;
	terminal_text_append(&human->text, error->message);
	if (error->additional_details.ptr) {
		buf_append_c(&human->text, " (");
		terminal_text_append(&human->text, error->additional_details);
		buf_append_char(&human->text, ')');
	}
	buf_append_char(&human->text, '\n');
	status_line_set(human->status, "", error->message);
}

static void on_turn_aborted(struct exec_human *human, const struct event *event)
{
	(void)event;
	status_line_stop(human->status);
	heading(human, STYLE_yellow, "interrupted");
}

/* Prints the answer on stdout, unless it is already displayed because stdout and stderr are the same terminal. */
static void print_answer(struct exec_human *human, struct str answer, struct str shown)
{
	bool is_terminal = isatty(STDOUT_FILENO);
	if (is_terminal && isatty(STDERR_FILENO) && str_eq(answer, shown))
		return;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_SSE_EVENT * 2);
	if (is_terminal)
		terminal_text_append(&text, answer);
	else
		buf_append_str(&text, answer);
	buf_append_char(&text, '\n');
	exec_printer_write(&human->printer, buf_str(&text));
}

/* Appends a count with separators ("12,345"), as codex 0.169 does. */
static void append_count(struct exec_human *human, int64_t count)
{
	char digits[32];
	int len = snprintf(digits, sizeof(digits), "%lld", (long long)count);
	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			buf_append_char(&human->text, ',');
		buf_append_char(&human->text, digits[i]);
	}
	buf_append_char(&human->text, '\n');
}

static void on_task_complete(struct exec_human *human, const struct event *event)
{
	status_line_stop(human->status);
	if (human->blended > 0) {
		heading(human, STYLE_magenta, "tokens used");
		append_count(human, human->blended);
	}
	flush(human);
	struct str answer = event->msg.task_complete->last_agent_message;
	if (human->plan.len) /* the plan is the result; the message only comments on it */
		print_answer(human, buf_str(&human->plan), buf_str(&human->plan));
	else if (answer.ptr)
		print_answer(human, answer, buf_str(&human->last));
}

typedef void (*event_fn)(struct exec_human *human, const struct event *event);

static const event_fn handlers[EV_count] = {
	[EV_session_configured] = on_session_configured,
	[EV_task_started] = on_task_started,
	[EV_task_complete] = on_task_complete,
	[EV_turn_aborted] = on_turn_aborted,
	[EV_token_count] = on_token_count,
	[EV_item_completed] = on_item_completed,
	[EV_exec_command_begin] = on_exec_begin,
	[EV_exec_command_end] = on_exec_end,
	[EV_patch_apply_begin] = on_patch_begin,
	[EV_patch_apply_end] = on_patch_end,
	[EV_mcp_startup_update] = on_mcp_startup,
	[EV_mcp_tool_call_begin] = on_mcp_begin,
	[EV_mcp_tool_call_end] = on_mcp_end,
	[EV_plan_update] = on_plan_update,
	[EV_warning] = on_warning,
	[EV_guardian_warning] = on_guardian,
	[EV_error] = on_error,
	[EV_stream_error] = on_stream_error,
};

static void on_event(struct exec_printer *printer, const struct event *event)
{
	struct exec_human *human = (struct exec_human *)printer;
	if (!handlers[event->msg.tag])
		return;
	handlers[event->msg.tag](human, event);
	if (human->text.len)
		flush(human);
}

static void destroy(struct exec_printer *printer)
{
	struct exec_human *human = (struct exec_human *)printer;
	status_line_destroy(human->status);
	free(human->shown_call);
	buf_finish(&human->text);
	buf_finish(&human->last);
	buf_finish(&human->plan);
	free(human);
}

struct exec_printer *exec_human_create(struct loop *loop, const struct exec_facts *facts)
{
	struct exec_human *human = xnew(struct exec_human);
	human->printer = (struct exec_printer){.on_event = on_event, .destroy = destroy};
	human->facts = facts;
	human->color = terminal_has_color(facts->color, STDERR_FILENO);
	human->status = status_line_create(loop, human->color);
	buf_init(&human->text, (size_t)LIMIT_ROLLOUT_LINE * 2);
	buf_init(&human->last, LIMIT_SSE_EVENT);
	buf_init(&human->plan, LIMIT_SSE_EVENT);
	return &human->printer;
}
