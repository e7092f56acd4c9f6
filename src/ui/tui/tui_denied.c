/* /approve: one retry of an action that the automatic reviewer denied. The engine keeps the action itself and reports
 * in a guardian_warning whether it was approved; the reviewer sees the approval, and the retry must be the same action.
 * The latest denial is shown first. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_priv.h"

enum { DENIED_MAX = 16, OLDER = 1, CHOICES = 3 };

static void drop(struct tui *tui, size_t at)
{
	event_destroy(tui->denied.items[at]);
	tui->denied.count--;
	memmove(&tui->denied.items[at], &tui->denied.items[at + 1],
	        (tui->denied.count - at) * sizeof(tui->denied.items[0]));
}

void tui_denied_add(struct tui *tui, const struct event *event)
{
	const struct ev_guardian_assessment *review = event->msg.guardian_assessment;
	if (review->status != guardian_status_denied && review->status != guardian_status_timed_out)
		return;
	if (tui->denied.count == DENIED_MAX)
		drop(tui, 0);
	vec_push(&tui->denied, event_create(event->id, EV_guardian_assessment, review));
}

void tui_denied_forget(struct tui *tui)
{
	while (tui->denied.count)
		drop(tui, tui->denied.count - 1);
	vec_finish(&tui->denied);
}

/* Returns the index, or the count. */
static size_t find(const struct tui *tui, struct str id)
{
	size_t at = 0;
	while (at < tui->denied.count && !str_eq(tui->denied.items[at]->msg.guardian_assessment->id, id))
		at++;
	return at;
}

static void add_action(struct buf *out, const struct guardian_action *action)
{
	if (action->tag == guardian_action_command) {
		buf_printf(out, "$ %.*s\n\nIn ", STR_ARG(action->command->command));
		text_append_line(out, action->command->cwd);
	} else if (action->tag == guardian_action_apply_patch) {
		buf_append_c(out, "Edits, whose content is in the transcript (ctrl-t), in ");
		text_append_line(out, action->apply_patch->cwd);
		for (size_t i = 0; i < action->apply_patch->files_count; i++) {
			buf_append_c(out, "\n  ");
			text_append_line(out, action->apply_patch->files[i]);
		}
	} else {
		buf_append_c(out, "The tool ");
		text_append_line(out, action->mcp_tool_call->tool_name);
		buf_append_c(out, " of the MCP server ");
		text_append_line(out, action->mcp_tool_call->server);
		buf_append_c(out, "; its arguments are in the transcript (ctrl-t)");
	}
}

static void show(struct tui *tui, size_t at);

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	struct ev_guardian_assessment *denied = chosen->about->msg.guardian_assessment;
	struct op_approve_guardian_denied_action op = {denied};
	size_t at = find(tui, denied->id);
	if (chosen->at == 0) {
		tui_submit(tui, OP_approve_guardian_denied_action, &op);
		if (at < tui->denied.count)
			drop(tui, at);
	} else if (chosen->at == OLDER && at > 0 && at < tui->denied.count) {
		show(tui, at - 1);
	}
}

static void show(struct tui *tui, size_t at)
{
	static const struct tui_choice all[CHOICES] = {
		{"Yes, approve one retry (y)", NULL, 'y'}, {"Show an older one (o)", NULL, 'o'}, {"No (esc)", NULL, 0}};
	struct tui_choice items[CHOICES] = {all[0], at ? all[OLDER] : all[2], all[2]};
	const struct event *event = tui->denied.items[at];
	const struct ev_guardian_assessment *denied = event->msg.guardian_assessment;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_append_c(&title, "Approve one retry of this denied action?\n\n");
	buf_append_c(&title, "Denied: ");
	text_append_line(&title, denied->rationale); /* of a model: it must not look like the action */
	buf_append_c(&title, "\n\n");
	add_action(&title, denied->action);
	buf_append_c(&title, "\n\nCall ");
	text_append_line(&title, denied->target_item_id);
	buf_append_c(&title, "\n\n");
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = items,
	                           .count = at ? CHOICES : CHOICES - 1,
	                           .current = at ? CHOICES - 1 : CHOICES - 2,
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_chosen,
	                           .self = tui};
	struct event *about = event_create(event->id, EV_guardian_assessment, denied);
	tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, about));
}

void on_slash_approve(struct tui *tui, struct str text)
{
	(void)text;
	if (tui->denied.count)
		show(tui, tui->denied.count - 1);
	else
		tui_cells_note(tui->cells, STR("The automatic reviewer has denied nothing in this session"));
}
