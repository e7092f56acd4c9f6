/* /plugins: the plugins here and in the marketplaces, what one brings, and its changes, all by `codex plugin`. */
#include "base/arena.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_child.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_form.h"
#include "ui/tui/tui_priv.h"

enum { CHANGE_WAIT_MS = 10 * 60 * 1000 };

static const char add_label[] = "Add another one …"; /* no name of a plugin has a blank */
static const char state_on[] = "enabled", state_off[] = "disabled", state_new[] = "not installed";

/* ---- changes ---- */

static void on_changed(struct tui *tui, struct str output, bool is_ok)
{
	tui_run_show(tui, output, is_ok);
	if (!is_ok)
		return;
	tui_reload(tui);
	tui_cells_note(tui->cells, STR("This counts from the next session on (/new); hooks after `codex hooks trust`"));
}

static void change(struct tui *tui, const char *words, struct str argument)
{
	auto_free char *copy = argument.len ? tui_expand_home(argument) : NULL;
	tui_run(tui, &(struct tui_child_call){words, copy, CHANGE_WAIT_MS}, on_changed);
}

static void on_saved(struct tui *tui, bool is_saved)
{
	if (is_saved)
		tui_cells_note(tui->cells, STR("Saved in config.toml, for new sessions"));
}

static void turn(struct tui *tui, const char *id, bool is_on)
{
	auto_free char *key = xasprintf("plugins.\"%s\".enabled", id);
	const char *words[] = {key, is_on ? "true" : "false"};
	tui_save(tui, words, countof(words), on_saved);
}

/* ---- one plugin ---- */

static void on_action(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	auto_free char *id = steal(tui->plugin);
	bool is_new = tui->plugin_state == state_new;
	if (!id || chosen->at < 0)
		return;
	if (chosen->at == 0 && is_new)
		change(tui, "plugin add --", str_of(id));
	else if (chosen->at == 0)
		turn(tui, id, tui->plugin_state == state_off);
	else if (chosen->at == 1 && !is_new)
		change(tui, "plugin remove --", str_of(id));
}

/* A plugin without a folder here cannot be described. */
static void on_shown(struct tui *tui, struct str output, bool is_ok)
{
	static const struct tui_choice of_new[] = {{"Install it", NULL, 'i'}, {"Back", NULL, 0}},
				       of_on[] = {{"Turn it off", NULL, 't'},
	                                          {"Remove it", NULL, 'r'},
	                                          {"Back", NULL, 0}},
				       of_off[] = {
					       {"Turn it on", NULL, 't'}, {"Remove it", NULL, 'r'}, {"Back", NULL, 0}};
	bool is_new = tui->plugin_state == state_new;
	auto_buf struct buf title;
	buf_init(&title, LIMIT_LINE);
	buf_printf(&title, "%s (%s)\n%.*s\n\n", tui->plugin, tui->plugin_state, STR_ARG(str_trim_end(output)));
	struct tui_choices what = {.title = buf_str(&title),
	                           .items = is_new                          ? of_new
	                                    : tui->plugin_state == state_on ? of_on
	                                                                    : of_off,
	                           .count = is_new ? countof(of_new) : countof(of_on),
	                           .hint = "  enter select · esc back",
	                           .is_broken = title.over,
	                           .on_read = tui_read_open,
	                           .on_chosen = on_action,
	                           .self = tui};
	(void)is_ok;
	what.current = what.count - 1;
	tui_run_ask(tui, tui_choice_create(&what, STR_NONE, NULL));
}

/* ---- the list ---- */

/* Returns a plugin of the list with its state, or NULL after the last. */
static const struct json *plugin_at(const struct json *root, size_t at, const char **ret_state)
{
	json_for_each(it, json_get(root, "installed")) {
		*ret_state = json_get_bool(it, "enabled", false) ? state_on : state_off;
		if (at-- == 0)
			return it;
	}
	json_for_each(it, json_get(root, "available")) {
		*ret_state = state_new;
		if (at-- == 0)
			return it;
	}
	return NULL;
}

static struct str id_of(const struct json *plugin)
{
	struct str id = json_get_str(plugin, "pluginId");
	return id.len ? id : json_get_str(plugin, "name");
}

static void on_source(struct tui_form *form, enum form_end end, void *self)
{
	struct str source = str_trim(composer_text(&form->pages.items[0]->notes));
	if (end == FORM_sent && source.len)
		change(self, "plugin add --", source);
}

static void ask_source(struct tui *tui)
{
	static const struct form_use use = {.escapes = "enter add · esc back", .on_done = on_source};
	struct tui_form *form = tui_form_create(&use, STR("plugin"), NULL, NULL, tui);
	tui_form_add(form, FORM_text, STR(""), STR("The folder, the URL of a repository, or NAME@MARKETPLACE"));
	form->panel.is_request = false;
	tui_ask_add(tui->ask, &form->panel);
}

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	auto_arena struct arena arena = {0};
	auto_free char *text = steal(tui->plugin_list);
	const struct json *root = text ? json_parse_copy(&arena, str_of(text), &(struct error){0}) : NULL;
	if (chosen->at < 0)
		return;
	if (str_is(chosen->label, add_label)) {
		ask_source(tui);
		return;
	}
	const struct json *plugin = plugin_at(root, (size_t)chosen->at, &tui->plugin_state);
	if (!plugin)
		return;
	struct str place = json_get_str(json_get(plugin, "source"), "path");
	free(tui->plugin);
	tui->plugin = str_dup(id_of(plugin));
	auto_free char *argument = place.len ? str_dup(place) : xstrdup(tui->plugin);
	tui_run(tui, &(struct tui_child_call){"plugin show --", argument, 0}, on_shown);
}

static void open_list(struct tui *tui, struct str output)
{
	auto_arena struct arena arena = {0};
	VEC(struct tui_choice) items = {0};
	const struct json *root = json_parse_copy(&arena, output, &(struct error){0}), *plugin;
	const char *state;
	if (!root) {
		tui_cells_fail(tui->cells, STR("`codex plugin list --json` printed no list"));
		return;
	}
	free(tui->plugin_list);
	tui->plugin_list = str_dup(output);
	while (items.count < CHOICES_MAX - 1 && (plugin = plugin_at(root, items.count, &state)))
		vec_push(&items, (struct tui_choice){.label = str_dup(id_of(plugin)), .about = state});
	vec_push(&items, (struct tui_choice){.label = xstrdup(add_label), .about = "a folder or a URL"});
	struct tui_choices what = {.title = STR("Plugins\n"),
	                           .items = items.items,
	                           .count = items.count,
	                           .hint = "  type to search · enter details · esc back",
	                           .is_searched = true,
	                           .on_chosen = on_chosen,
	                           .self = tui};
	tui_run_ask(tui, tui_choice_create(&what, STR_NONE, NULL));
	vec_for_each(item, &items)
		free((char *)(uintptr_t)item->label);
	vec_finish(&items);
}

static void on_installed(struct tui *tui, struct str output, bool is_ok)
{
	if (is_ok)
		open_list(tui, output);
	else
		tui_run_show(tui, output, is_ok);
}

/* Without codex-fleet, which reads the marketplaces, the plugins that are installed are listed. */
static void on_listed(struct tui *tui, struct str output, bool is_ok)
{
	static const struct tui_child_call installed = {"plugin list --json", NULL, 0};
	on_installed(tui, output, is_ok);
	if (!is_ok)
		tui_run(tui, &installed, on_installed);
}

/* ---- the command ---- */

/* The words after /plugins that change something, and those of `codex plugin`; the rest is one argument. */
static const struct {
	const char *typed, *words;
	bool needs_argument;
} changes[] = {
	{"add", "plugin add --", true},
	{"remove", "plugin remove --", true},
	{"marketplace add", "plugin marketplace add --", true},
	{"marketplace remove", "plugin marketplace remove --", true},
	{"marketplace upgrade", "plugin marketplace upgrade", false},
};

void on_slash_plugins(struct tui *tui, struct str text)
{
	static const struct tui_child_call available = {"plugin list --available --json", NULL, 0};
	for (size_t i = 0; i < countof(changes); i++) {
		struct str rest = text;
		if (!str_cut_prefix(&rest, changes[i].typed) || (rest.len && rest.ptr[0] != ' ') ||
		    (!rest.len && changes[i].needs_argument))
			continue;
		change(tui, changes[i].words, str_trim(rest));
		return;
	}
	if (text.len)
		tui_cells_fail(tui->cells,
		               STR("/plugins takes add SOURCE, remove NAME, or marketplace with add SOURCE, "
		                   "remove NAME or upgrade [NAME]"));
	else
		tui_run(tui, &available, on_listed);
}
