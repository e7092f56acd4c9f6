/* The project's folders are determined for each working folder, since clients may pass any. A project need not be
 * trusted: a skill is a text that is used only if the user or the model names it. */
#include "skill/skill_places.h"

#include <stdlib.h>

#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/plugin.h"

/* ---- configuration ---- */

static const char *const *copy_paths(struct arena *arena, const struct str *items, size_t count)
{
	const char **copy = arena_array(arena, const char *, count + 1);
	for (size_t i = 0; i < count; i++)
		copy[i] = arena_cstr(arena, items[i]);
	return copy;
}

static const char *resolve(struct arena *arena, const char *path)
{
	auto_free char *real = realpath(path, NULL);
	return arena_cstr(arena, str_of(real ? real : path));
}

static void take_rules(struct skill_places *places, const struct config *config)
{
	const struct toml *list = config->skills.config;
	struct config_binder binder = config_binder(config, &places->arena);
	struct skill_rule *rules = arena_array(&places->arena, struct skill_rule, list ? list->count : 1);
	toml_for_each(it, list) {
		struct config_skill_rule rule;
		if (config_bind(&binder, &config_skill_rule_keys, it, "skills.config", &rule, NULL) != 0)
			continue; /* invalid patterns were reported when the file was read */
		if (!rule.path && !rule.name)
			continue;
		rules[places->rule_count++] = (struct skill_rule){
			.path = rule.path ? resolve(&places->arena, rule.path) : NULL,
			.name = arena_str(&places->arena, str_of(rule.name)),
			.enabled = rule.enabled,
		};
	}
	places->rules = rules;
	vec_finish(&binder.unknown);
}

static void take_markers(struct skill_places *places, const struct config *config)
{
	static const struct str git = {".git", 4};
	const struct config_strings *markers = &config->project_root_markers;
	bool is_set = config->is_set.project_root_markers;
	places->marker_count = is_set ? markers->count : 1;
	places->markers = copy_paths(&places->arena, is_set ? markers->items : &git, places->marker_count);
}

static void take_roots(struct skill_places *places, const struct config *config, const struct str *more,
                       size_t more_count)
{
	const struct plugin *plugins;
	const struct config_strings *extra = &config->skills.extra_roots;
	size_t count = plugin_list(config_home(config), config_tree(config), &places->arena, &plugins);
	const char **roots = arena_array(&places->arena, const char *, extra->count + more_count + count + 1);
	for (size_t i = 0; i < extra->count + more_count; i++)
		roots[i] = arena_cstr(&places->arena, i < extra->count ? extra->items[i] : more[i - extra->count]);
	places->extra_roots = roots;
	places->extra_root_count = extra->count + more_count;
	for (size_t i = 0; i < count; i++) {
		if (plugins[i].is_enabled)
			roots[places->extra_root_count++] = arena_printf(&places->arena, "%s/skills", plugins[i].root);
	}
}

struct skill_places *skill_places_create(const struct config *config, const struct str *more, size_t more_count)
{
	struct skill_places *places = xnew(struct skill_places);
	const char *user_home = config_env("HOME");
	places->home = resolve(&places->arena, config_home(config));
	places->user_home = user_home ? arena_cstr(&places->arena, str_of(user_home)) : NULL;
	take_roots(places, config, more, more_count);
	take_markers(places, config);
	take_rules(places, config);
	return places;
}

struct skill_places *skill_places_copy(const struct skill_places *from)
{
	struct skill_places *to = xnew(struct skill_places);
	struct arena *arena = &to->arena;
	struct skill_rule *rules = arena_array(arena, struct skill_rule, from->rule_count + 1);
	const char **markers = arena_array(arena, const char *, from->marker_count + 1);
	const char **extra = arena_array(arena, const char *, from->extra_root_count + 1);
	to->home = arena_cstr(arena, str_of(from->home));
	to->user_home = from->user_home ? arena_cstr(arena, str_of(from->user_home)) : NULL;
	for (size_t i = 0; i < from->marker_count; i++)
		markers[i] = arena_cstr(arena, str_of(from->markers[i]));
	for (size_t i = 0; i < from->extra_root_count; i++)
		extra[i] = arena_cstr(arena, str_of(from->extra_roots[i]));
	for (size_t i = 0; i < from->rule_count; i++) {
		const struct skill_rule *rule = &from->rules[i];
		rules[i] = (struct skill_rule){rule->path ? arena_cstr(arena, str_of(rule->path)) : NULL,
		                               arena_str(arena, rule->name), rule->enabled};
	}
	to->markers = markers;
	to->marker_count = from->marker_count;
	to->extra_roots = extra;
	to->extra_root_count = from->extra_root_count;
	to->rules = rules;
	to->rule_count = from->rule_count;
	return to;
}

void skill_places_destroy(struct skill_places *places)
{
	if (!places)
		return;
	arena_finish(&places->arena);
	free(places);
}

/* ---- folders ---- */

struct roots {
	const struct skill_places *places;
	struct arena *arena;
	VEC(struct skill_root) list;
};

/* Adds a folder if it exists and is not in the list yet. */
static void add(struct roots *roots, const char *folder, const char *name, enum skill_scope scope)
{
	auto_free char *path = path_join(folder, name);
	auto_free char *real = realpath(path, NULL);
	if (!real || !dir_exists(real))
		return;
	vec_for_each(it, &roots->list) {
		if (strcmp(it->path, real) == 0)
			return;
	}
	vec_push(&roots->list, (struct skill_root){arena_cstr(roots->arena, str_of(real)), scope});
}

static bool is_project_root(const struct skill_places *places, const char *folder)
{
	for (size_t i = 0; i < places->marker_count; i++) {
		auto_free char *path = path_join(folder, places->markers[i]);
		if (places->markers[i][0] && marker_exists(path))
			return true;
	}
	return false;
}

/* Returns the length of the project root's path within folder; the whole length if there is no project. */
static size_t find_root(const struct skill_places *places, const char *folder)
{
	auto_free char *at = xstrdup(folder);
	for (;;) {
		if (is_project_root(places, at))
			return strlen(at);
		if (!at[1])
			return strlen(folder);
		size_t len = path_dir(at).len;
		at[len] = '\0';
	}
}

/* True for the user's own folders, which do not belong to a project even if the home folder is one. */
static bool is_users(const struct skill_places *places, const char *folder)
{
	auto_free char *codex = path_join(folder, ".codex");
	auto_free char *real = realpath(codex, NULL);
	return (real && strcmp(real, places->home) == 0) ||
	       (places->user_home && strcmp(folder, places->user_home) == 0);
}

/* Adds the project's folders from the cwd upwards, because nearer folders take precedence. */
static void add_project(struct roots *roots, struct str cwd)
{
	auto_free char *name = str_dup(cwd);
	auto_free char *at = name[0] == '/' && strlen(name) == cwd.len ? realpath(name, NULL) : NULL;
	if (!at)
		return;
	size_t root = find_root(roots->places, at);
	while (strlen(at) >= root) {
		if (!is_users(roots->places, at)) {
			add(roots, at, ".codex/skills", skill_scope_repo);
			add(roots, at, ".agents/skills", skill_scope_repo);
		}
		if (!at[1])
			return;
		at[path_dir(at).len] = '\0';
	}
}

size_t skill_places_roots(const struct skill_places *places, struct str cwd, struct arena *arena,
                          struct skill_root **ret)
{
	struct roots roots = {.places = places, .arena = arena};
	add_project(&roots, cwd);
	add(&roots, places->home, "skills", skill_scope_user);
	if (places->user_home)
		add(&roots, places->user_home, ".agents/skills", skill_scope_user);
	for (size_t i = 0; i < places->extra_root_count; i++)
		add(&roots, places->extra_roots[i], "", skill_scope_user);
	add(&roots, places->home, "skills/.system", skill_scope_system);
	add(&roots, "/etc/codex", "skills", skill_scope_admin);
	*ret = arena_array(arena, struct skill_root, roots.list.count + 1);
	for (size_t i = 0; i < roots.list.count; i++)
		(*ret)[i] = roots.list.items[i];
	size_t count = roots.list.count;
	vec_finish(&roots.list);
	return count;
}

/* ---- rules ---- */

static bool rule_fits(const struct skill_rule *rule, struct str path, struct str name)
{
	if (!rule->path)
		return str_eq(rule->name, name);
	return str_is(path, rule->path) || (str_cut_prefix(&path, rule->path) && str_is(path, "/SKILL.md"));
}

bool skill_places_allow(const struct skill_places *places, struct str path, struct str name)
{
	bool allows = true;
	for (size_t i = 0; i < places->rule_count; i++) {
		if (rule_fits(&places->rules[i], path, name))
			allows = places->rules[i].enabled;
	}
	return allows;
}
