/* The skills of this folder: what the engine lists, and /skills, which turns one off or on. Off is a rule of
 * [[skills.config]] in config.toml, by name; without a rule a skill is on. */
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/toml/toml.h"
#include "protocol/message/message.h"
#include "ui/tui/tui_ask.h"
#include "ui/tui/tui_cells.h"
#include "ui/tui/tui_choice.h"
#include "ui/tui/tui_priv.h"

enum { RULES_MAX = 256 * KIB, MARK_LEN = sizeof("[x] ") - 1 };

void tui_set_skills(struct tui *tui, const struct ev_list_skills *list)
{
	vec_for_each(skill, &tui->skills) {
		free(skill->name);
		free(skill->about);
	}
	tui->skills.count = 0;
	for (size_t i = 0; list && i < list->skills_count; i++) {
		const struct skills_list_entry *entry = &list->skills[i];
		for (size_t n = 0; n < entry->skills_count; n++) {
			const struct skill_metadata *skill = &entry->skills[n];
			struct str about = skill->short_description.len ? skill->short_description : skill->description;
			vec_push(&tui->skills,
			         (struct tui_skill){str_dup(skill->name), str_dup(about), skill->enabled});
		}
	}
}

/* ---- rules ---- */

/* Returns the rules of the user's own config.toml. */
static const struct toml *user_rules(const struct tui *tui)
{
	return toml_get(toml_get(tui_user_settings(tui), "skills"), "config");
}

static void append_rule(struct buf *out, const char *key, struct str value, bool is_on)
{
	buf_printf(out, "%s{%s = ", out->len > 1 ? ", " : "", key);
	json_quote(out, value); /* JSON's escapes are a part of TOML's */
	buf_printf(out, ", enabled = %s}", is_on ? "true" : "false");
}

/* Appends the rules that are not about this name alone. Of path and name the path counts. */
static void append_others(const struct tui *tui, struct str name, struct buf *out)
{
	toml_for_each(it, user_rules(tui)) {
		const struct toml *by_name = toml_get(it, "name"), *by_path = toml_get(it, "path");
		const struct toml *enabled = toml_get(it, "enabled"), *place = by_path ? by_path : by_name;
		bool is_on = !toml_is(enabled, TOML_bool) || enabled->boolean;
		if (toml_is(place, TOML_string) && (by_path || !str_eq(by_name->text, name)))
			append_rule(out, by_path ? "path" : "name", place->text, is_on);
	}
}

/* Returns the skill of a row of the list: the skills may have changed since it was opened. */
static struct tui_skill *find_skill(struct tui *tui, struct str label)
{
	struct str name = str_skip(label, label.len < MARK_LEN ? label.len : MARK_LEN);
	vec_for_each(skill, &tui->skills) {
		if (str_is(name, skill->name))
			return skill;
	}
	return NULL;
}

static void on_saved(struct tui *tui, bool is_saved)
{
	if (is_saved)
		tui_cells_note(tui->cells, STR("Saved in config.toml, for new sessions"));
}

static void on_chosen(const struct tui_chosen *chosen, void *self)
{
	struct tui *tui = self;
	auto_buf struct buf rules;
	buf_init(&rules, RULES_MAX);
	const char *words[] = {"skills.config", NULL};
	struct tui_skill *skill = chosen->at < 0 ? NULL : find_skill(tui, chosen->label);
	if (!skill)
		return;
	buf_append_char(&rules, '[');
	append_others(tui, str_of(skill->name), &rules);
	append_rule(&rules, "name", str_of(skill->name), !skill->is_enabled); /* the last rule that fits counts */
	buf_append_char(&rules, ']');
	words[1] = buf_str(&rules).ptr;
	if (rules.over) {
		tui_cells_fail(tui->cells, STR("skills.config has too many rules to be changed here"));
		return;
	}
	skill->is_enabled = !skill->is_enabled;
	tui_save(tui, words, countof(words), on_saved);
}

/* ---- the command ---- */

void on_slash_skills(struct tui *tui, struct str text)
{
	VEC(struct tui_choice) items = {0};
	(void)text;
	if (!tui->skills.count) {
		auto_free char *note =
			xasprintf("No skill was found in %s/skills, .agents/skills and ~/.agents/skills.",
		                  config_home(tui->config));
		tui_cells_note(tui->cells, str_of(note));
		return;
	}
	vec_for_each(skill, &tui->skills) {
		if (items.count < CHOICES_MAX)
			vec_push(&items,
			         (struct tui_choice){
					 .label = xasprintf("%s %s", skill->is_enabled ? "[x]" : "[ ]", skill->name),
					 .about = skill->about});
	}
	struct tui_choices what = {.title = STR("Skills\n"),
	                           .items = items.items,
	                           .count = items.count,
	                           .hint = "  type to search · enter turns on or off · esc back",
	                           .is_searched = true,
	                           .on_chosen = on_chosen,
	                           .self = tui};
	tui_ask_add(tui->ask, tui_choice_create(&what, STR_NONE, NULL));
	vec_for_each(item, &items)
		free((char *)item->label);
	vec_finish(&items);
}
