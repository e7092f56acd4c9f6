/* One function for each event; the table at the end is the list of them. */
#include "ui/tui/tui_cell_note.h"

#include <stdio.h>
#include <time.h>

#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/approval.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_stream.h"

enum { DETAIL_LINES = 5, DETAIL_ROWS = 2, CAUSE_ROWS = 8, PROMPT_LINES = 3, ARGUMENTS_SHOWN = 400 };
/* A message of the user is shown whole up to these limits. */
enum { USER_LINES = 30, USER_BYTES = 4 * KIB, USER_HEAD = 20, USER_TAIL = 5, USER_ROWS = 3 };

const struct tui_look tui_note_look = {"• ", TERM_dim, TERM_dim}, tui_error_look = {"■ ", TERM_red, TERM_red},
		      tui_warning_look = {"⚠ ", TERM_yellow, TERM_yellow},
		      tui_detail_look = {"  └ ", TERM_dim, TERM_dim}, tui_user_look = {"› ", TERM_bold, TERM_bold},
		      tui_agent_look = {"• ", TERM_dim, TERM_plain}, tui_plan_look = {"  ", TERM_plain, TERM_plain};

static const struct tui_look more_look = {"    ", TERM_dim, TERM_dim}, worked_look = {"  ", TERM_dim, TERM_dim},
			     title_look = {"• ", TERM_dim, TERM_bold};

static void write_detail(struct tui_page *page, struct str text, size_t most)
{
	struct str rest = str_trim_end(text), line;
	size_t total = text_line_count(rest), at = 0;
	for (; (page->is_full || at < most) && str_next_line(&rest, &line); at++)
		tui_page_write_line(page, at == 0 ? &tui_detail_look : &more_look, line, DETAIL_ROWS, NULL);
	if (at < total)
		tui_page_write(page, &more_look, STR("…"));
}

/* Writes a cell of one line: a fixed beginning and a text. */
static void write_line(struct tui_page *page, const struct tui_look *look, const char *begin, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_LINE);
	buf_append_c(&line, begin);
	buf_append_str(&line, text);
	tui_page_cell(page, look, buf_str(&line));
}

void tui_cell_list(struct tui_page *page, struct str text)
{
	static const char blanks[] = "        ";
	struct tui_look look = tui_note_look;
	struct str rest = str_trim_end(text), line;
	tui_page_begin(page);
	for (bool is_first = true; str_next_line(&rest, &line); is_first = false) {
		size_t indent = line.len - str_trim_start(line).len, most = sizeof(blanks) - 1;
		indent = is_first ? 0 : indent + 2 < most ? indent : most - 2;
		if (!is_first)
			look.mark = blanks + most - 2 - indent;
		line = str_skip(line, indent);
		tui_page_write(page, &look, line.len ? line : STR("\n"));
	}
}

void tui_cell_worked(struct tui_page *page, int64_t ms, int64_t ended_at)
{
	long long s = (long long)ms / 1000;
	char took[48], line[80], hour[8] = "";
	struct tm tm;
	time_t at = (time_t)ended_at;
	if (s < 1)
		snprintf(took, sizeof(took), "<1s");
	else if (s < 60)
		snprintf(took, sizeof(took), "%llds", s);
	else if (s < 3600)
		snprintf(took, sizeof(took), "%lldm %02llds", s / 60, s % 60);
	else
		snprintf(took, sizeof(took), "%lldh %02lldm %02llds", s / 3600, s / 60 % 60, s % 60);
	if (localtime_r(&at, &tm))
		strftime(hour, sizeof(hour), "%H:%M", &tm);
	snprintf(line, sizeof(line), "Worked for %s • %s", took, hour);
	tui_page_cell(page, &worked_look, str_of(line));
}

static const struct tui_look rest_look = {"  ", TERM_bold, TERM_bold};

/* Writes the beginning and the end of a message of few, long lines. */
static void write_cut(struct tui_page *page, struct str text)
{
	size_t head = text_floor_boundary(text, USER_BYTES / 4 * 3);
	size_t tail = text_floor_boundary(text, text.len - USER_BYTES / 8);
	char more[80];
	snprintf(more, sizeof(more), "… +%zu bytes (ctrl-t to view transcript)", tail - head);
	tui_page_write(page, &tui_user_look, str_n(text.ptr, head));
	tui_page_write(page, &more_look, str_of(more));
	tui_page_write(page, &rest_look, str_skip(text, tail));
}

/* Writes the first and the last lines of a long message, such as one with a pasted file. */
static void write_folded(struct tui_page *page, struct str text)
{
	size_t total = text_line_count(text), at = 0;
	struct str line;
	char more[80];
	if (total <= USER_LINES) {
		write_cut(page, text);
		return;
	}
	snprintf(more, sizeof(more), "… +%zu lines (ctrl-t to view transcript)", total - USER_HEAD - USER_TAIL);
	for (; str_next_line(&text, &line); at++) {
		if (at < USER_HEAD || at >= total - USER_TAIL)
			tui_page_write_line(page, at ? &rest_look : &tui_user_look, line, USER_ROWS, NULL);
		else if (at == USER_HEAD)
			tui_page_write(page, &more_look, str_of(more));
	}
}

void tui_cell_user(struct tui_page *page, struct str text, size_t images)
{
	auto_buf struct buf out;
	buf_init(&out, text.len + LIMIT_LINE);
	for (size_t i = 1; i <= images; i++) {
		char mark[32];
		snprintf(mark, sizeof(mark), "[Image #%zu]", i);
		if (str_find(text, str_of(mark)) < 0)
			buf_append_c(&out, "[image] ");
	}
	buf_append_str(&out, str_trim_end(text));
	tui_page_begin(page);
	bool is_short = out.len <= USER_BYTES && text_line_count(buf_str(&out)) <= USER_LINES;
	if (page->is_full || page->is_raw || is_short)
		tui_page_write(page, &tui_user_look, buf_str(&out));
	else
		write_folded(page, buf_str(&out));
}

/* ---- messages of the engine ---- */

static void on_warning(struct tui_page *page, const struct event *event)
{
	tui_page_cell(page, &tui_warning_look, event->msg.warning->message);
}

static void on_guardian(struct tui_page *page, const struct event *event)
{
	tui_page_cell(page, &tui_note_look, event->msg.guardian_warning->message);
}

/* The text of an error may be the body of the answer, before what can be done. */
void tui_cell_error(struct tui_page *page, struct str text)
{
	struct str body = text, message;
	auto_arena struct arena arena = {0};
	auto_buf struct buf line;
	while (body.len && body.ptr[body.len - 1] != '}')
		body.len--;
	const struct json *root = str_has_prefix(body, "{") ? json_parse(&arena, body, NULL) : NULL;
	buf_init(&line, text.len + LIMIT_LINE);
	if (json_to_str(json_path(root, "error.message"), &message))
		buf_printf(&line, "%.*s%.*s", STR_ARG(message), STR_ARG(str_skip(text, body.len)));
	else
		buf_append_str(&line, text);
	tui_page_cell(page, &tui_error_look, buf_str(&line));
}

static void on_error(struct tui_page *page, const struct event *event)
{
	tui_cell_error(page, event->msg.error->message);
}

static void on_stream_error(struct tui_page *page, const struct event *event)
{
	const struct ev_stream_error *error = event->msg.stream_error;
	tui_page_cell(page, &tui_warning_look, error->message);
	struct str rest = error->additional_details, line;
	for (size_t at = 0; at < DETAIL_LINES && str_next_line(&rest, &line); at++)
		tui_page_write_line(page, at ? &more_look : &tui_detail_look, line, CAUSE_ROWS, NULL);
}

static void on_background(struct tui_page *page, const struct event *event)
{
	tui_page_cell(page, &tui_note_look, event->msg.background_event->message);
}

static void on_reroute(struct tui_page *page, const struct event *event)
{
	const struct ev_model_reroute *reroute = event->msg.model_reroute;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "The provider answered with %.*s instead of %.*s", STR_ARG(reroute->to_model),
	           STR_ARG(reroute->from_model));
	tui_page_cell(page, &tui_note_look, buf_str(&text));
}

static void on_deprecation(struct tui_page *page, const struct event *event)
{
	const struct ev_deprecation_notice *notice = event->msg.deprecation_notice;
	tui_page_cell(page, &tui_warning_look, notice->summary);
	write_detail(page, notice->details, DETAIL_LINES);
}

static void on_rolled_back(struct tui_page *page, const struct event *event)
{
	auto_buf struct buf text;
	long long turns = (long long)event->msg.thread_rolled_back->num_turns;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Went back before the last %lld message%s", turns, turns == 1 ? "" : "s");
	tui_page_cell(page, &tui_note_look, buf_str(&text));
}

static void on_renamed(struct tui_page *page, const struct event *event)
{
	write_line(page, &tui_note_look, "Thread renamed to ", event->msg.thread_name_updated->thread_name);
}

static void on_image(struct tui_page *page, const struct event *event)
{
	write_line(page, &tui_note_look, "Viewed image ", event->msg.view_image_tool_call->path);
}

static void on_undone(struct tui_page *page, const struct event *event)
{
	const struct ev_undo_completed *undo = event->msg.undo_completed;
	struct str text = undo->success ? STR("The files were restored") : STR("The files could not be restored");
	tui_page_cell(page, undo->success ? &tui_note_look : &tui_error_look, undo->message.len ? undo->message : text);
}

static void on_plan_update(struct tui_page *page, const struct event *event)
{
	static const struct tui_look looks[] = {[step_status_pending] = {"  □ ", TERM_plain, TERM_plain},
	                                        [step_status_in_progress] = {"  ▸ ", TERM_bold, TERM_bold},
	                                        [step_status_completed] = {"  ✔ ", TERM_dim, TERM_dim}};
	const struct ev_plan_update *update = event->msg.plan_update;
	tui_page_cell(page, &title_look, STR("Updated Plan"));
	if (update->explanation.len)
		tui_page_write(page, &tui_detail_look, update->explanation);
	for (size_t i = 0; i < update->plan_count; i++)
		tui_page_write(page, &looks[update->plan[i].status], update->plan[i].step);
}

static void on_patch_end(struct tui_page *page, const struct event *event)
{
	const struct ev_patch_end *ended = event->msg.patch_apply_end;
	if (str_is(ended->standard_error, PATCH_DECLINED)) {
		tui_page_cell(page, &tui_error_look, STR("The edits were declined"));
		return;
	}
	tui_page_cell(page, &tui_error_look, STR("The patch could not be applied"));
	write_detail(page, ended->standard_error, DETAIL_LINES);
}

static void on_interaction(struct tui_page *page, const struct event *event)
{
	const struct ev_terminal_interaction *interaction = event->msg.terminal_interaction;
	if (!interaction->standard_input.len) /* it only waits for output */
		return;
	write_line(page, &title_look, "Wrote to background terminal ", interaction->process_id);
	write_detail(page, interaction->standard_input, PROMPT_LINES);
}

/* ---- reviews ---- */

static struct str review_subject(const struct ev_entered_review_mode *review)
{
	const struct review_target *target = review->target;
	if (review->user_facing_hint.len)
		return review->user_facing_hint;
	if (target && target->tag == review_target_base_branch)
		return target->base_branch->branch;
	if (target && target->tag == review_target_commit)
		return target->commit->sha;
	if (target && target->tag == review_target_custom)
		return target->custom->instructions;
	return STR("current changes");
}

static void on_review_begun(struct tui_page *page, const struct event *event)
{
	static const struct tui_look look = {">> ", TERM_dim, TERM_bold};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Code review started: %.*s <<", STR_ARG(review_subject(event->msg.entered_review_mode)));
	tui_page_cell(page, &look, buf_str(&text));
}

static void write_finding(struct tui_page *page, const struct review_finding *finding)
{
	static const struct tui_look look = {"- ", TERM_dim, TERM_bold}, body_look = {"  ", TERM_plain, TERM_plain};
	const struct review_code_location *place = finding->code_location;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	if (!str_has_prefix(finding->title, "["))
		buf_printf(&title, "[P%lld] ", (long long)finding->priority);
	buf_append_str(&title, finding->title);
	if (place)
		buf_printf(&title, " — %.*s", STR_ARG(place->absolute_file_path));
	if (place && place->line_range)
		buf_printf(&title, ":%lld-%lld", (long long)place->line_range->start,
		           (long long)place->line_range->end);
	tui_page_cell(page, &look, buf_str(&title));
	tui_stream_write(page, &body_look, finding->body);
}

static void on_review_ended(struct tui_page *page, const struct event *event)
{
	static const struct tui_look look = {"<< ", TERM_dim, TERM_bold};
	const struct review_output *output = event->msg.exited_review_mode->review_output;
	tui_page_cell(page, &look, STR("Code review finished >>"));
	if (output && output->overall_explanation.len) {
		tui_page_begin(page);
		tui_stream_write(page, &tui_agent_look, output->overall_explanation);
	}
	for (size_t i = 0; output && i < output->findings_count; i++)
		write_finding(page, &output->findings[i]);
}

/* ---- tools ---- */

/* Writes the texts of a CallToolResult. */
static void write_answer(struct tui_page *page, struct str answer)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text;
	const struct json *root = json_parse(&arena, answer, NULL);
	const struct json *content = root ? json_get(root, "content") : NULL;
	buf_init(&text, LIMIT_LINE);
	json_for_each(part, content) {
		struct str piece = json_get_str(part, "text");
		buf_append_str(&text, piece.len ? piece : STR("(content that is not text)"));
		buf_append_char(&text, '\n');
	}
	write_detail(page, text.len ? buf_str(&text) : answer, DETAIL_LINES);
}

static void write_call(struct tui_page *page, struct str server, struct str tool, struct str arguments,
                       struct str answer, struct str error)
{
	auto_buf struct buf title;
	bool is_long = arguments.len > ARGUMENTS_SHOWN && !page->is_full;
	size_t len = is_long ? text_floor_boundary(arguments, ARGUMENTS_SHOWN) : arguments.len;
	buf_init(&title, LIMIT_LINE);
	buf_printf(&title, "Called %.*s.%.*s(", STR_ARG(server), STR_ARG(tool));
	buf_append_str(&title, str_is(arguments, "null") ? STR("") : str_n(arguments.ptr, len));
	buf_append_c(&title, is_long ? "…)" : ")");
	tui_page_cell(page, &title_look, buf_str(&title));
	if (error.len)
		tui_page_write(page, &(struct tui_look){"  └ ", TERM_dim, TERM_red}, error);
	else if (answer.len)
		write_answer(page, answer);
}

static void on_mcp_end(struct tui_page *page, const struct event *event)
{
	const struct ev_mcp_call_end *ended = event->msg.mcp_tool_call_end;
	const struct mcp_result *result = ended->result;
	bool is_ok = result && result->tag == mcp_result_ok;
	if (!ended->invocation)
		return;
	write_call(page, ended->invocation->server, ended->invocation->tool, ended->invocation->arguments,
	           is_ok ? result->ok->answer : STR(""), !is_ok && result ? result->err->reason : STR(""));
}

static void on_mcp_started(struct tui_page *page, const struct event *event)
{
	const struct ev_mcp_startup_complete *startup = event->msg.mcp_startup_complete;
	for (size_t i = 0; i < startup->failed_count; i++) {
		write_line(page, &tui_warning_look, "MCP server could not be started: ", startup->failed[i].server);
		write_detail(page, startup->failed[i].error, DETAIL_LINES);
	}
}

static void on_dynamic_end(struct tui_page *page, const struct event *event)
{
	write_line(page, &title_look, "Called ", event->msg.dynamic_tool_call_response->tool);
}

/* ---- subagents ---- */

static void write_agent(struct tui_page *page, const char *verb, struct str nickname, struct str id, struct str note)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_append_c(&text, verb);
	buf_append_str(&text, nickname.len ? nickname : id);
	if (note.len)
		buf_printf(&text, " (%.*s)", STR_ARG(note));
	tui_page_cell(page, &title_look, buf_str(&text));
}

static void on_spawned(struct tui_page *page, const struct event *event)
{
	const struct ev_collab_spawn_end *spawn = event->msg.collab_agent_spawn_end;
	bool is_new = spawn->new_thread_id.len > 0;
	write_agent(page, is_new ? "Spawned " : "A subagent could not be started", spawn->new_agent_nickname,
	            spawn->new_thread_id, spawn->model);
	write_detail(page, spawn->prompt, PROMPT_LINES);
}

static void on_sent(struct tui_page *page, const struct event *event)
{
	const struct ev_collab_interaction_end *sent = event->msg.collab_agent_interaction_end;
	write_agent(page, "Sent a message to ", sent->receiver_agent_nickname, sent->receiver_thread_id, STR(""));
	write_detail(page, sent->prompt, PROMPT_LINES);
}

static void on_waited(struct tui_page *page, const struct event *event)
{
	const struct ev_collab_waiting_end *waited = event->msg.collab_waiting_end;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	buf_printf(&text, "Waited for %zu subagent%s", waited->statuses_count, waited->statuses_count == 1 ? "" : "s");
	tui_page_cell(page, &title_look, buf_str(&text));
}

static void on_closed(struct tui_page *page, const struct event *event)
{
	const struct ev_collab_close_end *closed = event->msg.collab_close_end;
	write_agent(page, "Closed ", closed->receiver_agent_nickname, closed->receiver_thread_id, STR(""));
}

static void on_resumed(struct tui_page *page, const struct event *event)
{
	const struct ev_collab_resume_end *resumed = event->msg.collab_resume_end;
	write_agent(page, "Resumed ", resumed->receiver_agent_nickname, resumed->receiver_thread_id, STR(""));
}

/* ---- the table ---- */

typedef void (*note_fn)(struct tui_page *page, const struct event *event);

static const note_fn notes[EV_count] = {
	[EV_warning] = on_warning,
	[EV_guardian_warning] = on_guardian,
	[EV_error] = on_error,
	[EV_stream_error] = on_stream_error,
	[EV_background_event] = on_background,
	[EV_model_reroute] = on_reroute,
	[EV_deprecation_notice] = on_deprecation,
	[EV_thread_rolled_back] = on_rolled_back,
	[EV_thread_name_updated] = on_renamed,
	[EV_view_image_tool_call] = on_image,
	[EV_undo_completed] = on_undone,
	[EV_plan_update] = on_plan_update,
	[EV_patch_apply_end] = on_patch_end,
	[EV_terminal_interaction] = on_interaction,
	[EV_entered_review_mode] = on_review_begun,
	[EV_exited_review_mode] = on_review_ended,
	[EV_mcp_tool_call_end] = on_mcp_end,
	[EV_mcp_startup_complete] = on_mcp_started,
	[EV_dynamic_tool_call_response] = on_dynamic_end,
	[EV_collab_agent_spawn_end] = on_spawned,
	[EV_collab_agent_interaction_end] = on_sent,
	[EV_collab_waiting_end] = on_waited,
	[EV_collab_close_end] = on_closed,
	[EV_collab_resume_end] = on_resumed,
};

bool tui_cell_note_has(const struct event *event)
{
	if (event->msg.tag == EV_patch_apply_end)
		return !event->msg.patch_apply_end->success;
	if (event->msg.tag == EV_mcp_startup_complete)
		return event->msg.mcp_startup_complete->failed_count > 0;
	if (event->msg.tag == EV_terminal_interaction)
		return event->msg.terminal_interaction->standard_input.len > 0;
	return notes[event->msg.tag] != NULL;
}

void tui_cell_note(struct tui_page *page, const struct event *event)
{
	notes[event->msg.tag](page, event);
}
