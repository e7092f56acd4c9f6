/* /approve: one retry of an action that the automatic reviewer denied. The engine keeps the action itself and reports
 * in a guardian_warning whether it was approved; the reviewer sees the approval, and the retry must be the same action.
 * The latest denial is shown first. */
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "protocol/message/message.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cell_patch.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_limits.h"
#include "ui/tui/tui_priv.h"

enum { OLDER = 1, CHOICES = 3 };

static void drop(struct tui *tui, size_t at)
{
	event_destroy(tui->denied.items[at].review);
	free(tui->denied.items[at].content);
	tui->denied.count--;
	memmove(&tui->denied.items[at], &tui->denied.items[at + 1],
	        (tui->denied.count - at) * sizeof(tui->denied.items[0]));
}

/* ---- contents ---- */

/* Returns the content of the call, which the caller owns then, and forgets the call; NULL: it is not known. */
static char *take_content(struct tui *tui, struct str call_id)
{
	for (size_t i = tui->begun.count; i-- > 0;) {
		struct tui_content *it = &tui->begun.items[i];
		if (!str_is(call_id, it->call_id))
			continue;
		char *text = it->text;
		free(it->call_id);
		tui->begun.count--;
		memmove(it, it + 1, (tui->begun.count - i) * sizeof(*it));
		return text;
	}
	return NULL;
}

/* A call of more than LIMIT_DENIED_CONTENT could not be approved, so its content is not kept. */
static void begin(struct tui *tui, struct str call_id, struct buf *text)
{
	free(take_content(tui, call_id));
	if (tui->begun.count < LIMIT_BEGUN_CALLS && !text->over)
		vec_push(&tui->begun, (struct tui_content){str_dup(call_id), buf_take(text)});
}

static void begin_patch(struct tui *tui, const struct ev_patch_begin *begun)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_DENIED_CONTENT);
	tui_changes_append(&text, begun->changes_keys, begun->changes, begun->changes_count);
	begin(tui, begun->call_id, &text);
}

/* The arguments are JSON, of which blanks between the values may be line ends. */
static void begin_mcp(struct tui *tui, const struct ev_mcp_call_begin *begun)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_DENIED_CONTENT);
	if (begun->invocation && begun->invocation->arguments.ptr)
		text_append_line(&text, begun->invocation->arguments);
	begin(tui, begun->call_id, &text);
}

static void add(struct tui *tui, const struct event *event)
{
	const struct ev_guardian_assessment *review = event->msg.guardian_assessment;
	if (review->status != guardian_status_denied && review->status != guardian_status_timed_out)
		return;
	if (tui->denied.count == LIMIT_DENIED_ACTIONS)
		drop(tui, 0);
	vec_push(&tui->denied, (struct tui_denied){event_create(event->id, EV_guardian_assessment, review),
	                                           take_content(tui, review->target_item_id)});
}

static void forget_begun(struct tui *tui)
{
	while (tui->begun.count)
		free(take_content(tui, str_of(tui->begun.items[0].call_id)));
}

void tui_denied_event(struct tui *tui, const struct event *event)
{
	const struct event_msg *msg = &event->msg;
	if (msg->tag == EV_guardian_assessment)
		add(tui, event);
	else if (msg->tag == EV_patch_apply_begin)
		begin_patch(tui, msg->patch_apply_begin);
	else if (msg->tag == EV_patch_apply_end)
		free(take_content(tui, msg->patch_apply_end->call_id));
	else if (msg->tag == EV_mcp_tool_call_begin)
		begin_mcp(tui, msg->mcp_tool_call_begin);
	else if (msg->tag == EV_mcp_tool_call_end)
		free(take_content(tui, msg->mcp_tool_call_end->call_id));
	else if (msg->tag == EV_task_complete || msg->tag == EV_turn_aborted)
		forget_begun(tui); /* a call that was interrupted has no end event */
}

void tui_denied_forget(struct tui *tui)
{
	while (tui->denied.count)
		drop(tui, tui->denied.count - 1);
	forget_begun(tui);
	vec_finish(&tui->denied);
	vec_finish(&tui->begun);
}

/* ---- the question ---- */

/* Returns the index, or the count. */
static size_t find(const struct tui *tui, struct str id)
{
	size_t at = 0;
	while (at < tui->denied.count && !str_eq(tui->denied.items[at].review->msg.guardian_assessment->id, id))
		at++;
	return at;
}

static void add_patch(struct buf *out, const struct guardian_action_patch *patch, const char *content)
{
	buf_append_c(out, content ? "Edits in " : "Edits, whose content is in the transcript (ctrl-t), in ");
	text_append_line(out, patch->cwd);
	for (size_t i = 0; !content && i < patch->files_count; i++) {
		buf_append_c(out, "\n  ");
		text_append_line(out, patch->files[i]);
	}
	buf_append_c(out, content ? "\n" : "");
	buf_append_str(out, str_trim_end(str_of(content ? content : "")));
}

static void add_action(struct buf *out, const struct guardian_action *action, const char *content)
{
	if (action->tag == guardian_action_command) {
		buf_append_c(out, "$ ");
		terminal_line_append(out, action->command->command);
		buf_append_c(out, "\n\nIn ");
		text_append_line(out, action->command->cwd);
	} else if (action->tag == guardian_action_apply_patch) {
		add_patch(out, action->apply_patch, content);
	} else {
		buf_append_c(out, "The tool ");
		text_append_line(out, action->mcp_tool_call->tool_name);
		buf_append_c(out, " of the MCP server ");
		text_append_line(out, action->mcp_tool_call->server);
		buf_append_c(out,
		             content ? ", with the arguments\n" : "; its arguments are in the transcript (ctrl-t)");
		buf_append_c(out, content ? content : "");
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
	const struct event *event = tui->denied.items[at].review;
	const struct ev_guardian_assessment *denied = event->msg.guardian_assessment;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_append_c(&title, "Approve one retry of this denied action?\n\n");
	buf_append_c(&title, "Denied: ");
	text_append_line(&title, denied->rationale); /* of a model: it must not look like the action */
	buf_append_c(&title, "\n\n");
	add_action(&title, denied->action, tui->denied.items[at].content);
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
