/* Goals (/goal), and questions that leave no trace in the session (/side). Both need an engine of this
 * terminal: a guest's session belongs to another process. */
#include "base/limits.h"
#include "base/mem.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_stream.h"

static bool has_engine(struct tui *tui, const char *command)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	if (tui->codex && tui->is_configured)
		return true;
	buf_printf(&text, "/%s: %s", command,
	           tui->guest_address ? "works in the terminal in which the session runs"
	                              : "the session is not open yet");
	tui_cells_fail(tui->cells, buf_str(&text));
	return false;
}

/* ---- goals ---- */

static void show_goal(struct tui *tui)
{
	struct thread_goal goal;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT);
	if (!codex_goal(tui->codex, &goal)) {
		tui_cells_note(tui->cells, STR("No goal is set; /goal WHAT TO REACH sets one"));
		return;
	}
	buf_printf(&text, "Goal: %.*s\nStatus: %s\nTokens: %lld", STR_ARG(goal.objective),
	           enum_wire(&enum_goal_status, (int)goal.status), (long long)goal.tokensUsed);
	if (goal.has_tokenBudget)
		buf_printf(&text, " of %lld", (long long)goal.tokenBudget);
	buf_printf(&text, "\nTime: %lld s", (long long)goal.timeUsedSeconds);
	tui_cells_note(tui->cells, buf_str(&text));
}

static void change_goal(struct tui *tui, struct goal_change change)
{
	struct error err;
	change.has_status = true;
	if (codex_change_goal(tui->codex, &change, &err) != 0)
		tui_cells_fail(tui->cells, str_of(err.text));
	else
		show_goal(tui);
}

void on_slash_goal(struct tui *tui, struct str text)
{
	if (!has_engine(tui, "goal"))
		return;
	if (str_is(text, "clear"))
		tui_cells_note(tui->cells,
		               codex_clear_goal(tui->codex) ? STR("The goal was removed") : STR("No goal is set"));
	else if (str_is(text, "pause") || str_is(text, "resume"))
		change_goal(tui, (struct goal_change){.status = str_is(text, "pause") ? goal_status_paused
		                                                                      : goal_status_active});
	else if (text.len)
		change_goal(tui, (struct goal_change){.objective = text, .status = goal_status_active});
	else
		show_goal(tui);
}

/* ---- questions aside ---- */

static void show_aside(struct tui *tui, struct str answer)
{
	static const struct tui_look look = {"  ", TERM_plain, TERM_plain};
	tui_cells_note(tui->cells, STR("Aside, not part of the session:"));
	if (answer.len > LIMIT_PROMPT)
		tui_cells_note(tui->cells, STR("The answer is too long to be shown"));
	else
		tui_stream_write(tui_cells_begin(tui->cells), &look, str_trim_end(answer));
}

static void on_answered(const struct codex_sample_result *result, const struct error *err, void *self)
{
	struct tui *tui = self;
	tui->aside = NULL;
	if (err && err->code != ERR_cancelled)
		tui_cells_fail(tui->cells, str_of(err->text));
	else if (!err && !result->text.len)
		tui_cells_fail(tui->cells,
		               STR("/side: the model gave no answer; it may have called a tool, and none runs"));
	else if (!err)
		show_aside(tui, result->text);
	tui_frame_change(tui->frame);
}

bool tui_aside_cancel(struct tui *tui)
{
	if (!tui->aside)
		return false;
	codex_sample_destroy(steal(tui->aside));
	tui_cells_note(tui->cells, STR("The question aside was withdrawn"));
	return true;
}

void on_slash_side(struct tui *tui, struct str text)
{
	const struct codex_sample_options options = {.prompt = text, .on_done = on_answered, .self = tui};
	struct error err;
	auto_buf struct buf note;
	buf_init(&note, LIMIT_PROMPT);
	if (!has_engine(tui, "side"))
		return;
	if (!text.len || tui->aside) {
		tui_cells_fail(tui->cells,
		               text.len ? STR("/side: the last question has no answer yet; esc withdraws it")
		                        : STR("/side takes a question, which the model answers without tools"));
		return;
	}
	tui->aside = codex_sample_create(tui->codex, &options, &err);
	buf_printf(&note, "Asked aside: %.*s", STR_ARG(text));
	if (tui->aside)
		tui_cells_note(tui->cells, buf_str(&note));
	else
		tui_cells_fail(tui->cells, str_of(err.text));
}
