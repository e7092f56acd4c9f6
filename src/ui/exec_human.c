/* Progress belongs to stderr and the answer to stdout, so that `codex exec … > answer.md` is clean and
 * still tells what goes on. On a terminal one status line at the bottom says that work is being done;
 * its timer runs only while a Task does. */
#include "ui/exec_printer.h"

#include <stdio.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "loop/loop.h"

#include "protocol/event.h"
#include "ui/command_text.h"
#include "ui/terminal_style.h"

enum { OUTPUT_LINES_SHOWN = 20, TICK_MS = 200 };

struct exec_human {
	struct exec_printer printer;
	bool color;
	bool is_terminal; /* the status line can be drawn */
	bool is_status_drawn;
	const struct exec_facts *facts;
	struct loop_timer *tick;
	uint64_t started_ms;
	unsigned frame;
	char doing[96];
	struct buf text; /* what one event prints on stderr */
	struct buf last; /* the agent's last message */
	int64_t blended;
};

static const char *style(const struct exec_human *human, enum style which)
{
	return terminal_style(human->color, which);
}

/* ---- the status line ---- */

static void draw_status(struct exec_human *human)
{
	static const char *const frames[] = {"⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"};
	unsigned seconds = (unsigned)((clock_now_ms() - human->started_ms) / 1000);
	char line[256];
	int len = snprintf(line, sizeof(line), "\r\x1b[K%s%s%s %s (%us, Ctrl-C to interrupt)", style(human, STYLE_cyan),
	                   frames[human->frame % countof(frames)], style(human, STYLE_plain), human->doing, seconds);
	fd_write_all(STDERR_FILENO, line, (size_t)len, NULL);
	human->is_status_drawn = true;
}

static void on_tick(void *self)
{
	struct exec_human *human = self;
	human->frame++;
	draw_status(human);
	loop_timer_start(human->tick, TICK_MS);
}

static void start_status(struct exec_human *human)
{
	human->started_ms = clock_now_ms();
	snprintf(human->doing, sizeof(human->doing), "Waiting for the model");
	if (human->is_terminal)
		loop_timer_start(human->tick, TICK_MS);
}

static void stop_status(struct exec_human *human)
{
	loop_timer_stop(human->tick);
}

static void set_doing(struct exec_human *human, const char *what, struct str detail)
{
	size_t len = text_floor_boundary(detail, 60);
	ptrdiff_t line_end = str_find_char(str_n(detail.ptr, len), '\n');
	if (line_end >= 0)
		len = (size_t)line_end;
	snprintf(human->doing, sizeof(human->doing), "%s%.*s", what, (int)len, detail.ptr ? detail.ptr : "");
}

/* ---- printing ---- */

static void flush(struct exec_human *human)
{
	if (human->is_status_drawn)
		fd_write_all(STDERR_FILENO, "\r\x1b[K", 4, NULL);
	human->is_status_drawn = false;
	fd_write_all(STDERR_FILENO, human->text.data, human->text.len, NULL);
	buf_clear(&human->text);
}

static void heading(struct exec_human *human, enum style which, const char *word)
{
	buf_printf(&human->text, "%s%s%s\n", style(human, which), word, style(human, STYLE_plain));
}

/* Text from outside may carry escape sequences that a terminal would obey: they are shown, not sent. */
static void append_safe(struct buf *out, struct str text)
{
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
			buf_printf(out, "^%c", c ^ 0x40);
		else
			buf_append_char(out, (char)c);
	}
}

static void paragraph(struct exec_human *human, struct str text)
{
	append_safe(&human->text, str_trim_end(text));
	buf_append_char(&human->text, '\n');
}

static void on_session_configured(struct exec_human *human, const struct event *event)
{
	const struct ev_session_configured *session = event->msg.session_configured;
	const struct {
		const char *name;
		struct str value;
	} rows[] = {
		{"workdir", session->cwd},
		{"model", session->model},
		{"provider", session->model_provider_id},
		{"approval", str_of(enum_wire(&enum_approval_policy, (int)session->approval_policy))},
		{"sandbox", str_of(union_find_tag(&union_sandbox, (int)session->sandbox_policy->tag)->wire)},
		{"session id", session->session_id},
	};
	buf_printf(&human->text, "Codex in C v" CODEX_VERSION "\n--------\n");
	for (size_t i = 0; i < countof(rows); i++)
		buf_printf(&human->text, "%s%s:%s %.*s\n", style(human, STYLE_bold), rows[i].name,
		           style(human, STYLE_plain), STR_ARG(rows[i].value));
	buf_append_c(&human->text, "--------\n");
	heading(human, STYLE_cyan, "user");
	paragraph(human, human->facts->prompt);
}

static void on_task_started(struct exec_human *human, const struct event *event)
{
	(void)event;
	start_status(human);
}

static void on_exec_begin(struct exec_human *human, const struct event *event)
{
	const struct ev_exec_begin *begun = event->msg.exec_command_begin;
	auto_buf struct buf command;
	buf_init(&command, LIMIT_LINE);
	command_text_append(&command, begun->command, begun->command_count);
	heading(human, STYLE_magenta, "exec");
	append_safe(&human->text, buf_str(&command));
	buf_printf(&human->text, " %sin %.*s%s\n", style(human, STYLE_dim), STR_ARG(begun->cwd),
	           style(human, STYLE_plain));
	set_doing(human, "Running ", buf_str(&command));
}

static void append_first_lines(struct exec_human *human, struct str output)
{
	struct str line;
	size_t shown = 0, total = text_line_count(output);
	while (shown < OUTPUT_LINES_SHOWN && str_next_line(&output, &line)) {
		append_safe(&human->text, line);
		buf_append_char(&human->text, '\n');
		shown++;
	}
	if (total > shown)
		buf_printf(&human->text, "%s… %zu more lines%s\n", style(human, STYLE_dim), total - shown,
		           style(human, STYLE_plain));
}

static void on_exec_end(struct exec_human *human, const struct event *event)
{
	const struct ev_exec_end *ended = event->msg.exec_command_end;
	int64_t ms = ended->duration ? ended->duration->secs * 1000 + ended->duration->nanos / 1000000 : 0;
	bool ok = ended->exit_code == 0;
	if (ok)
		buf_printf(&human->text, "%s succeeded in %lldms%s\n", style(human, STYLE_green), (long long)ms,
		           style(human, STYLE_plain));
	else
		buf_printf(&human->text, "%s exited %lld in %lldms%s\n", style(human, STYLE_red),
		           (long long)ended->exit_code, (long long)ms, style(human, STYLE_plain));
	append_first_lines(human, ended->aggregated_output);
	set_doing(human, "Waiting for the model", STR(""));
}

static void append_diff(struct exec_human *human, struct str diff)
{
	struct str line;
	while (str_next_line(&diff, &line)) {
		enum style which = str_has_prefix(line, "+")    ? STYLE_green
		                   : str_has_prefix(line, "-")  ? STYLE_red
		                   : str_has_prefix(line, "@@") ? STYLE_cyan
		                                                : STYLE_dim;
		buf_append_c(&human->text, style(human, which));
		append_safe(&human->text, line);
		buf_printf(&human->text, "%s\n", style(human, STYLE_plain));
	}
}

static void append_change(struct exec_human *human, struct str path, const struct file_change *change)
{
	static const char letters[] = {[file_change_add] = 'A', [file_change_delete] = 'D', [file_change_update] = 'M'};
	buf_printf(&human->text, "%c ", letters[change->tag]);
	append_safe(&human->text, path);
	if (change->tag == file_change_update && change->update->move_path.ptr) {
		buf_append_c(&human->text, " -> ");
		append_safe(&human->text, change->update->move_path);
	}
	buf_append_char(&human->text, '\n');
	if (change->tag == file_change_update)
		append_diff(human, change->update->unified_diff);
	else if (change->tag == file_change_add)
		append_first_lines(human, change->add->content);
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
	paragraph(human, ended->stderr);
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
	} else if (item->tag == turn_item_reasoning && item->reasoning->summary_text_count) {
		heading(human, STYLE_dim, "thinking");
		for (size_t i = 0; i < item->reasoning->summary_text_count; i++)
			paragraph(human, item->reasoning->summary_text[i]);
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
	if (info) /* what did not come from the provider's cache (core 12.2) */
		human->blended = info->total_token_usage->input_tokens - info->total_token_usage->cached_input_tokens +
		                 info->total_token_usage->output_tokens;
}

static void on_warning(struct exec_human *human, const struct event *event)
{
	buf_printf(&human->text, "%swarning:%s ", style(human, STYLE_yellow), style(human, STYLE_plain));
	paragraph(human, event->msg.warning->message);
}

static void on_error(struct exec_human *human, const struct event *event)
{
	buf_printf(&human->text, "%sERROR:%s ", style(human, STYLE_red), style(human, STYLE_plain));
	paragraph(human, event->msg.error->message);
}

static void on_stream_error(struct exec_human *human, const struct event *event)
{
	const struct ev_stream_error *error = event->msg.stream_error;
	append_safe(&human->text, error->message);
	if (error->additional_details.ptr) {
		buf_append_c(&human->text, " (");
		append_safe(&human->text, error->additional_details);
		buf_append_char(&human->text, ')');
	}
	buf_append_char(&human->text, '\n');
	set_doing(human, "", error->message);
}

static void on_turn_aborted(struct exec_human *human, const struct event *event)
{
	(void)event;
	stop_status(human);
	heading(human, STYLE_yellow, "interrupted");
}

static void on_task_complete(struct exec_human *human, const struct event *event)
{
	stop_status(human);
	if (human->blended > 0) {
		heading(human, STYLE_magenta, "tokens used");
		buf_printf(&human->text, "%lld\n", (long long)human->blended);
	}
	flush(human);
	struct str last = event->msg.task_complete->last_agent_message;
	/* a person who sees both streams has read it already */
	if (!last.ptr || (isatty(STDOUT_FILENO) && isatty(STDERR_FILENO)))
		return;
	fd_write_all(STDOUT_FILENO, last.ptr, last.len, NULL);
	fd_write_all(STDOUT_FILENO, "\n", 1, NULL);
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
	[EV_plan_update] = on_plan_update,
	[EV_warning] = on_warning,
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
	if (human->is_status_drawn)
		flush(human);
	loop_timer_destroy(human->tick);
	buf_finish(&human->text);
	buf_finish(&human->last);
	free(human);
}

struct exec_printer *exec_human_create(struct loop *loop, const struct exec_facts *facts)
{
	struct exec_human *human = xnew(struct exec_human);
	human->printer = (struct exec_printer){on_event, destroy};
	human->facts = facts;
	human->color = terminal_has_color(facts->color, STDERR_FILENO);
	human->is_terminal = isatty(STDERR_FILENO);
	human->tick = loop_timer_create(loop, on_tick, human);
	buf_init(&human->text, (size_t)LIMIT_ROLLOUT_LINE * 2);
	buf_init(&human->last, LIMIT_SSE_EVENT);
	return &human->printer;
}
