/* /presets: ten places for prompts and commands, in [tui.presets.N] of config.toml as in codex 0.169: `input`, and a
 * `label` that is written by hand. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/toml/toml.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"

enum { PRESETS = 10, PRESET_MAX = 16 * KIB, ACTIONS = 4 };

/* ---- the places ---- */

/* The last place is 0, as on the keyboard. */
static unsigned digit_of(size_t at)
{
	return (unsigned)(at + 1) % PRESETS;
}

/* Only the user's own file counts: a preset may be a command for the shell, and a project must not bring one. */
static struct str text_at(const struct tui *tui, size_t at, const char *member)
{
	char digit[16];
	snprintf(digit, sizeof(digit), "%u", digit_of(at));
	const struct toml *presets = toml_get(toml_get(tui_user_settings(tui), "tui"), "presets");
	const struct toml *value = toml_get(toml_get(presets, digit), member);
	return toml_is(value, TOML_string) ? value->text : STR("");
}

static void on_saved(struct tui *tui, bool is_saved)
{
	if (is_saved)
		tui_cells_note(tui->cells, STR("Saved in config.toml"));
}

/* value: in TOML; empty: the place becomes free. A label says what the old text does. */
static void save(struct tui *tui, size_t at, const char *value, bool keeps_label)
{
	char key[64], label[64];
	const char *words[] = {key, value, label, ""};
	snprintf(key, sizeof(key), "tui.presets.%u%s", digit_of(at), *value ? ".input" : "");
	snprintf(label, sizeof(label), "tui.presets.%u.label", digit_of(at));
	tui_save(tui, words, *value && !keeps_label ? 4 : 2, on_saved);
}

static void save_text(struct tui *tui, size_t at, struct str text, bool keeps_label)
{
	auto_buf struct buf value;
	buf_init(&value, 6 * PRESET_MAX + 2);
	json_quote(&value, text); /* JSON's escapes are a part of TOML's */
	if (text.len > PRESET_MAX || value.over)
		tui_cells_fail(tui->cells,
		               STR("/presets: the text is longer than 16 KiB; a file can be mentioned with @"));
	else
		save(tui, at, buf_str(&value).ptr, keeps_label);
}

/* The composer is empty: the command was in it. */
static void run(struct tui *tui, size_t at)
{
	auto_free char *text = str_dup(text_at(tui, at, "input"));
	composer_set(&tui->composer, str_of(text));
	tui->sends_draft = true;
}

/* ---- lists ---- */

/* Adds a row for each place; the texts are owned. */
static void add_places(const struct tui *tui, struct tui_choice items[PRESETS])
{
	for (size_t i = 0; i < PRESETS; i++) {
		struct str input = text_at(tui, i, "input"), label = text_at(tui, i, "label");
		struct buf first, second;
		buf_init(&first, 2 * LIMIT_CONFIG_FILE);
		buf_init(&second, 2 * LIMIT_CONFIG_FILE);
		text_append_line(&first, label.len ? label : input.len ? input : STR("empty"));
		text_append_line(&second, label.len ? input : STR(""));
		items[i] = (struct tui_choice){buf_take(&first), buf_take(&second), i == PRESETS - 1 ? '0' : 0};
	}
}

/* with_actions: the other commands follow the places. */
static void open_places(struct tui *tui, struct str title, bool with_actions, tui_chosen_fn on_chosen)
{
	static const struct tui_choice actions[ACTIONS] = {{"New …", NULL, 'n'},
	                                                   {"From the current settings …", NULL, 's'},
	                                                   {"Edit …", NULL, 'e'},
	                                                   {"Delete …", NULL, 'd'}};
	struct tui_choice items[PRESETS + ACTIONS];
	struct tui_choices what = {.title = title,
	                           .items = items,
	                           .count = with_actions ? PRESETS + ACTIONS : PRESETS,
	                           .hint = with_actions
	                                           ? "  digit run · n new · s settings · e edit · d delete · esc back"
	                                           : "  enter or digit select · esc back",
	                           .on_chosen = on_chosen,
	                           .self = tui};
	add_places(tui, items);
	memcpy(items + PRESETS, actions, sizeof(actions));
	tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	for (size_t i = 0; i < PRESETS; i++) {
		free((char *)(uintptr_t)items[i].label);
		free((char *)(uintptr_t)items[i].about);
	}
}

static bool is_free(const struct tui *tui, size_t at)
{
	return !text_at(tui, at, "input").len && !text_at(tui, at, "label").len;
}

static void on_replaced(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	auto_free char *text = steal(tui->preset_text);
	if (chosen->at == 0 && text)
		save_text(tui, tui->preset_place, str_of(text), false);
}

/* Asks before a text is replaced. */
static void on_place_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct tui_choice items[] = {{"Yes, replace it", NULL, 'y'}, {"No", NULL, 'n'}};
	struct tui *tui = self;
	struct tui_choices what = {.title = STR("This place is taken. Replace what is there?\n"),
	                           .items = items,
	                           .count = countof(items),
	                           .current = 1,
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_replaced,
	                           .self = tui};
	if (chosen->at < 0 || !tui->preset_text)
		return;
	tui->preset_place = (size_t)chosen->at;
	if (is_free(tui, tui->preset_place))
		on_replaced(&(struct tui_chosen){.at = 0}, tui);
	else
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
}

/* Keeps the text until its place is chosen. */
static void ask_place(struct tui *tui, struct str text)
{
	free(tui->preset_text);
	tui->preset_text = str_dup(text);
	open_places(tui, STR("Save in which place?\n"), false, on_place_chosen);
}

static void on_deleted(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at >= 0 && !is_free(self, (size_t)chosen->at))
		save(self, (size_t)chosen->at, "", false);
}

/* ---- texts ---- */

static void ask_text(struct tui *tui, const struct form_use *use, struct str text)
{
	struct tui_form *form = tui_form_create(use, STR("preset"), NULL, NULL, tui);
	struct form_page *page = tui_form_add(form, FORM_text, STR(""), STR("Write a prompt or a slash command"));
	composer_set(&page->notes, text);
	form->panel.is_request = false;
	tui_ask_add(tui->ask, &form->panel);
}

static struct str text_of(const struct tui_form *form, enum form_end end)
{
	return end == FORM_sent ? str_trim(composer_text(&form->pages.items[0]->notes)) : STR("");
}

static void on_written(struct tui_form *form, enum form_end end, void *self)
{
	if (text_of(form, end).len)
		ask_place(self, text_of(form, end));
}

static void on_edited(struct tui_form *form, enum form_end end, void *self)
{
	struct tui *tui = self;
	if (text_of(form, end).len)
		save_text(tui, tui->preset_place, text_of(form, end), true);
}

static void on_edit_chosen(const struct tui_chosen *chosen, void *self)
{
	static const struct form_use use = {.escapes = "enter save · esc back", .on_done = on_edited};
	struct tui *tui = self;
	if (chosen->at < 0)
		return;
	tui->preset_place = (size_t)chosen->at;
	ask_text(tui, &use, text_at(tui, tui->preset_place, "input"));
}

static void write_new(struct tui *tui)
{
	static const struct form_use use = {.escapes = "enter save · esc back", .on_done = on_written};
	ask_text(tui, &use, STR(""));
}

/* ---- settings ---- */

static void on_setting_chosen(const struct tui_chosen *chosen, void *self)
{
	if (chosen->at >= 0)
		ask_place(self, chosen->label);
}

static void choose_setting(struct tui *tui)
{
	struct buf lines[2];
	struct tui_choice items[countof(lines)];
	struct tui_choices what = {.title = STR("Keep which of the current settings?\n"),
	                           .items = items,
	                           .hint = "  enter select · esc back",
	                           .on_chosen = on_setting_chosen,
	                           .self = tui};
	for (size_t i = 0; i < countof(lines); i++)
		buf_init(&lines[i], LIMIT_LINE);
	tui_settings_append_model(tui, &lines[0]);
	tui_settings_append_permissions(tui, &lines[1]);
	for (size_t i = 0; i < countof(lines); i++) {
		if (lines[i].len)
			items[what.count++] = (struct tui_choice){.label = buf_str(&lines[i]).ptr};
	}
	if (what.count)
		tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	for (size_t i = 0; i < countof(lines); i++)
		buf_finish(&lines[i]);
}

/* ---- the command ---- */

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	switch (chosen->at - PRESETS) {
	case 0:
		write_new(tui);
		break;
	case 1:
		choose_setting(tui);
		break;
	case 2:
		open_places(tui, STR("Edit which preset?\n"), false, on_edit_chosen);
		break;
	case 3:
		open_places(tui, STR("Delete which preset?\n"), false, on_deleted);
		break;
	default:
		if (chosen->at >= 0 && text_at(tui, (size_t)chosen->at, "input").len)
			run(tui, (size_t)chosen->at);
		else if (chosen->at >= 0)
			on_edit_chosen(chosen, tui); /* a text for this place */
	}
}

void on_slash_presets(struct tui *tui, struct str text)
{
	(void)text;
	open_places(tui, STR("Presets\n"), true, on_chosen);
}
