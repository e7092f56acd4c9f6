/* The card of the keys, which `?` on an empty composer opens. Any key closes it; a letter is typed then. */
#include "base/mem.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_sheet.h"

struct shortcuts {
	struct tui_panel panel; /* first */
	struct tui *tui;
	char *typed; /* the letter that closed the card, or NULL */
};

static struct shortcuts *of(struct tui_panel *panel)
{
	return (struct shortcuts *)panel;
}

static const struct row {
	const char *keys, *effect;
} card[] = {
	{"ctrl+j, shift+enter", "New line"},
	{"tab", "Queue a message during a turn"},
	{"alt+up", "Edit the queued message"},
	{"esc", "Interrupt; twice: edit an earlier message"},
	{"shift+tab", "Plan mode on and off"},
	{"alt+, alt+.", "Less or more reasoning effort"},
	{"ctrl+t", "Show the transcript"},
	{"ctrl+r", "Search earlier messages"},
	{"ctrl+g", "Write in $EDITOR"},
	{"ctrl+o", "Copy the last answer"},
	{"/ @ $ !", "Commands, files, skills, your shell"},
	{"ctrl+c", "Clear the draft; without one: end"},
};

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	size_t widest = 0;
	(void)panel;
	for (size_t i = 0; i < countof(card); i++) {
		size_t width = strlen(card[i].keys);
		widest = width > widest ? width : widest;
	}
	sheet_line(sheet, TERM_bold, "Shortcuts");
	for (size_t i = 0; i < countof(card) && sheet->most > 1; i++) {
		struct sheet_item item = {.label = card[i].keys, .about = card[i].effect};
		sheet_item(sheet, &item, widest);
	}
	sheet_line(sheet, TERM_dim, "  ? or esc closes");
}

static bool key(struct tui_panel *panel, const struct term_key *key)
{
	bool is_letter = key->kind == TERM_CHAR && !key->mods && !str_is(key->text, "?");
	free(steal(of(panel)->typed));
	of(panel)->typed = is_letter ? str_dup(key->text) : NULL;
	return true;
}

static void report(struct tui_panel *panel)
{
	struct shortcuts *shortcuts = of(panel);
	if (shortcuts->typed)
		composer_paste(&shortcuts->tui->composer, str_of(shortcuts->typed));
	tui_complete_update(shortcuts->tui);
}

static void destroy(struct tui_panel *panel)
{
	free(of(panel)->typed);
	free(panel);
}

void tui_shortcuts_open(struct tui *tui)
{
	static const struct tui_panel_class class = {.draw = draw, .key = key, .report = report, .destroy = destroy};
	struct shortcuts *shortcuts = xnew(struct shortcuts);
	shortcuts->panel = (struct tui_panel){.class = &class};
	shortcuts->tui = tui;
	tui_ask_add(tui->ask, &shortcuts->panel);
}
