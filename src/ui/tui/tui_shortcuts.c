/* The card of the keys, which `?` on an empty composer opens. Any key closes it; a letter is typed then. In a window
 * that is too small for it a pager has its text. */
#include "base/limits.h"
#include "base/mem.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_pager.h"
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
	{"ctrl-j, shift-enter", "New line"},
	{"tab", "Queue a message during a turn"},
	{"alt-up", "Edit the queued message"},
	{"esc", "Interrupt; twice: edit an earlier message"},
	{"shift-tab", "Plan mode on and off"},
	{"alt-, alt-.", "Less or more reasoning effort"},
	{"ctrl-t", "Show the transcript"},
	{"ctrl-r", "Search earlier messages"},
	{"ctrl-g", "Write in $EDITOR"},
	{"ctrl-o", "Copy the last answer"},
	{"/ @ $ !", "Commands, files, skills, your shell"},
	{"ctrl-c", "Clear the draft; without one: end"},
};

enum { KEYS_COLUMNS = 19, CARD_COLUMNS = KEYS_COLUMNS + 46, CARD_ROWS = countof(card) + 4 };

static void draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	(void)panel;
	sheet_line(sheet, TERM_bold, "Shortcuts");
	for (size_t i = 0; i < countof(card) && sheet->most > 1; i++) {
		struct sheet_item item = {.label = card[i].keys, .about = card[i].effect};
		sheet_item(sheet, &item, KEYS_COLUMNS);
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

/* Opens a pager for a card that does not fit into the window. */
static void open_page(struct tui *tui)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_LINE);
	for (size_t i = 0; i < countof(card); i++)
		buf_printf(&text, "%s: %s\n", card[i].keys, card[i].effect);
	tui_text_open(tui, "S H O R T C U T S", buf_str(&text));
	tui_pager_close_on(tui->pager, '?');
}

void tui_shortcuts_open(struct tui *tui)
{
	if (tui->rows < CARD_ROWS || tui->columns < CARD_COLUMNS) {
		open_page(tui);
		return;
	}
	static const struct tui_panel_class class = {.draw = draw, .key = key, .report = report, .destroy = destroy};
	struct shortcuts *shortcuts = xnew(struct shortcuts);
	shortcuts->panel = (struct tui_panel){.class = &class};
	shortcuts->tui = tui;
	tui_ask_add(tui->ask, &shortcuts->panel);
}
