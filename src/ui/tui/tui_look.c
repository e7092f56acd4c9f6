/* Choices of the user about the terminal itself: colours, keys, the items of the footer and of the title, and raw
 * output. All but the last are written to config.toml. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/toml/toml.h"
#include "term/term_theme.h"
#include "term/term_tty.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_checklist.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_frame.h"
#include "ui/tui/tui_priv.h"
#include "ui/tui/tui_sheet.h"

static void open_list(struct tui *tui, struct tui_choices *what)
{
	what->self = tui;
	tui_ask_add(tui->ask, tui_choice_create(what, STR_NONE, NULL));
}

/* ---- raw output ---- */

void tui_raw_set(struct tui *tui, bool is_raw)
{
	tui->is_raw = is_raw;
	tui_cells_set_raw(tui->cells, is_raw);
	tui_cells_note(tui->cells, is_raw ? STR("Raw output mode on: text is shown as it came, without wraps and "
	                                        "marks, for selecting")
	                                  : STR("Raw output mode off"));
}

void on_slash_raw(struct tui *tui, struct str text)
{
	if (text.len && !str_is(text, "on") && !str_is(text, "off"))
		tui_cells_fail(tui->cells, STR("/raw takes on or off"));
	else
		tui_raw_set(tui, text.len ? str_is(text, "on") : !tui->is_raw);
}

/* ---- colours ---- */

/* The terminal's own colours are made for a dark background: yellow and cyan cannot be read on a light one. */
void tui_theme_apply(struct tui *tui)
{
	const struct toml *theme = config_find(tui->config, "tui.theme");
	struct str usual = tui->is_light ? STR("github") : STR("");
	term_theme_use(toml_is(theme, TOML_string) ? theme->text : usual, config_env("COLORTERM"), config_env("TERM"));
}

void tui_theme_ask(struct tui *tui)
{
	const char *term = config_env("TERM");
	if (tui->has_color && term && strstr(term, "256color"))
		term_tty_write(tui->tty, STR(TERM_ASK_BACKGROUND));
}

/* Applies what the configuration says now. */
static void on_saved(struct tui *tui, bool is_saved)
{
	tui_theme_apply(tui);
	tui_status_look(tui);
	tui_title_update(tui);
	if (is_saved)
		tui_cells_note(tui->cells, STR("Saved in config.toml"));
}

static void on_theme_chosen(const struct tui_chosen *chosen, void *self)
{
	auto_buf struct buf value;
	buf_init(&value, LIMIT_LINE);
	json_quote(&value, chosen->label);
	const char *words[] = {"tui.theme", buf_str(&value).ptr};
	if (chosen->at >= 0)
		tui_save(self, words, countof(words), on_saved);
}

void on_slash_theme(struct tui *tui, struct str text)
{
	struct tui_choice items[TERM_THEMES];
	const struct toml *theme = config_find(tui->config, "tui.theme");
	struct tui_choices what = {.title = STR("Select the colours\n"),
	                           .items = items,
	                           .count = TERM_THEMES,
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_theme_chosen};
	(void)text;
	for (size_t i = 0; i < TERM_THEMES; i++) {
		items[i] = (struct tui_choice){.label = term_theme_name(i)};
		if (toml_is(theme, TOML_string) && str_is(theme->text, items[i].label))
			what.current = i;
	}
	open_list(tui, &what);
}

/* ---- the items of a line ---- */

static bool is_item(struct str word)
{
	for (size_t i = 0; tui_status_word(i); i++) {
		if (str_is(word, tui_status_word(i)))
			return true;
	}
	return false;
}

static void append_word(struct buf *value, struct str word)
{
	buf_append_c(value, value->len > 1 ? ", " : "");
	json_quote(value, word);
}

/* Words that are no items here may be some of another version, so they are kept, after the chosen ones. */
static void on_items_saved(const struct tui_checklist *list, void *self)
{
	auto_buf struct buf value;
	const struct tui *tui = self;
	const struct toml *before = config_find(tui->config, list->key);
	buf_init(&value, LIMIT_LINE);
	buf_append_char(&value, '[');
	for (size_t i = 0; i < list->count; i++) {
		if (list->items[i].is_on)
			append_word(&value, str_of(list->items[i].label));
	}
	toml_for_each(it, toml_is(before, TOML_array) ? before : NULL) {
		if (toml_is(it, TOML_string) && !is_item(it->text))
			append_word(&value, it->text);
	}
	buf_append_char(&value, ']');
	const char *words[] = {list->key, buf_str(&value).ptr};
	tui_save(self, words, countof(words), on_saved);
}

static void add_item(struct tui_checklist *list, const char *word, bool is_on)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->items[i].label, word) == 0)
			return;
	}
	list->items[list->count++] = (struct tui_check){.label = word, .is_on = is_on};
}

static void choose(struct tui_checklist *list, struct str word)
{
	for (size_t i = 0; tui_status_word(i); i++) {
		if (str_is(word, tui_status_word(i)))
			add_item(list, tui_status_word(i), true);
	}
}

/* The chosen items come first, in their order; without a list in the configuration, those that are shown. */
static void arrange(struct tui *tui, const char *key, struct str usual)
{
	const struct toml *chosen = config_find(tui->config, key);
	struct tui_checklist list = {.title = "Select the items and their order",
	                             .hint = "  space on, off · ← → order · enter save · esc back",
	                             .is_ordered = true,
	                             .on_saved = on_items_saved,
	                             .key = key,
	                             .self = tui};
	struct str word;
	toml_for_each(it, toml_is(chosen, TOML_array) ? chosen : NULL)
		choose(&list, toml_is(it, TOML_string) ? it->text : STR(""));
	while (!chosen && str_next_part(&usual, ' ', &word))
		choose(&list, word);
	for (size_t i = 0; tui_status_word(i); i++)
		add_item(&list, tui_status_word(i), false);
	tui_checklist_open(tui->ask, &list);
}

void on_slash_statusline(struct tui *tui, struct str text)
{
	(void)text;
	arrange(tui, "tui.status_line", STR("model-with-reasoning current-dir"));
}

void on_slash_title(struct tui *tui, struct str text)
{
	(void)text;
	arrange(tui, "tui.terminal_title", STR("project-name"));
}

/* ---- keys ---- */

struct binding {
	struct tui_panel panel; /* first */
	struct tui *tui;
	char *action; /* "context.action" */
	struct buf chord;
};

void tui_keys_apply(struct tui *tui)
{
	auto_buf struct buf problems;
	struct str rest, line;
	buf_init(&problems, LIMIT_LINE);
	tui_keymap_read(&tui->keymap, config_find(tui->config, "tui.keymap"), &problems);
	rest = buf_str(&problems);
	while (str_next_line(&rest, &line)) {
		tui_warning_add(tui, line);
		tui_cells_fail(tui->cells, line);
	}
}

static void on_keys_saved(struct tui *tui, bool is_saved)
{
	tui_keys_apply(tui);
	on_saved(tui, is_saved);
}

static void binding_draw(struct tui_panel *panel, struct tui_sheet *sheet)
{
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_printf(&title, "Press the key for %s", ((struct binding *)panel)->action);
	sheet_line(sheet, TERM_bold, buf_str(&title).ptr);
	sheet_line(sheet, TERM_dim, "  esc back");
}

static bool binding_key(struct tui_panel *panel, const struct term_key *key)
{
	struct binding *binding = (struct binding *)panel;
	bool is_escape = key->kind == TERM_NAMED && key->name == KEY_escape;
	return is_escape || tui_keymap_describe(key, &binding->chord);
}

static void binding_report(struct tui_panel *panel)
{
	struct binding *binding = (struct binding *)panel;
	auto_buf struct buf value;
	auto_free char *name = xasprintf("tui.keymap.%s", binding->action);
	buf_init(&value, LIMIT_LINE);
	json_quote(&value, buf_str(&binding->chord));
	const char *words[] = {name, buf_str(&value).ptr};
	if (binding->chord.len)
		tui_save(binding->tui, words, countof(words), on_keys_saved);
}

static void binding_destroy(struct tui_panel *panel)
{
	free(((struct binding *)panel)->action);
	buf_finish(&((struct binding *)panel)->chord);
	free(panel);
}

static void on_action_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct tui_panel_class class = {
		.draw = binding_draw, .key = binding_key, .report = binding_report, .destroy = binding_destroy};
	struct tui *tui = self;
	if (chosen->at < 0)
		return;
	struct binding *binding = xnew(struct binding);
	binding->panel = (struct tui_panel){.class = &class};
	binding->tui = tui;
	binding->action = str_dup(chosen->label);
	buf_init(&binding->chord, LIMIT_LINE);
	tui_ask_add(tui->ask, &binding->panel);
}

void on_slash_keymap(struct tui *tui, struct str text)
{
	VEC(struct tui_choice) items = {0};
	const struct toml *table = config_find(tui->config, "tui.keymap");
	struct buf name, keys;
	(void)text;
	for (size_t i = 0;; i++) {
		buf_init(&name, LIMIT_LINE);
		buf_init(&keys, LIMIT_LINE);
		if (!tui_keymap_at(i, table, &name, &keys))
			break;
		vec_push(&items, (struct tui_choice){.label = buf_take(&name), .about = buf_take(&keys)});
	}
	struct tui_choices what = {.title = STR("Keys\n"),
	                           .items = items.items,
	                           .count = items.count,
	                           .hint = "  type to search · enter binds another key · esc back",
	                           .is_searched = true,
	                           .on_chosen = on_action_chosen};
	open_list(tui, &what);
	vec_for_each(item, &items) {
		free((char *)item->label);
		free((char *)item->about);
	}
	vec_finish(&items);
}
