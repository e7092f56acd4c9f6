/* Messages are Markdown and copied unchanged. Output of programs is written as a code block whose delimiter is
 * longer than any run of backticks in it, so that output cannot end the block and appear as text of the agent. Items
 * without text are named, not omitted. */
#include "ui/sessions/transcript.h"

#include <string.h>

#include "app_server/history/thread_history.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/mem.h"
#include "rollout/rollout_meta.h"

static size_t longest_run(struct str text, char c)
{
	size_t longest = 0, run = 0;
	for (size_t i = 0; i < text.len; i++) {
		run = text.ptr[i] == c ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static void append_times(struct buf *out, char c, size_t count)
{
	while (count--)
		buf_append_char(out, c);
}

static void append_block(struct buf *out, const char *language, struct str text)
{
	size_t fence = longest_run(text, '`') + 1;
	fence = fence < 3 ? 3 : fence;
	append_times(out, '`', fence);
	buf_printf(out, "%s\n", language);
	buf_append_str(out, text);
	if (!str_has_suffix(text, "\n"))
		buf_append_char(out, '\n');
	append_times(out, '`', fence);
	buf_append_c(out, "\n\n");
}

/* Writes an inline code span, with as many backticks as the text requires. */
static void append_code(struct buf *out, struct str text)
{
	size_t run = longest_run(text, '`');
	append_times(out, '`', run + 1);
	buf_append_c(out, run ? " " : "");
	for (size_t i = 0; i < text.len; i++)
		buf_append_char(out, text.ptr[i] == '\n' ? ' ' : text.ptr[i]);
	buf_append_c(out, run ? " " : "");
	append_times(out, '`', run + 1);
}

static void append_paragraph(struct buf *out, struct str text)
{
	buf_append_str(out, str_trim_end(text));
	buf_append_c(out, "\n\n");
}

/* ---- items ---- */

static void append_user(struct buf *out, const struct app_item_user_message *message)
{
	buf_append_c(out, "## User\n\n");
	for (size_t i = 0; i < message->content_count; i++) {
		const struct app_user_input *input = &message->content[i];
		if (input->tag == app_user_input_text && input->text)
			append_paragraph(out, input->text->text);
		else
			buf_append_c(out, "*(an attachment)*\n\n");
	}
}

static void append_quoted(struct buf *out, struct str text)
{
	struct str line;
	while (str_next_line(&text, &line)) {
		buf_append_c(out, "> ");
		buf_append_str(out, line);
		buf_append_char(out, '\n');
	}
}

static void append_reasoning(struct buf *out, const struct app_item_reasoning *reasoning)
{
	for (size_t i = 0; i < reasoning->summary_count; i++) {
		append_quoted(out, reasoning->summary[i]);
		buf_append_char(out, '\n');
	}
}

static void append_command(struct buf *out, const struct app_item_command_execution *command)
{
	buf_append_c(out, "### Command ");
	append_code(out, command->command);
	buf_append_c(out, "\n\n");
	if (command->has_exit_code && command->exit_code != 0)
		buf_printf(out, "Exit code %lld\n\n", (long long)command->exit_code);
	else if (!command->has_exit_code)
		buf_printf(out, "%s\n\n", enum_wire(&enum_app_command_execution_status, (int)command->status));
	if (command->aggregated_output.len)
		append_block(out, "text", command->aggregated_output);
}

static void append_change(struct buf *out, const struct app_file_update_change *change)
{
	static const char *const words[] = {
		[app_patch_change_kind_add] = "new",
		[app_patch_change_kind_delete] = "deleted",
		[app_patch_change_kind_update] = "changed",
	};
	append_code(out, change->path);
	buf_printf(out, ", %s\n\n", words[change->kind->tag]);
	append_block(out, change->kind->tag == app_patch_change_kind_update ? "diff" : "text", change->diff);
}

static void append_patch(struct buf *out, const struct app_item_file_change *patch)
{
	const char *status = enum_wire(&enum_app_patch_apply_status, (int)patch->status);
	buf_printf(out, "### Patch%s%s\n\n", patch->status == app_patch_apply_status_completed ? "" : ", ",
	           patch->status == app_patch_apply_status_completed ? "" : status);
	for (size_t i = 0; i < patch->changes_count; i++)
		append_change(out, &patch->changes[i]);
}

static void append_message(struct buf *out, bool is_plan, struct str text)
{
	buf_append_c(out, is_plan ? "## Plan\n\n" : "## Agent\n\n");
	append_paragraph(out, text);
}

static void append_search(struct buf *out, struct str query)
{
	buf_append_c(out, "### Web search ");
	append_code(out, query);
	buf_append_c(out, "\n\n");
}

static void append_note(struct buf *out, const char *text)
{
	buf_printf(out, "*(%s)*\n\n", text);
}

static void append_failure(struct buf *out, struct str text)
{
	buf_printf(out, "**The turn failed:** %.*s\n\n", STR_ARG(text));
}

static const struct transcript_form markdown = {
	.user = append_user,
	.message = append_message,
	.reasoning = append_reasoning,
	.command = append_command,
	.patch = append_patch,
	.search = append_search,
	.note = append_note,
	.failure = append_failure,
};

/* ---- the turns, in any form ---- */

static void append_item(struct buf *out, const struct transcript_form *form, const struct app_thread_item *item)
{
	switch (item->tag) {
	case app_thread_item_user_message:
		form->user(out, item->user_message);
		return;
	case app_thread_item_agent_message:
		form->message(out, false, item->agent_message->text);
		return;
	case app_thread_item_plan:
		form->message(out, true, item->plan->text);
		return;
	case app_thread_item_reasoning:
		form->reasoning(out, item->reasoning);
		return;
	case app_thread_item_command_execution:
		form->command(out, item->command_execution);
		return;
	case app_thread_item_file_change:
		form->patch(out, item->file_change);
		return;
	case app_thread_item_web_search:
		form->search(out, item->web_search->query);
		return;
	case app_thread_item_context_compaction:
		form->note(out, "the history was replaced by a summary here");
		return;
	default:
		form->note(out, "item not shown here; see `--format json`");
		return;
	}
}

void transcript_append_turns(struct buf *out, const struct transcript_form *form, const struct thread_history *history)
{
	for (size_t i = 0; i < history->count; i++) {
		const struct app_turn *turn = &history->turns[i];
		for (size_t at = 0; at < turn->items_count; at++)
			append_item(out, form, &turn->items[at]);
		if (turn->error)
			form->failure(out, turn->error->message);
		else if (turn->status == app_turn_status_interrupted)
			form->note(out, "the turn was interrupted");
	}
}

struct str transcript_title(struct str name, const struct thread_history *history)
{
	struct str words = str_trim(name.len ? name : history->preview), title = words;
	str_next_line(&words, &title);
	return title.len ? title : STR("Session");
}

/* ---- the whole ---- */

static void append_fact(struct buf *out, const char *what, struct str value)
{
	if (!value.len)
		return;
	buf_printf(out, "- %s: ", what);
	append_code(out, value);
	buf_append_char(out, '\n');
}

void transcript_write(const struct rollout_meta *meta, struct str name, const struct thread_history *history,
                      struct buf *out)
{
	struct str title = transcript_title(name, history);
	char began[CLOCK_RFC3339_SIZE];
	clock_rfc3339(history->created_at_ms, began);
	buf_printf(out, "# %.*s\n\n", STR_ARG(title));
	append_fact(out, "Session", meta->thread_id);
	append_fact(out, "Forked from", meta->forked_from_id);
	append_fact(out, "Began", meta->timestamp.len ? meta->timestamp : str_of(began));
	append_fact(out, "Folder", meta->cwd);
	append_fact(out, "Branch", meta->git_branch);
	buf_append_char(out, '\n');
	transcript_append_turns(out, &markdown, history);
}
