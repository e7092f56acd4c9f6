/* Finished items are written at once and forgotten: the terminal has them, and the rollout. Only running commands and
 * the row that streams are kept. */
#include "ui/tui/tui_cells.h"

#include <stdio.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/vec.h"
#include "protocol/message/message.h"
#include "term/term_paint.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_stream.h"

enum { OUTPUT_HEAD = 2, OUTPUT_TAIL = 2, RUNNING_SHOWN = 3, TEXT_MAX = 64 * MIB, THOUGHT_MAX = 200, DIFF_SHOWN = 400 };

static const struct tui_look user_look = {"› ", TERM_bold, TERM_bold}, agent_look = {"• ", TERM_dim, TERM_plain},
			     note_look = {"• ", TERM_dim, TERM_dim}, detail_look = {"  └ ", TERM_dim, TERM_dim},
			     more_look = {"    ", TERM_dim, TERM_dim}, error_look = {"■ ", TERM_red, TERM_red},
			     warning_look = {"⚠ ", TERM_yellow, TERM_yellow},
			     ran_look = {"• Ran ", TERM_bold, TERM_plain}, plan_look = {"  ", TERM_plain, TERM_plain},
			     added_look = {"    +", TERM_green, TERM_green},
			     removed_look = {"    -", TERM_red, TERM_red};

struct running {
	char *call_id, *text;
};

struct tui_cells {
	struct tui_page page;
	struct tui_stream stream;
	char *streaming; /* id of the item whose text arrives; NULL: none */
	VEC(struct running) running;
	struct buf thinking; /* the beginning of the current thought */
	struct buf answer;
	bool has_lines; /* something was written, so the next cell follows a gap */
};

struct tui_cells *tui_cells_create(struct term_paint *paint, bool has_color)
{
	struct tui_cells *cells = xnew(struct tui_cells);
	cells->page.paint = paint;
	term_row_init(&cells->page.row, SIZE_MAX, has_color);
	tui_stream_init(&cells->stream, &agent_look);
	buf_init(&cells->thinking, THOUGHT_MAX);
	buf_init(&cells->answer, TEXT_MAX);
	return cells;
}

static void drop_running(struct tui_cells *cells)
{
	vec_for_each(running, &cells->running) {
		free(running->call_id);
		free(running->text);
	}
	cells->running.count = 0;
}

void tui_cells_destroy(struct tui_cells *cells)
{
	if (!cells)
		return;
	drop_running(cells);
	vec_finish(&cells->running);
	term_row_finish(&cells->page.row);
	tui_stream_finish(&cells->stream);
	free(cells->streaming);
	buf_finish(&cells->thinking);
	buf_finish(&cells->answer);
	free(cells);
}

void tui_cells_resize(struct tui_cells *cells, size_t columns)
{
	cells->page.columns = columns;
	cells->page.row.width = columns;
}

/* ---- writing ---- */

static void end_stream(struct tui_cells *cells)
{
	if (!cells->streaming)
		return;
	tui_stream_end(&cells->stream, &cells->page);
	free(cells->streaming);
	cells->streaming = NULL;
}

static void begin_cell(struct tui_cells *cells)
{
	end_stream(cells);
	if (cells->has_lines)
		tui_page_gap(&cells->page);
	cells->has_lines = true;
}

static void write_cell(struct tui_cells *cells, const struct tui_look *look, struct str text)
{
	begin_cell(cells);
	tui_page_write(&cells->page, look, str_trim_end(text));
}

static void write_markdown(struct tui_cells *cells, const struct tui_look *look, struct str text)
{
	begin_cell(cells);
	tui_page_markdown(&cells->page, look, str_trim_end(text));
}

void tui_cells_note(struct tui_cells *cells, struct str text)
{
	write_cell(cells, &note_look, text);
}

void tui_cells_fail(struct tui_cells *cells, struct str text)
{
	write_cell(cells, &error_look, text);
}

struct str tui_cells_answer(const struct tui_cells *cells)
{
	return buf_str(&cells->answer);
}

/* ---- messages ---- */

static void on_text_delta(struct tui_cells *cells, const struct event *event)
{
	const struct ev_content_delta *delta = event->msg.agent_message_content_delta;
	if (!cells->streaming || !str_is(delta->item_id, cells->streaming)) {
		begin_cell(cells);
		tui_stream_finish(&cells->stream);
		tui_stream_init(&cells->stream, &agent_look);
		cells->streaming = str_dup(delta->item_id);
	}
	tui_stream_add(&cells->stream, delta->delta);
}

static void end_message(struct tui_cells *cells, const struct agent_message_item *item)
{
	buf_clear(&cells->answer);
	for (size_t i = 0; i < item->content_count; i++)
		buf_append_str(&cells->answer, item->content[i].text->text);
	if (cells->streaming && str_is(item->id, cells->streaming))
		end_stream(cells);
	else if (!str_is_blank(buf_str(&cells->answer)))
		write_markdown(cells, &agent_look, buf_str(&cells->answer));
}

static void write_user(struct tui_cells *cells, const struct user_message_item *item)
{
	auto_buf struct buf text;
	buf_init(&text, TEXT_MAX);
	for (size_t i = 0; i < item->content_count; i++) {
		const struct user_input *part = &item->content[i];
		if (part->tag == user_input_text)
			buf_append_str(&text, part->text->text);
		else
			buf_append_c(&text, "[image] ");
	}
	write_cell(cells, &user_look, buf_str(&text));
}

static void write_plan(struct tui_cells *cells, const struct plan_item *plan)
{
	if (cells->streaming && str_is(plan->id, cells->streaming)) {
		end_stream(cells);
		return;
	}
	write_cell(cells, &note_look, STR("Proposed Plan"));
	tui_page_markdown(&cells->page, &plan_look, str_trim_end(plan->text));
}

static void on_plan_delta(struct tui_cells *cells, const struct event *event)
{
	const struct ev_content_delta *delta = event->msg.plan_delta;
	if (!cells->streaming || !str_is(delta->item_id, cells->streaming)) {
		write_cell(cells, &note_look, STR("Proposed Plan"));
		tui_stream_finish(&cells->stream);
		tui_stream_init(&cells->stream, &plan_look);
		cells->streaming = str_dup(delta->item_id);
	}
	tui_stream_add(&cells->stream, delta->delta);
}

static void on_item_completed(struct tui_cells *cells, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_agent_message)
		end_message(cells, item->agent_message);
	else if (item->tag == turn_item_user_message)
		write_user(cells, item->user_message);
	else if (item->tag == turn_item_plan)
		write_plan(cells, item->plan);
	else if (item->tag == turn_item_reasoning)
		buf_clear(&cells->thinking);
}

static void on_thought(struct tui_cells *cells, const struct event *event)
{
	struct str delta = event->msg.reasoning_content_delta->delta;
	size_t room = THOUGHT_MAX - cells->thinking.len;
	buf_append(&cells->thinking, delta.ptr, delta.len < room ? delta.len : room);
}

static void on_section_break(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	buf_clear(&cells->thinking);
}

struct str tui_cells_thought(const struct tui_cells *cells)
{
	struct str text = str_trim_start(buf_str(&cells->thinking));
	ptrdiff_t end;
	if (!str_cut_prefix(&text, "**") || (end = str_find(text, STR("**"))) < 0)
		return STR("");
	return str_n(text.ptr, (size_t)end);
}

/* ---- commands ---- */

void tui_command_append(struct buf *out, const struct str *words, size_t count)
{
	if (count == 3 && (str_is(words[1], "-lc") || str_is(words[1], "-c")))
		buf_append_str(out, words[2]);
	else
		terminal_command_append(out, words, count);
}

static void on_exec_begin(struct tui_cells *cells, const struct event *event)
{
	const struct ev_exec_begin *begun = event->msg.exec_command_begin;
	struct buf text;
	buf_init(&text, LIMIT_LINE);
	tui_command_append(&text, begun->command, begun->command_count);
	if (cells->running.count < LIMIT_COMMANDS)
		vec_push(&cells->running, (struct running){str_dup(begun->call_id), buf_take(&text)});
	buf_finish(&text);
}

static void forget_running(struct tui_cells *cells, struct str call_id)
{
	for (size_t i = 0; i < cells->running.count; i++) {
		struct running *running = &cells->running.items[i];
		if (!str_is(call_id, running->call_id))
			continue;
		free(running->call_id);
		free(running->text);
		memmove(running, running + 1, (cells->running.count - i - 1) * sizeof(*running));
		cells->running.count--;
		return;
	}
}

/* Writes the first and the last lines of an output. */
static void write_output(struct tui_cells *cells, struct str output)
{
	size_t total = text_line_count(output), at = 0;
	struct str line;
	char more[64];
	snprintf(more, sizeof(more), "… +%zu lines", total - OUTPUT_HEAD - OUTPUT_TAIL);
	for (; str_next_line(&output, &line); at++) {
		bool is_hidden = total > OUTPUT_HEAD + OUTPUT_TAIL + 1 && at >= OUTPUT_HEAD && at < total - OUTPUT_TAIL;
		const struct tui_look *look = at == 0 ? &detail_look : &more_look;
		if (!is_hidden)
			tui_page_write(&cells->page, look, line.len ? line : STR(" "));
		else if (at == OUTPUT_HEAD)
			tui_page_write(&cells->page, look, str_of(more));
	}
	if (!total)
		tui_page_write(&cells->page, &detail_look, STR("(no output)"));
}

static void on_exec_end(struct tui_cells *cells, const struct event *event)
{
	const struct ev_exec_end *ended = event->msg.exec_command_end;
	auto_buf struct buf text;
	char status[64];
	buf_init(&text, LIMIT_LINE);
	tui_command_append(&text, ended->command, ended->command_count);
	forget_running(cells, ended->call_id);
	write_cell(cells, &ran_look, buf_str(&text));
	write_output(cells, ended->aggregated_output);
	snprintf(status, sizeof(status), "✗ (%lld)", (long long)ended->exit_code);
	if (ended->exit_code)
		tui_page_write(&cells->page, &more_look, str_of(status));
}

static void draw_running(struct tui_cells *cells, size_t most)
{
	term_row_clear(&cells->page.row);
	if (cells->running.count && most > RUNNING_SHOWN)
		term_paint_live(cells->page.paint, &cells->page.row);
	for (size_t i = 0; i < cells->running.count && i < RUNNING_SHOWN && i < most; i++) {
		struct str text = str_of(cells->running.items[i].text), line;
		term_row_clear(&cells->page.row);
		term_row_add_c(&cells->page.row, TERM_bold, "• Running ");
		if (str_next_line(&text, &line))
			term_row_add(&cells->page.row, TERM_plain, line);
		term_paint_live(cells->page.paint, &cells->page.row);
	}
}

/* ---- patches ---- */

struct diff_count {
	size_t added, removed;
};

static struct diff_count count_change(const struct file_change *change)
{
	struct diff_count count = {0};
	struct str line, diff;
	if (change->tag == file_change_add)
		return (struct diff_count){.added = text_line_count(change->add->content)};
	if (change->tag == file_change_delete)
		return (struct diff_count){.removed = text_line_count(change->delete->content)};
	diff = change->update->unified_diff;
	while (str_next_line(&diff, &line)) {
		count.added += str_has_prefix(line, "+") && !str_has_prefix(line, "+++ ");
		count.removed += str_has_prefix(line, "-") && !str_has_prefix(line, "--- ");
	}
	return count;
}

static void write_diff_line(struct tui_cells *cells, struct str line)
{
	bool is_change = line.len && (line.ptr[0] == '+' || line.ptr[0] == '-');
	const struct tui_look *look = !is_change ? &more_look : line.ptr[0] == '+' ? &added_look : &removed_look;
	line = str_skip(line, is_change || (line.len && line.ptr[0] == ' ') ? 1 : 0);
	tui_page_write(&cells->page, look, line.len ? line : STR(" "));
}

static void write_content(struct tui_cells *cells, const struct tui_look *look, struct str text)
{
	struct str line;
	for (size_t shown = 0; shown < DIFF_SHOWN && str_next_line(&text, &line); shown++)
		tui_page_write(&cells->page, look, line.len ? line : STR(" "));
}

static void write_change(struct tui_cells *cells, struct str path, const struct file_change *change)
{
	static const char *const verbs[] = {
		[file_change_add] = "Added", [file_change_delete] = "Deleted", [file_change_update] = "Edited"};
	struct diff_count count = count_change(change);
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_printf(&title, "%s %.*s (+%zu -%zu)", verbs[change->tag], STR_ARG(path), count.added, count.removed);
	write_cell(cells, &agent_look, buf_str(&title));
	if (change->tag == file_change_add)
		write_content(cells, &added_look, change->add->content);
	if (change->tag != file_change_update)
		return;
	struct str diff = change->update->unified_diff, line;
	for (size_t shown = 0; shown < DIFF_SHOWN && str_next_line(&diff, &line); shown++)
		write_diff_line(cells, line);
}

static void on_patch_begin(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_begin *begun = event->msg.patch_apply_begin;
	if (!begun->auto_approved) /* shown with the question */
		return;
	for (size_t i = 0; i < begun->changes_count; i++)
		write_change(cells, begun->changes_keys[i], &begun->changes[i]);
}

static void on_patch_end(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_end *ended = event->msg.patch_apply_end;
	if (!ended->success)
		write_cell(cells, &error_look, ended->standard_error);
}

/* The changes are shown before the question about them. */
static void on_patch_asked(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_approval *asked = event->msg.apply_patch_approval_request;
	for (size_t i = 0; i < asked->changes_count; i++)
		write_change(cells, asked->changes_keys[i], &asked->changes[i]);
}

/* ---- other events ---- */

static void on_plan_update(struct tui_cells *cells, const struct event *event)
{
	static const struct tui_look looks[] = {[step_status_pending] = {"  □ ", TERM_plain, TERM_plain},
	                                        [step_status_in_progress] = {"  □ ", TERM_bold, TERM_bold},
	                                        [step_status_completed] = {"  ✔ ", TERM_dim, TERM_dim}};
	const struct ev_plan_update *update = event->msg.plan_update;
	write_cell(cells, &agent_look, STR("Updated Plan"));
	if (update->explanation.len)
		tui_page_write(&cells->page, &detail_look, update->explanation);
	for (size_t i = 0; i < update->plan_count; i++)
		tui_page_write(&cells->page, &looks[update->plan[i].status], update->plan[i].step);
}

static void on_warning(struct tui_cells *cells, const struct event *event)
{
	write_cell(cells, &warning_look, event->msg.warning->message);
}

static void on_error(struct tui_cells *cells, const struct event *event)
{
	write_cell(cells, &error_look, event->msg.error->message);
}

static void on_aborted(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	drop_running(cells);
	write_cell(cells, &error_look, STR("Conversation interrupted - describe what to do differently"));
}

static void on_complete(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	end_stream(cells);
	drop_running(cells);
	buf_clear(&cells->thinking);
}

static void on_compacted(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	write_cell(cells, &note_look, STR("Context compacted"));
}

static void on_image(struct tui_cells *cells, const struct event *event)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Viewed image %.*s", STR_ARG(event->msg.view_image_tool_call->path));
	write_cell(cells, &note_look, buf_str(&text));
}

static void on_renamed(struct tui_cells *cells, const struct event *event)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Thread renamed to %.*s", STR_ARG(event->msg.thread_name_updated->thread_name));
	write_cell(cells, &note_look, buf_str(&text));
}

typedef void (*event_fn)(struct tui_cells *cells, const struct event *event);

static const event_fn handlers[EV_count] = {
	[EV_agent_message_content_delta] = on_text_delta,
	[EV_plan_delta] = on_plan_delta,
	[EV_item_completed] = on_item_completed,
	[EV_reasoning_content_delta] = on_thought,
	[EV_agent_reasoning_section_break] = on_section_break,
	[EV_exec_command_begin] = on_exec_begin,
	[EV_exec_command_end] = on_exec_end,
	[EV_patch_apply_begin] = on_patch_begin,
	[EV_patch_apply_end] = on_patch_end,
	[EV_apply_patch_approval_request] = on_patch_asked,
	[EV_plan_update] = on_plan_update,
	[EV_warning] = on_warning,
	[EV_error] = on_error,
	[EV_turn_aborted] = on_aborted,
	[EV_task_complete] = on_complete,
	[EV_context_compacted] = on_compacted,
	[EV_view_image_tool_call] = on_image,
	[EV_thread_name_updated] = on_renamed,
};

void tui_cells_event(struct tui_cells *cells, const struct event *event)
{
	if (handlers[event->msg.tag])
		handlers[event->msg.tag](cells, event);
}

void tui_cells_draw(struct tui_cells *cells, size_t most)
{
	if (cells->streaming)
		tui_stream_draw(&cells->stream, &cells->page, most);
	else
		draw_running(cells, most);
}
