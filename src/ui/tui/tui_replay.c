/* The items are those of the app-server's history, which knows all versions of the file. */
#include "ui/tui/tui_replay.h"

#include <stdio.h>

#include "app_server/history/item_view.h"
#include "app_server/history/thread_history.h"
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/app.h"
#include "protocol/message/message.h"
#include "protocol/record/types.h"
#include "rollout/rollout_reader.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_answers.h"
#include "ui/tui/tui_cell_exec.h"
#include "ui/tui/tui_cell_note.h"
#include "ui/tui/tui_cell_patch.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_stream.h"

struct replay {
	struct tui_page *page;
	const struct thread_history *history;
	size_t checklists;   /* number of those that are written */
	size_t turn;         /* index of the one that is written */
	size_t reasons;      /* number of those of denials that belong to turns before */
	size_t reasons_used; /* the last one that was found in the turn, counted from 1; 0: none */
	struct tui_explored explored;
	bool is_over; /* no turn runs */
};

static void end_explored(struct replay *replay)
{
	if (tui_explored_is_empty(&replay->explored))
		return;
	tui_cell_explored(replay->page, &replay->explored);
	tui_explored_clear(&replay->explored);
}

static void write_markdown(struct tui_page *page, const struct tui_look *look, struct str text)
{
	if (str_is_blank(text))
		return;
	tui_page_begin(page);
	tui_stream_write(page, look, str_trim_end(text));
}

static void write_user(struct tui_page *page, const struct app_item_user_message *message)
{
	auto_buf struct buf text;
	size_t images = 0;
	buf_init(&text, LIMIT_TUI_TEXT);
	for (size_t i = 0; i < message->content_count; i++) {
		const struct app_user_input *input = &message->content[i];
		if (input->tag == app_user_input_text && input->text)
			buf_append_str(&text, input->text->text);
		else
			images++;
	}
	tui_cell_user(page, buf_str(&text), images);
}

/* ---- commands ---- */

/* Converts the actions of a command; returns 0 if there are others than reads, lists and searches. */
struct actions {
	struct parsed_command list[LIMIT_TUI_REPLAY_ACTIONS];
	struct parsed_read reads[LIMIT_TUI_REPLAY_ACTIONS];
	struct parsed_list lists[LIMIT_TUI_REPLAY_ACTIONS];
	struct parsed_search searches[LIMIT_TUI_REPLAY_ACTIONS];
};

static bool convert_action(struct actions *actions, size_t at, const struct app_command_action *action)
{
	struct parsed_command *to = &actions->list[at];
	if (action->tag == app_command_action_read) {
		actions->reads[at] = (struct parsed_read){.cmd = action->read->command, .name = action->read->name};
		*to = (struct parsed_command){.tag = parsed_command_read, .read = &actions->reads[at]};
	} else if (action->tag == app_command_action_list_files) {
		actions->lists[at] =
			(struct parsed_list){.cmd = action->list_files->command, .path = action->list_files->path};
		*to = (struct parsed_command){.tag = parsed_command_list_files, .list_files = &actions->lists[at]};
	} else if (action->tag == app_command_action_search) {
		actions->searches[at] = (struct parsed_search){
			.cmd = action->search->command, .query = action->search->query, .path = action->search->path};
		*to = (struct parsed_command){.tag = parsed_command_search, .search = &actions->searches[at]};
	} else {
		return false;
	}
	return true;
}

static bool add_explored(struct replay *replay, const struct app_item_command_execution *command)
{
	struct actions actions;
	size_t count = command->command_actions_count;
	if (replay->page->is_full || !command->has_exit_code || command->exit_code || count > LIMIT_TUI_REPLAY_ACTIONS)
		return false;
	for (size_t i = 0; i < count; i++) {
		if (!convert_action(&actions, i, &command->command_actions[i]))
			return false;
	}
	return tui_explored_add(&replay->explored, (uint64_t)command->started_at_ms, actions.list, count);
}

/* Returns why the command of this call was declined, or an empty text. Ids may repeat, and outputs have another order
 * than items, so the search begins after the reason that was found last. */
static struct str reason_of(struct replay *replay, struct str call_id)
{
	const struct history_notes *notes = &replay->history->notes;
	const struct history_reason *reasons = notes->reasons;
	size_t count = 0;
	for (; replay->reasons < notes->reason_count && reasons[replay->reasons].turn < replay->turn; replay->reasons++)
		replay->reasons_used = 0;
	reasons += replay->reasons;
	while (replay->reasons + count < notes->reason_count && reasons[count].turn == replay->turn)
		count++;
	for (size_t i = 0; i < count; i++) {
		const struct history_reason *it = &reasons[(replay->reasons_used + i) % count];
		if (!str_eq(it->call_id, call_id))
			continue;
		replay->reasons_used = (size_t)(it - reasons) + 1;
		return it->text;
	}
	return STR("");
}

static void write_declined(struct tui_page *page, struct str command, struct str reason)
{
	auto_buf struct buf line;
	struct str first;
	buf_init(&line, LIMIT_LINE);
	bool is_whole = page->is_full || (str_next_line(&command, &first) && !command.len);
	if (page->is_full)
		first = command;
	buf_printf(&line, "✗ The request to run %.*s%s was declined%s%.*s", STR_ARG(first), is_whole ? "" : " …",
	           reason.len ? ": " : "", STR_ARG(reason));
	tui_page_cell(page, &tui_note_look, buf_str(&line));
}

static void write_command(struct replay *replay, const struct app_item_command_execution *command)
{
	if (add_explored(replay, command))
		return;
	end_explored(replay);
	auto_buf struct buf script;
	buf_init(&script, command->command.len + 1);
	terminal_line_append(&script, command->command);
	if (command->status == app_command_execution_status_declined && !command->has_exit_code) {
		write_declined(replay->page, buf_str(&script), reason_of(replay, command->id));
		return;
	}
	tui_cell_exec(replay->page,
	              &(struct tui_exec){.command = buf_str(&script),
	                                 .output = command->aggregated_output,
	                                 .exit_code = command->exit_code,
	                                 .duration_ms = command->has_duration_ms ? command->duration_ms : 0,
	                                 .is_user = command->source == app_command_execution_source_user_shell,
	                                 .is_unended = !command->has_exit_code});
}

/* The diff of a renamed file ends with a paragraph that names its new path. */
static struct str without_move(struct str diff, struct str path)
{
	static const char words[] = "\n\nMoved to: ";
	size_t len = strlen(words) + path.len;
	bool has = diff.len >= len && str_has_prefix(str_n(diff.ptr + diff.len - len, len), words);
	return has ? str_n(diff.ptr, diff.len - len) : diff;
}

static void write_patch(struct tui_page *page, const struct app_item_file_change *patch)
{
	static const enum tui_change_kind kinds[] = {[app_patch_change_kind_add] = CHANGE_added,
	                                             [app_patch_change_kind_delete] = CHANGE_deleted,
	                                             [app_patch_change_kind_update] = CHANGE_edited};
	size_t count = patch->changes_count;
	auto_free struct tui_change *list = xcalloc(count ? count : 1, sizeof(*list));
	for (size_t i = 0; i < count; i++) {
		const struct app_file_update_change *change = &patch->changes[i];
		list[i] = (struct tui_change){
			.kind = kinds[change->kind->tag], .path = change->path, .text = change->diff};
		if (change->kind->tag == app_patch_change_kind_update && change->kind->update &&
		    change->kind->update->move__path.len) {
			list[i].move_path = change->kind->update->move__path;
			list[i].text = without_move(change->diff, list[i].move_path);
		}
	}
	tui_cell_patch(page, list, count);
	if (patch->status == app_patch_apply_status_declined)
		tui_page_cell(page, &tui_error_look, STR("The edits were declined"));
	else if (patch->status == app_patch_apply_status_failed)
		tui_page_cell(page, &tui_error_look, STR("The patch could not be applied"));
}

/* ---- other items ---- */

static void write_text(struct tui_page *page, const char *begin, struct str text)
{
	auto_buf struct buf line;
	buf_init(&line, LIMIT_LINE);
	buf_append_c(&line, begin);
	buf_append_str(&line, text);
	tui_page_cell(page, &tui_note_look, buf_str(&line));
}

static void write_reasoning(struct tui_page *page, const struct app_item_reasoning *reasoning)
{
	static const struct tui_look look = {"  ", TERM_plain, TERM_plain};
	for (size_t i = 0; page->is_full && !page->hides_thoughts && i < reasoning->summary_count; i++)
		write_markdown(page, &look, reasoning->summary[i]);
}

/* Writes the cell of the event that ended the call. One that was interrupted has no result. */
static void write_mcp(struct tui_page *page, const struct app_thread_item_mcp_tool_call *call)
{
	auto_free char *answer = NULL;
	struct mcp_invocation invocation = {call->server, call->tool, call->arguments};
	struct mcp_answer ok = {0};
	struct mcp_failure failure = {call->error ? call->error->message : STR("")};
	struct mcp_result result = {.tag = mcp_result_err, .err = &failure};
	if (call->result) {
		struct str more = call->result->structured_content;
		answer = xasprintf("{\"content\":%.*s%s%.*s}", STR_ARG(call->result->content),
		                   more.ptr ? ",\"structuredContent\":" : "", STR_ARG(more));
		ok.answer = str_of(answer);
		result = (struct mcp_result){.tag = mcp_result_ok, .ok = &ok};
	}
	struct ev_mcp_call_end end = {.invocation = &invocation, .result = &result};
	tui_cell_note(page, &(struct event){.msg = {.tag = EV_mcp_tool_call_end, .mcp_tool_call_end = &end}});
}

static void write_dynamic(struct tui_page *page, const struct app_item_dynamic_tool_call *call)
{
	struct ev_dynamic_tool_done done = {.tool = call->tool};
	tui_cell_note(page, &(struct event){.msg = {.tag = EV_dynamic_tool_call_response,
	                                            .dynamic_tool_call_response = &done}});
}

/* Writes the cell of the event that ended the call. */
static void write_collab(struct replay *replay, const struct app_item_collab_agent_tool_call *call)
{
	struct str id = call->receiver_thread_ids_count ? call->receiver_thread_ids[0] : STR("");
	struct str name = history_notes_name(&replay->history->notes, id);
	struct ev_collab_spawn_end spawned = {
		.new_thread_id = id, .new_agent_nickname = name, .prompt = call->prompt, .model = call->model};
	struct ev_collab_interaction_end sent = {
		.receiver_thread_id = id, .receiver_agent_nickname = name, .prompt = call->prompt};
	struct ev_collab_waiting_end waited = {.statuses_count = call->agents_states_count};
	struct ev_collab_close_end closed = {.receiver_thread_id = id, .receiver_agent_nickname = name};
	struct ev_collab_resume_end resumed = {.receiver_thread_id = id, .receiver_agent_nickname = name};
	const struct event_msg ends[] = {
		{.tag = EV_collab_agent_spawn_end, .collab_agent_spawn_end = &spawned},
		{.tag = EV_collab_agent_interaction_end, .collab_agent_interaction_end = &sent},
		{.tag = EV_collab_resume_end, .collab_resume_end = &resumed},
		{.tag = EV_collab_waiting_end, .collab_waiting_end = &waited},
		{.tag = EV_collab_close_end, .collab_close_end = &closed},
	}; /* in the order of enum app_collab_agent_tool */
	if (call->status != app_collab_agent_tool_call_status_in_progress && (size_t)call->tool < countof(ends))
		tui_cell_note(replay->page, &(struct event){.msg = ends[call->tool]});
}

/* Writes the checklists that come before the item, as the model gave them; others than the tool accepts are left out.
 */
static void write_checklists(struct replay *replay, size_t turn, size_t item, bool is_shown)
{
	const struct history_notes *notes = &replay->history->notes;
	for (; replay->checklists < notes->checklist_count; replay->checklists++) {
		const struct history_checklist *it = &notes->checklists[replay->checklists];
		auto_arena struct arena arena = {0};
		struct ev_plan_update update = {0}; /* decoding leaves absent members as they are */
		if (it->turn > turn || (it->turn == turn && it->item > item))
			return;
		if (is_shown && it->is_question) {
			end_explored(replay);
			tui_answers_replay(replay->page, it->arguments, it->answers);
			continue;
		}
		if (!is_shown || record_decode(&record_ev_plan_update, json_parse(&arena, it->arguments, NULL), &arena,
		                               &update, NULL) != 0)
			continue;
		end_explored(replay);
		tui_cell_note(replay->page, &(struct event){.msg = {.tag = EV_plan_update, .plan_update = &update}});
	}
}

static void write_other(struct replay *replay, const struct app_thread_item *item)
{
	struct tui_page *page = replay->page;
	switch (item->tag) {
	case app_thread_item_agent_message:
		write_markdown(page, &tui_agent_look, item->agent_message->text);
		break;
	case app_thread_item_plan:
		tui_page_cell(page, &tui_note_look, STR("Proposed Plan"));
		write_markdown(page, &tui_plan_look, item->plan->text);
		break;
	case app_thread_item_reasoning:
		write_reasoning(page, item->reasoning);
		break;
	case app_thread_item_file_change:
		write_patch(page, item->file_change);
		break;
	case app_thread_item_web_search:
		write_text(page, "Searched the web: ", item->web_search->query);
		break;
	case app_thread_item_image_view:
		write_text(page, "Viewed image ", item->image_view->path);
		break;
	case app_thread_item_mcp_tool_call:
		write_mcp(page, item->mcp_tool_call);
		break;
	case app_thread_item_dynamic_tool_call:
		write_dynamic(page, item->dynamic_tool_call);
		break;
	case app_thread_item_collab_agent_tool_call:
		write_collab(replay, item->collab_agent_tool_call);
		break;
	case app_thread_item_context_compaction:
		tui_page_cell(page, &tui_note_look, STR("Context compacted"));
		break;
	default:
		break;
	}
}

static void write_item(struct replay *replay, const struct app_thread_item *item)
{
	if (item->tag == app_thread_item_command_execution) {
		write_command(replay, item->command_execution);
		return;
	}
	if (item->tag != app_thread_item_reasoning)
		end_explored(replay);
	if (item->tag == app_thread_item_user_message)
		write_user(replay->page, item->user_message);
	else
		write_other(replay, item);
}

/* ---- the whole ---- */

/* Says that `count` items are not shown; 0: it is not known how many. */
static void note_earlier(struct replay *replay, size_t count)
{
	char note[96], number[32] = "";
	if (count)
		snprintf(number, sizeof(number), "%zu ", count);
	snprintf(note, sizeof(note), "… %searlier items (ctrl-t to view transcript)", number);
	tui_page_cell(replay->page, &tui_note_look, str_of(note));
}

static bool is_user(const struct app_thread_item *item)
{
	return item->tag == app_thread_item_user_message;
}

static int64_t started(const struct app_thread_item *item)
{
	return item_view_time(item, "started_at_ms");
}

/* Returns when the first item began that followed the message; 0: none has. */
static int64_t answered(const struct app_turn *turn, size_t message)
{
	int64_t first = 0, since = started(&turn->items[message]);
	for (size_t i = message + 1; i < turn->items_count; i++) {
		int64_t begun = started(&turn->items[i]);
		if (!is_user(&turn->items[i]) && begun > since && (!first || begun < first))
			first = begun;
	}
	return first;
}

/* A message that joins the turn is recorded at once, but it is read, and shown, after what the turn waits for at that
 * time. A command in the background may have begun before it, too; it ends after the next item has begun. */
static bool is_joined_late(const struct app_turn *turn, size_t message, size_t item)
{
	const struct app_thread_item *items = turn->items;
	int64_t begun = started(&items[item]);
	if (!is_user(&items[message]) || is_user(&items[item]) || !begun || begun >= started(&items[message]))
		return false;
	int64_t next = answered(turn, message);
	return !next || item_view_time(&items[item], "completed_at_ms") <= next;
}

/* Returns the indexes of the turn's items in the order in which they are shown; owned by the caller. A plan is recorded
 * before the message that proposes it. */
static size_t *order_of(const struct app_turn *turn)
{
	const struct app_thread_item *items = turn->items;
	size_t *order = xcalloc(turn->items_count + 1, sizeof(*order));
	for (size_t i = 0; i < turn->items_count; i++) {
		size_t at = i;
		for (; at > 1 && is_joined_late(turn, order[at - 1], i); at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	for (size_t i = 0; i + 1 < turn->items_count; i++) {
		if (items[order[i]].tag != app_thread_item_plan ||
		    items[order[i + 1]].tag != app_thread_item_agent_message)
			continue;
		size_t plan = order[i];
		order[i] = order[i + 1];
		order[++i] = plan;
	}
	return order;
}

static bool has_answer(const struct app_turn *turn)
{
	for (size_t i = 0; i < turn->items_count; i++) {
		if (turn->items[i].tag == app_thread_item_agent_message)
			return true;
	}
	return false;
}

static void write_end(struct replay *replay, const struct app_turn *turn, bool is_last)
{
	bool is_over = !is_last || replay->is_over || turn->has_completed_at;
	bool is_cut_off = turn->status == app_turn_status_interrupted && is_over;
	bool has_worked = turn->status == app_turn_status_completed && turn->has_duration_ms &&
	                  turn->has_completed_at && has_answer(turn);
	if (!turn->error && !is_cut_off && !has_worked)
		return;
	end_explored(replay);
	if (has_worked) {
		tui_cell_worked(replay->page, turn->duration_ms, turn->completed_at);
		return;
	}
	if (turn->error)
		tui_cell_error(replay->page, turn->error->message);
	else
		tui_cell_error(replay->page, turn->has_completed_at ? STR("Conversation interrupted")
		                                                    : STR("The turn was cut off before its end"));
}

static void write_turns(struct replay *replay, size_t most, bool is_cut)
{
	const struct thread_history *history = replay->history;
	size_t total = 0, at = 0;
	for (size_t i = 0; i < history->count; i++)
		total += history->turns[i].items_count;
	if (is_cut || total > most)
		note_earlier(replay, is_cut ? 0 : total - most);
	for (size_t i = 0; i < history->count; i++) {
		const struct app_turn *turn = &history->turns[i];
		auto_free size_t *order = order_of(turn);
		replay->turn = i;
		for (size_t k = 0; k < turn->items_count; k++, at++) {
			write_checklists(replay, i, k, at + most >= total);
			if (at + most >= total)
				write_item(replay, &turn->items[order[k]]);
		}
		write_checklists(replay, i, SIZE_MAX, at + most >= total);
		if (at + most >= total)
			write_end(replay, turn, i + 1 == history->count);
	}
	end_explored(replay);
}

static int write_part(const char *path, struct rollout_part part, struct replay *replay, size_t most, struct error *err)
{
	auto_arena struct arena arena = {0};
	struct thread_history history;
	struct rollout_reader *reader = rollout_reader_create_part(path, ROLLOUT_EVENTS, part, err);
	if (!reader)
		return -(int)err->code;
	thread_history_read_as(reader, true, &arena, &history);
	replay->history = &history;
	write_turns(replay, most, reader->is_cut && !part.from);
	tui_explored_finish(&replay->explored);
	rollout_reader_destroy(reader);
	return 0;
}

int tui_replay(const char *path, struct tui_page *page, struct error *err)
{
	return write_part(path, (struct rollout_part){.most = LIMIT_ROLLOUT_FILE}, &(struct replay){.page = page},
	                  SIZE_MAX / 2, err);
}

int tui_replay_end(const char *path, uint64_t bytes, bool is_over, struct tui_page *page, struct error *err)
{
	struct replay replay = {.page = page, .is_over = is_over};
	return write_part(path, (struct rollout_part){.most = bytes, .tail = REPLAY_BYTES}, &replay, REPLAY_ITEMS, err);
}

int tui_replay_since(const char *path, uint64_t from, struct tui_page *page, struct error *err)
{
	return write_part(path, (struct rollout_part){.most = LIMIT_ROLLOUT_FILE, .from = from},
	                  &(struct replay){.page = page}, REPLAY_ITEMS, err);
}
