/* Finished items are written at once and forgotten: the terminal has them, and the rollout. Kept is only text that may
 * change: the open block of a message, running commands, and a group of commands that only read. */
#include "ui/tui/tui_cells.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "protocol/message/message.h"
#include "term/term_paint.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_activity.h"
#include "ui/tui/tui_cell_exec.h"
#include "ui/tui/tui_cell_note.h"
#include "ui/tui/tui_cell_patch.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_stream.h"

struct tui_cells {
	struct term_paint *paint;
	struct tui_page page;
	struct tui_stream stream;
	char *streaming;   /* id of the item whose text arrives; NULL: none */
	bool is_continued; /* other text came between its pieces */
	struct tui_open_items open;
	struct tui_activity activity;
	struct tui_explored explored; /* not written yet: further commands may join */
	struct buf answer;
	char *shown_patch;   /* id of the patch whose changes are on the screen and that has not ended; NULL: none */
	uint64_t started_ms; /* of the running turn; 0: none */
	bool is_reviewing;   /* the messages to the reviewer are not the user's */
	bool is_followed;    /* another turn follows the one that is interrupted */
	bool has_report;     /* the review was shown, and its report follows as a message */
};

static void on_row(const struct term_row *row, void *self)
{
	struct tui_cells *cells = self;
	term_paint_commit(cells->paint, row);
}

struct tui_cells *tui_cells_create(struct term_paint *paint, bool has_color, const char *cwd)
{
	struct tui_cells *cells = xnew(struct tui_cells);
	cells->paint = paint;
	tui_page_init(&cells->page, has_color, on_row, cells);
	cells->page.cwd = cwd;
	tui_stream_init(&cells->stream, &tui_agent_look);
	tui_activity_init(&cells->activity);
	buf_init(&cells->answer, LIMIT_TUI_TEXT);
	return cells;
}

void tui_cells_destroy(struct tui_cells *cells)
{
	if (!cells)
		return;
	tui_activity_finish(&cells->activity);
	tui_open_items_clear(&cells->open);
	vec_finish(&cells->open.ids);
	tui_page_finish(&cells->page);
	tui_stream_finish(&cells->stream);
	tui_explored_finish(&cells->explored);
	free(cells->streaming);
	free(cells->shown_patch);
	buf_finish(&cells->answer);
	free(cells);
}

void tui_cells_resize(struct tui_cells *cells, size_t columns)
{
	tui_page_resize(&cells->page, columns);
}

void tui_cells_set_folder(struct tui_cells *cells, const char *cwd)
{
	cells->page.cwd = cwd;
}

struct str tui_cells_answer(const struct tui_cells *cells)
{
	return buf_str(&cells->answer);
}

/* ---- open text ---- */

static void end_stream(struct tui_cells *cells)
{
	if (!cells->streaming)
		return;
	tui_stream_end(&cells->stream, &cells->page);
	free(steal(cells->streaming));
}

static void end_explored(struct tui_cells *cells)
{
	if (tui_explored_is_empty(&cells->explored))
		return;
	tui_cell_explored(&cells->page, &cells->explored);
	tui_explored_clear(&cells->explored);
}

/* Comes before each cell. Text that arrives continues below it. */
static void end_open(struct tui_cells *cells)
{
	if (cells->streaming)
		tui_stream_pause(&cells->stream, &cells->page);
	end_explored(cells);
}

void tui_cells_set_raw(struct tui_cells *cells, bool is_raw)
{
	end_stream(cells);
	cells->page.is_raw = is_raw;
}

bool tui_cells_is_streaming(const struct tui_cells *cells)
{
	return cells->streaming != NULL;
}

bool tui_cells_is_calling(const struct tui_cells *cells)
{
	return tui_activity_is_calling(&cells->activity);
}

void tui_cells_expect(struct tui_cells *cells, bool is_followed)
{
	cells->is_followed = is_followed;
}

struct tui_page *tui_cells_begin(struct tui_cells *cells)
{
	end_open(cells);
	return &cells->page;
}

static void write_cell(struct tui_cells *cells, const struct tui_look *look, struct str text)
{
	end_open(cells);
	tui_page_cell(&cells->page, look, text);
}

static void write_markdown(struct tui_cells *cells, const struct tui_look *look, struct str text)
{
	end_open(cells);
	tui_page_begin(&cells->page);
	tui_stream_write(&cells->page, look, str_trim_end(text));
}

void tui_cells_note(struct tui_cells *cells, struct str text)
{
	tui_cell_list(tui_cells_begin(cells), text);
}

void tui_cells_fail(struct tui_cells *cells, struct str text)
{
	write_cell(cells, &tui_error_look, text);
}

/* ---- messages ---- */

/* Ends the text of an item that is complete. False: none has arrived, or it has a gap: a piece that is no valid JSON,
 * because a server has cut it between two halves of a character, is lost. */
static bool end_streamed(struct tui_cells *cells, struct str id, struct str whole)
{
	bool was_open = tui_open_items_remove(&cells->open, id);
	bool is_last = was_open && cells->streaming && str_is(id, cells->streaming);
	bool is_compared = is_last && !cells->is_continued && !cells->has_report;
	bool has_gap = is_compared && !tui_stream_complete(&cells->stream, whole);
	if (is_last)
		end_stream(cells);
	if (has_gap)
		tui_cells_note(cells, STR("Pieces of this text were lost on their way. The whole text:"));
	return was_open && !has_gap;
}

/* Begins the text of an item, or continues it after another; `title` stands above it, unless it is NULL. False: too
 * many items are open, and this one is written when it is complete. */
static bool begin_stream(struct tui_cells *cells, struct str id, const struct tui_look *look, const char *title)
{
	if (cells->streaming && str_is(id, cells->streaming))
		return true;
	size_t before = cells->open.ids.count;
	if (!tui_open_items_add(&cells->open, id))
		return false;
	cells->is_continued = cells->open.ids.count == before;
	end_stream(cells);
	end_explored(cells);
	if (title)
		tui_page_cell(&cells->page, &tui_note_look, str_of(title));
	tui_stream_finish(&cells->stream);
	tui_stream_init(&cells->stream, look);
	tui_stream_begin(&cells->stream, &cells->page);
	cells->streaming = str_dup(id);
	return true;
}

static void on_text_delta(struct tui_cells *cells, const struct event *event)
{
	const struct ev_content_delta *delta = event->msg.agent_message_content_delta;
	if (begin_stream(cells, delta->item_id, &tui_agent_look, NULL))
		tui_stream_add(&cells->stream, delta->delta);
}

static void on_plan_delta(struct tui_cells *cells, const struct event *event)
{
	const struct ev_content_delta *delta = event->msg.plan_delta;
	if (begin_stream(cells, delta->item_id, &tui_plan_look, "Proposed Plan"))
		tui_stream_add(&cells->stream, delta->delta);
}

static void end_message(struct tui_cells *cells, const struct agent_message_item *item)
{
	buf_clear(&cells->answer);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == agent_content_text)
			buf_append_str(&cells->answer, item->content[i].text->text);
	}
	if (!end_streamed(cells, item->id, buf_str(&cells->answer)) && !cells->has_report &&
	    !str_is_blank(buf_str(&cells->answer)))
		write_markdown(cells, &tui_agent_look, buf_str(&cells->answer));
}

static void write_user(struct tui_cells *cells, const struct user_message_item *item)
{
	auto_buf struct buf text;
	size_t images = 0;
	buf_init(&text, LIMIT_TUI_TEXT);
	for (size_t i = 0; i < item->content_count; i++) {
		const struct user_input *part = &item->content[i];
		if (part->tag == user_input_text)
			buf_append_str(&text, part->text->text);
		else
			images++;
	}
	tui_cell_user(tui_cells_begin(cells), buf_str(&text), images);
}

static void write_plan(struct tui_cells *cells, const struct plan_item *plan)
{
	if (end_streamed(cells, plan->id, plan->text))
		return;
	write_cell(cells, &tui_note_look, STR("Proposed Plan"));
	write_markdown(cells, &tui_plan_look, plan->text);
}

static void write_search(struct tui_cells *cells, const struct web_search_item *search)
{
	auto_free char *text = xasprintf("Searched the web: %.*s", STR_ARG(search->query));
	write_cell(cells, &tui_note_look, str_of(text));
}

static void on_item_completed(struct tui_cells *cells, const struct event *event)
{
	const struct turn_item *item = event->msg.item_completed->item;
	if (item->tag == turn_item_agent_message)
		end_message(cells, item->agent_message);
	else if (item->tag == turn_item_user_message && !cells->is_reviewing)
		write_user(cells, item->user_message);
	else if (item->tag == turn_item_plan)
		write_plan(cells, item->plan);
	else if (item->tag == turn_item_web_search)
		write_search(cells, item->web_search);
	else if (item->tag == turn_item_context_compaction)
		write_cell(cells, &tui_note_look, STR("Context compacted"));
}

void tui_cells_hide_thoughts(struct tui_cells *cells)
{
	cells->activity.hides_thoughts = true;
}

struct str tui_cells_thought(const struct tui_cells *cells)
{
	return tui_activity_heading(&cells->activity);
}

/* ---- calls ---- */

static void on_exec_begin(struct tui_cells *cells, const struct event *event)
{
	const struct ev_exec_begin *begun = event->msg.exec_command_begin;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	terminal_script_append(&text, begun->command, begun->command_count);
	struct beginning_call call = {"Running ", begun->call_id, event->id, begun->process_id,
	                              begun->source == exec_source_user_shell};
	tui_activity_add(&cells->activity, &call, &text);
}

static int64_t milliseconds(const struct duration *duration)
{
	return duration ? duration->secs * 1000 + duration->nanos / 1000000 : 0;
}

static void on_exec_end(struct tui_cells *cells, const struct event *event)
{
	const struct ev_exec_end *ended = event->msg.exec_command_end;
	auto_buf struct buf text;
	bool is_user = ended->source == exec_source_user_shell;
	buf_init(&text, LIMIT_LINE);
	uint64_t number = tui_activity_forget(&cells->activity, ended->call_id, ended->process_id);
	if (!is_user && ended->exit_code == 0 &&
	    tui_explored_add(&cells->explored, number, ended->parsed_cmd, ended->parsed_cmd_count))
		return;
	end_open(cells);
	terminal_script_append(&text, ended->command, ended->command_count);
	tui_cell_exec(&cells->page, &(struct tui_exec){.command = buf_str(&text),
	                                               .output = ended->aggregated_output,
	                                               .exit_code = ended->exit_code,
	                                               .duration_ms = milliseconds(ended->duration),
	                                               .is_user = is_user});
}

static void on_mcp_begin(struct tui_cells *cells, const struct event *event)
{
	const struct ev_mcp_call_begin *begun = event->msg.mcp_tool_call_begin;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (begun->invocation)
		buf_printf(&text, "%.*s.%.*s", STR_ARG(begun->invocation->server), STR_ARG(begun->invocation->tool));
	struct beginning_call call = {"Calling ", begun->call_id, event->id, STR_NONE, false};
	tui_activity_add(&cells->activity, &call, &text);
}

/* Returns the rows of reads, without the gap. */
static size_t draw_explored(struct tui_cells *cells, bool has_gap)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (tui_explored_is_empty(&cells->explored))
		return 0;
	tui_explored_append(&cells->explored, &text);
	struct str rest = buf_str(&text), line, last = STR("");
	while (str_next_line(&rest, &line))
		last = line;
	term_row_clear(&cells->page.row);
	if (has_gap)
		term_paint_live(cells->paint, &cells->page.row);
	term_row_add_c(&cells->page.row, TERM_bold, "• Exploring ");
	term_row_add(&cells->page.row, TERM_dim, last);
	term_paint_live(cells->paint, &cells->page.row);
	return 1;
}

/* ---- patches ---- */

static void show_patch(struct tui_cells *cells, struct str id, const struct str *paths,
                       const struct file_change *changes, size_t count)
{
	free(cells->shown_patch);
	cells->shown_patch = str_dup(id);
	if (count)
		tui_cell_changes(tui_cells_begin(cells), paths, changes, count);
}

static void on_patch_begin(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_begin *begun = event->msg.patch_apply_begin;
	if (begun->auto_approved)
		show_patch(cells, begun->call_id, begun->changes_keys, begun->changes, begun->changes_count);
}

/* A request is something else than reading: what was read stands above it. */
static void on_asked(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	end_explored(cells);
}

/* The changes are shown before the question about them. */
static void on_patch_asked(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_approval *asked = event->msg.apply_patch_approval_request;
	show_patch(cells, asked->call_id, asked->changes_keys, asked->changes, asked->changes_count);
}

/* A patch that the session or the reviewer approved was in no question. */
static void on_patch_end(struct tui_cells *cells, const struct event *event)
{
	const struct ev_patch_end *ended = event->msg.patch_apply_end;
	if (!cells->shown_patch || !str_is(ended->call_id, cells->shown_patch))
		show_patch(cells, ended->call_id, ended->changes_keys, ended->changes, ended->changes_count);
	free(steal(cells->shown_patch));
	if (tui_cell_note_has(event)) {
		end_open(cells);
		tui_cell_note(&cells->page, event);
	}
}

/* ---- turns ---- */

static void on_started(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	cells->started_ms = clock_now_ms();
	cells->is_reviewing = cells->has_report = false;
}

void tui_cells_end_turn(struct tui_cells *cells)
{
	end_stream(cells);
	end_explored(cells);
	tui_activity_end(&cells->activity);
	tui_open_items_clear(&cells->open);
}

void tui_cells_leave(struct tui_cells *cells)
{
	tui_cells_end_turn(cells);
	cells->started_ms = 0;
	cells->is_reviewing = cells->has_report = false;
}

static void on_aborted(struct tui_cells *cells, const struct event *event)
{
	(void)event;
	tui_cells_end_turn(cells);
	cells->started_ms = 0;
	write_cell(cells, &tui_error_look,
	           cells->is_followed ? STR("Conversation interrupted - your message is sent now")
	                              : STR("Conversation interrupted - describe what to do differently"));
	cells->is_followed = false;
}

/* A terminal that was attached during the turn does not know when it began. */
static void on_complete(struct tui_cells *cells, const struct event *event)
{
	uint64_t took_ms = clock_now_ms() - cells->started_ms;
	bool has_answer = cells->started_ms && event->msg.task_complete->last_agent_message.ptr;
	tui_cells_end_turn(cells);
	cells->started_ms = 0;
	if (has_answer)
		tui_cell_worked(tui_cells_begin(cells), (int64_t)took_ms, clock_unix_ms() / 1000);
}

typedef void (*event_fn)(struct tui_cells *cells, const struct event *event);

static const event_fn handlers[EV_count] = {
	[EV_agent_message_content_delta] = on_text_delta,
	[EV_plan_delta] = on_plan_delta,
	[EV_item_completed] = on_item_completed,
	[EV_exec_command_begin] = on_exec_begin,
	[EV_exec_command_end] = on_exec_end,
	[EV_mcp_tool_call_begin] = on_mcp_begin,
	[EV_patch_apply_begin] = on_patch_begin,
	[EV_exec_approval_request] = on_asked,
	[EV_elicitation_request] = on_asked,
	[EV_request_user_input] = on_asked,
	[EV_apply_patch_approval_request] = on_patch_asked,
	[EV_patch_apply_end] = on_patch_end,
	[EV_task_started] = on_started,
	[EV_turn_aborted] = on_aborted,
	[EV_task_complete] = on_complete,
};

void tui_cells_event(struct tui_cells *cells, const struct event *event)
{
	if (event->msg.tag == EV_stream_error) { /* the message comes again from its beginning */
		end_stream(cells);
		tui_open_items_clear(&cells->open);
	}
	if (!tui_activity_event(&cells->activity, event))
		return;
	if (event->msg.tag == EV_entered_review_mode)
		cells->is_reviewing = true;
	if (event->msg.tag == EV_exited_review_mode)
		cells->has_report = event->msg.exited_review_mode->review_output != NULL;
	if (handlers[event->msg.tag]) {
		handlers[event->msg.tag](cells, event);
	} else if (tui_cell_note_has(event)) {
		end_open(cells);
		tui_cell_note(&cells->page, event);
	}
}

void tui_cells_draw(struct tui_cells *cells, const struct tui_ask *ask, size_t most, bool has_gap)
{
	if (cells->streaming) {
		tui_stream_draw(&cells->stream, &cells->page, cells->paint, most);
		return;
	}
	if (!most)
		return;
	size_t drawn = draw_explored(cells, has_gap), used = drawn + has_gap;
	struct tui_rows rows = {cells->paint, &cells->page.row, most > used ? most - used : 0, has_gap && !drawn};
	tui_activity_draw(&cells->activity, ask, &rows);
}
