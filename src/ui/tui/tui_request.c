/* Approvals, and the question about a proposed plan. The first choice is preselected; Esc denies. */
#include "attach/attach_frame.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "term/term_width.h"
#include "ui/cli/terminal.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cell_patch.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_sheet.h"

#define DENY_LABEL "No, and tell Codex what to do differently (esc)" /* words: quoted */

enum { COMMAND_CHOICES = 4, SHOWN_COMMAND = 200 };

/* ---- commands ---- */

static void decide_command(struct tui *tui, struct str id, struct review_decision decision)
{
	struct op_exec_approval op = {.id = id, .decision = &decision};
	tui_submit(tui, OP_exec_approval, &op);
}

static void note_decision(struct tui *tui, const char *before, const struct ev_exec_approval *asked, const char *after)
{
	auto_buf struct buf command, line;
	struct str text, first;
	buf_init(&command, LIMIT_LINE);
	buf_init(&line, LIMIT_LINE);
	terminal_script_append(&command, asked->command, asked->command_count);
	text = buf_str(&command);
	if (!str_next_line(&text, &first))
		first = STR("");
	bool is_cut = text.len || first.len > SHOWN_COMMAND;
	first.len = first.len > SHOWN_COMMAND ? SHOWN_COMMAND : first.len;
	buf_printf(&line, "%s%.*s%s%s", before, STR_ARG(first), is_cut ? " …" : "", after);
	tui_cells_note(tui->cells, buf_str(&line));
}

/* The choice is found by its letter, because one with a prefix is not always offered. */
static void on_command_chosen(const struct tui_chosen *chosen, void *self)
{
	const struct ev_exec_approval *asked = chosen->about->msg.exec_approval_request;
	struct exec_amendment amendment = {asked->proposed_execpolicy_amendment,
	                                   asked->proposed_execpolicy_amendment_count};
	struct review_decision decision = {.tag = review_decision_abort};
	if (chosen->at == 0)
		decision.tag = review_decision_approved;
	else if (str_has_suffix(chosen->label, "(a)"))
		decision.tag = review_decision_approved_for_session;
	else if (str_has_suffix(chosen->label, "(p)"))
		decision = (struct review_decision){.tag = review_decision_approved_execpolicy_amendment,
		                                    .approved_execpolicy_amendment = &amendment};
	decide_command(self, asked->call_id, decision);
	if (decision.tag == review_decision_abort)
		note_decision(self, "✗ You canceled the request to run ", asked, "");
	else
		note_decision(self, "✔ You approved codex to run ", asked,
		              decision.tag == review_decision_approved               ? " this time"
		              : decision.tag == review_decision_approved_for_session ? " for this session"
		                                                                     : " and all commands like it");
}

bool tui_add_asker(const struct tui *tui, struct buf *title)
{
	if (tui->asker.len)
		buf_printf(title, "%.*s asks: ", STR_ARG(tui->asker));
	return tui->asker.len;
}

static void add_title(struct buf *title, const struct ev_exec_approval *asked)
{
	buf_append_c(title, "Would you like to run the following command?\n\n");
	if (asked->reason.len)
		buf_printf(title, "Reason: %.*s\n\n", STR_ARG(asked->reason));
	buf_append_c(title, "$ ");
	terminal_script_append(title, asked->command, asked->command_count);
	buf_append_c(title, "\n\n");
}

/* Appends the choice that allows a prefix. False: no prefix was proposed, or it needs more than a row, so that the
 * others would have no place. */
static bool add_prefix(const struct tui *tui, const struct ev_exec_approval *asked, struct buf *label)
{
	auto_buf struct buf words;
	buf_init(&words, LIMIT_LINE);
	terminal_command_append(&words, asked->proposed_execpolicy_amendment,
	                        asked->proposed_execpolicy_amendment_count);
	buf_append_c(label, "Yes, and don't ask again for commands that start with `");
	buf_append_str(label, buf_str(&words));
	buf_append_c(label, "` (p)");
	return words.len && !words.over && !label->over && term_width(buf_str(&words)) <= tui->columns;
}

void tui_request_command(struct tui *tui, const struct event *event)
{
	const struct ev_exec_approval *asked = event->msg.exec_approval_request;
	struct tui_choice items[COMMAND_CHOICES];
	size_t count = 0;
	auto_buf struct buf title, prefix;
	buf_init(&title, LIMIT_LINE);
	buf_init(&prefix, LIMIT_LINE);
	bool is_main = !tui_add_asker(tui, &title);
	add_title(&title, asked);
	bool has_prefix = add_prefix(tui, asked, &prefix);
	items[count++] = (struct tui_choice){"Yes, proceed (y)", NULL, 'y'};
	items[count++] =
		(struct tui_choice){"Yes, and don't ask again for this command in this session (a)", NULL, 'a'};
	if (has_prefix)
		items[count++] = (struct tui_choice){buf_str(&prefix).ptr, NULL, 'p'};
	items[count++] = (struct tui_choice){DENY_LABEL, NULL, 0};
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = items,
	                           .count = count,
	                           .has_question = is_main,
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_command_chosen,
	                           .self = tui};
	struct event *about = event_create(event->id, EV_exec_approval_request, asked);
	tui_ask_add(tui->ask, tui_choice_create(&what, asked->call_id, about));
}

/* ---- patches ---- */

static void on_patch_chosen(const struct tui_chosen *chosen, void *self)
{
	static const enum review_decision_tag tags[] = {review_decision_approved, review_decision_approved_for_session,
	                                                review_decision_abort};
	struct review_decision decision = {.tag = chosen->at < 0 ? review_decision_abort : tags[chosen->at]};
	struct op_patch_approval op = {.id = chosen->about->msg.apply_patch_approval_request->call_id,
	                               .decision = &decision};
	tui_submit(self, OP_patch_approval, &op);
}

void tui_request_patch(struct tui *tui, const struct event *event)
{
	static const struct tui_choice items[] = {{"Yes, proceed (y)", NULL, 'y'},
	                                          {"Yes, and don't ask again for these files (a)", NULL, 'a'},
	                                          {DENY_LABEL, NULL, 0}};
	const struct ev_patch_approval *asked = event->msg.apply_patch_approval_request;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	bool is_main = !tui_add_asker(tui, &title);
	buf_append_c(&title, "Would you like to make the following edits?\n\n");
	if (asked->reason.len)
		buf_printf(&title, "Reason: %.*s\n", STR_ARG(asked->reason));
	for (size_t i = 0; i < asked->changes_count; i++) {
		text_append_line(&title, asked->changes_keys[i]);
		buf_append_char(&title, '\n');
	}
	bool is_cut = tui_changes_are_cut(asked->changes, asked->changes_count);
	buf_append_c(&title, is_cut ? SHEET_READ "\n\n" : "\n");
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = items,
	                           .count = countof(items),
	                           .has_question = is_main,
	                           .is_cut = is_cut,
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_patch_chosen,
	                           .self = tui};
	struct event *about = event_create(event->id, EV_apply_patch_approval_request, asked);
	tui_ask_add(tui->ask, tui_choice_create(&what, asked->call_id, about));
}

/* ---- the proposed plan ---- */

static void on_plan_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	auto_free char *plan = steal(tui->plan);
	if (chosen->at == 0) {
		tui_set_plan_mode(tui, false);
		tui_say(tui, STR("Implement the plan."));
	} else if (chosen->at == 1) {
		free(tui->next_prompt);
		tui->next_prompt = xasprintf("Implement this plan:\n\n%s", plan ? plan : "");
		tui_restart_with(tui, NULL, false);
	}
}

void tui_request_plan(struct tui *tui)
{
	static const struct tui_choice items[] = {
		{"Yes, implement this plan", "Switch to Default mode and start", 0},
		{"Yes, clear context and implement", "Start a new session with the plan alone", 0},
		{"No, stay in Plan mode", "Continue planning with the model", 0}};
	struct tui_choices what = {.title = STR("Implement this plan?\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .on_read = tui_read_open,
	                           .on_chosen = on_plan_chosen,
	                           .self = tui};
	tui_ask_add(tui->ask, tui_choice_create(&what, STR("plan"), NULL));
}
