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

static void append_item(struct buf *out, const struct app_thread_item *item)
{
	switch (item->tag) {
	case app_thread_item_user_message:
		append_user(out, item->user_message);
		return;
	case app_thread_item_agent_message:
		buf_append_c(out, "## Agent\n\n");
		append_paragraph(out, item->agent_message->text);
		return;
	case app_thread_item_plan:
		buf_append_c(out, "## Plan\n\n");
		append_paragraph(out, item->plan->text);
		return;
	case app_thread_item_reasoning:
		append_reasoning(out, item->reasoning);
		return;
	case app_thread_item_command_execution:
		append_command(out, item->command_execution);
		return;
	case app_thread_item_file_change:
		append_patch(out, item->file_change);
		return;
	case app_thread_item_web_search:
		buf_append_c(out, "### Web search ");
		append_code(out, item->web_search->query);
		buf_append_c(out, "\n\n");
		return;
	case app_thread_item_context_compaction:
		buf_append_c(out, "*(the history was replaced by a summary here)*\n\n");
		return;
	default:
		buf_append_c(out, "*(item not shown here; see `--format json`)*\n\n");
		return;
	}
}

/* ---- the whole ---- */

static void append_turn(struct buf *out, const struct app_turn *turn)
{
	for (size_t i = 0; i < turn->items_count; i++)
		append_item(out, &turn->items[i]);
	if (turn->error)
		buf_printf(out, "**The turn failed:** %.*s\n\n", STR_ARG(turn->error->message));
	else if (turn->status == app_turn_status_interrupted)
		buf_append_c(out, "*(the turn was interrupted)*\n\n");
}

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
	struct str words = str_trim(name.len ? name : history->preview), title = words;
	char began[CLOCK_RFC3339_SIZE];
	str_next_line(&words, &title);
	clock_rfc3339(history->created_at_ms, began);
	buf_printf(out, "# %.*s\n\n", STR_ARG(title.len ? title : STR("Session")));
	append_fact(out, "Session", meta->thread_id);
	append_fact(out, "Forked from", meta->forked_from_id);
	append_fact(out, "Began", meta->timestamp.len ? meta->timestamp : str_of(began));
	append_fact(out, "Folder", meta->cwd);
	append_fact(out, "Branch", meta->git_branch);
	buf_append_char(out, '\n');
	for (size_t i = 0; i < history->count; i++)
		append_turn(out, &history->turns[i]);
}
