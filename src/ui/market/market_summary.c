/* A manifest is untrusted: paths in it stay below the plugin, words that the protocol lacks get its first value. */
#include "ui/market/market_summary.h"

#include <stddef.h>
#include <string.h>

#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/hook_table.h"
#include "config/plugin_files.h"
#include "skill/yaml.h"

/* ---- values ---- */

static int word_of(const struct enum_type *type, struct str word)
{
	int value = 0;
	return enum_parse(type, word, &value) ? value : 0;
}

enum {
	SHOWN_BYTES = 4096, /* of a text that is displayed; the rest is cut off */
	SHOWN_TEXTS = 32    /* of a list, for instance of keywords */
};

/* Copies a text that is displayed. */
static struct str shown(struct str text, struct arena *arena)
{
	if (text.len > SHOWN_BYTES)
		text.len = text_utf8_prefix(str_n(text.ptr, SHOWN_BYTES));
	return arena_str(arena, text);
}

/* Returns a text, or a list of texts, as a list; NULL if the value is neither. */
static struct str *texts_of(const struct json *json, struct arena *arena, size_t *ret_count)
{
	size_t count = 0;
	bool is_text = json_is(json, JSON_string);
	struct str *list = is_text || json_is(json, JSON_array) ? arena_array(arena, struct str, SHOWN_TEXTS) : NULL;
	if (is_text)
		list[count++] = shown(json->text, arena);
	json_for_each(it, json_is(json, JSON_array) ? json : NULL) {
		if (it->type == JSON_string && count < SHOWN_TEXTS)
			list[count++] = shown(it->text, arena);
	}
	*ret_count = count;
	return list;
}

/* The absolute path of "./FILE" in the plugin. */
static struct str file_of(const struct str *folder, struct str path, struct arena *arena)
{
	if (!folder->len || path.len > SHOWN_BYTES || !str_cut_prefix(&path, "./") || str_find(path, STR("..")) >= 0 ||
	    str_has_nul(path))
		return STR_NONE;
	return str_of(arena_printf(arena, "%.*s/%.*s", STR_ARG(*folder), STR_ARG(path)));
}

/* ---- display ---- */

static const struct {
	const char *key;
	size_t offset;
	bool is_file;
} displayed[] = {
#define TEXT(key, field)                                                 \
	{                                                                \
		key, offsetof(struct app_plugin_interface, field), false \
	}
#define FILE_AT(key, field)                                             \
	{                                                               \
		key, offsetof(struct app_plugin_interface, field), true \
	}
	TEXT("displayName", display_name),
	TEXT("shortDescription", short_description),
	TEXT("longDescription", long_description),
	TEXT("developerName", developer_name),
	TEXT("category", category),
	TEXT("websiteURL", website_url),
	TEXT("privacyPolicyURL", privacy_policy_url),
	TEXT("termsOfServiceURL", terms_of_service_url),
	TEXT("brandColor", brand_color),
	FILE_AT("composerIcon", composer_icon),
	FILE_AT("logo", logo),
	FILE_AT("logoDark", logo_dark),
#undef TEXT
#undef FILE_AT
};

static struct app_plugin_interface *interface_of(const struct json *json, struct str category, struct str folder,
                                                 struct arena *arena)
{
	if (!json_is(json, JSON_object) && !category.len)
		return NULL;
	struct app_plugin_interface *ret = arena_new(arena, struct app_plugin_interface);
	for (size_t i = 0; i < countof(displayed); i++) {
		struct str text = json_get_str(json, displayed[i].key);
		*(struct str *)(void *)((char *)ret + displayed[i].offset) =
			displayed[i].is_file ? file_of(&folder, text, arena) : shown(text, arena);
	}
	if (category.len)
		ret->category = shown(category, arena);
	ret->capabilities = texts_of(json_get(json, "capabilities"), arena, &ret->capabilities_count);
	ret->default_prompt = texts_of(json_get(json, "defaultPrompt"), arena, &ret->default_prompt_count);
	struct str *shots = texts_of(json_get(json, "screenshots"), arena, &ret->screenshots_count);
	size_t kept = 0;
	for (size_t i = 0; i < ret->screenshots_count; i++) {
		struct str path = file_of(&folder, shots[i], arena);
		if (path.ptr)
			shots[kept++] = path;
	}
	ret->screenshots = shots;
	ret->screenshots_count = kept;
	return ret;
}

/* ---- the summary ---- */

static struct app_plugin_source *source_of(const struct market_origin *origin, struct arena *arena)
{
	struct app_plugin_source *source = arena_new(arena, struct app_plugin_source);
	source->tag = app_plugin_source_remote;
	if (origin->place == MARKET_local) {
		source->tag = app_plugin_source_local;
		source->local = arena_new(arena, struct app_plugin_source_local);
		source->local->path = origin->where;
	} else if (origin->place == MARKET_git || origin->place == MARKET_subdir) {
		source->tag = app_plugin_source_git;
		source->git = arena_new(arena, struct app_plugin_source_git);
		*source->git = (struct app_plugin_source_git){origin->where, origin->path, origin->ref, origin->sha};
	} else if (origin->place == MARKET_npm) {
		source->tag = app_plugin_source_npm;
		source->npm = arena_new(arena, struct app_plugin_source_npm);
		source->npm->package = origin->where;
		source->npm->version = origin->more;
	}
	return source;
}

static void forbid(const struct market_shelf *shelf, const struct market_entry *entry, struct app_plugin_summary *ret)
{
	struct error err;
	if (market_check_source(shelf->config, entry->market, &err) == 0 &&
	    market_check_plugin(shelf->config, ret->id.ptr, &err) == 0)
		return;
	ret->availability = app_plugin_availability_disabled_by_admin;
	ret->has_disabled_reason = true;
	ret->disabled_reason = app_plugin_disabled_reason_disabled_by_admin;
}

void market_summary_fill(const struct market_shelf *shelf, const struct market_entry *entry,
                         const struct market_plugin *plugin, struct app_plugin_summary *ret)
{
	struct arena *arena = shelf->arena;
	const char *id = market_shelf_id(shelf, entry, plugin);
	const struct plugin *installed = market_shelf_installed(shelf, id);
	auto_arena struct arena read = {0};
	const struct json *json = market_shelf_manifest(entry, plugin, &read);
	const struct market_origin origin = market_shelf_origin(shelf, entry, plugin);
	*ret = (struct app_plugin_summary){
		.auth_policy = word_of(&enum_app_plugin_auth_policy, plugin->auth_policy),
		.enabled = installed && installed->is_enabled,
		.id = str_of(id),
		.install_policy = word_of(&enum_app_plugin_install_policy, plugin->install_policy),
		.installed = installed,
		.name = plugin->name,
		.source = source_of(&origin, arena),
		.local_version =
			installed ? plugin_version(installed, arena) : shown(json_get_str(json, "version"), arena),
	};
	struct str folder = plugin->folder ? origin.where : STR_NONE;
	ret->interface = interface_of(json_get(json, "interface"), plugin->category, folder, arena);
	ret->keywords = texts_of(json_get(json, "keywords"), arena, &ret->keywords_count);
	forbid(shelf, entry, ret);
}

/* ---- the detail ---- */

static bool read_skill(const struct market_shelf *shelf, const struct market_entry *entry,
                       const struct market_plugin *plugin, struct str name, struct app_skill_summary *ret)
{
	struct error ignored;
	struct str text, yaml, body;
	auto_arena struct arena read = {0};
	struct arena *arena = shelf->arena;
	const char *path = arena_printf(arena, "%s/skills/%.*s/SKILL.md", plugin->folder, STR_ARG(name));
	if (import_tree_read(&entry->tree, path, LIMIT_IMPORT_FILE, &read, &text, NULL, &ignored) != 0 ||
	    !yaml_split_front_matter(text, &yaml, &body))
		return false;
	const struct json *front = yaml_read(&read, yaml, &ignored);
	struct str own = shown(yaml_get_line(front, "name", &read), arena);
	*ret = (struct app_skill_summary){
		.description = shown(yaml_get_line(front, "description", &read), arena),
		.enabled = true,
		.name = str_of(arena_printf(arena, "%.*s:%.*s", STR_ARG(plugin->name), STR_ARG(own.len ? own : name))),
		.path = str_of(arena_printf(arena, "%s/%s", entry->market->root, path)),
		.short_description =
			shown(yaml_get_line(json_get(front, "metadata"), "short-description", &read), arena),
	};
	return ret->description.ptr;
}

static void add_skills(const struct market_shelf *shelf, const struct market_entry *entry,
                       const struct market_plugin *plugin, struct app_plugin_detail *ret)
{
	struct error ignored;
	struct import_names names = {0};
	const char *folder = arena_printf(shelf->arena, "%s/skills", plugin->folder);
	best_effort(import_tree_list(&entry->tree, folder, "", shelf->arena, &names, &ignored));
	ret->skills = arena_array(shelf->arena, struct app_skill_summary, names.count + 1);
	for (size_t i = 0; i < names.count; i++)
		ret->skills_count += read_skill(shelf, entry, plugin, names.items[i], &ret->skills[ret->skills_count]);
	vec_finish(&names);
}

/* Keys are those of codex 0.169: ID:hooks/hooks.json:EVENT:GROUP:HANDLER. */
static void add_hooks(const struct market_shelf *shelf, const struct market_entry *entry,
                      const struct market_plugin *plugin, struct app_plugin_detail *ret)
{
	static const char file[] = "hooks/hooks.json";
	struct error ignored;
	struct hook_list list = {0};
	auto_arena struct arena read = {0};
	const struct json *json = NULL;
	const char *path = arena_printf(shelf->arena, "%s:%s", ret->summary->id.ptr, file);
	const struct toml *root = NULL, *table;
	if (market_plugin_file(&entry->tree, plugin, file, &read, &json, &ignored) == 0)
		root = toml_from_json(&read, json, path, &ignored);
	table = toml_get(root, "hooks");
	if (toml_is(table, TOML_table))
		best_effort(hook_list_read(&list, table, path, hook_source_plugin, &ignored));
	ret->hooks = arena_array(shelf->arena, struct app_plugin_hook_summary, list.hooks.count + 1);
	for (size_t i = 0; i < list.hooks.count; i++)
		ret->hooks[ret->hooks_count++] =
			(struct app_plugin_hook_summary){(enum app_hook_event_name)list.hooks.items[i].event,
		                                         arena_str(shelf->arena, str_of(list.hooks.items[i].key))};
	vec_finish(&list.hooks);
	vec_finish(&list.warnings);
	arena_finish(&list.arena);
}

static void add_servers(const struct market_shelf *shelf, const struct market_entry *entry,
                        const struct market_plugin *plugin, struct app_plugin_detail *ret)
{
	struct error ignored;
	auto_arena struct arena read = {0};
	const struct json *json = NULL;
	best_effort(market_plugin_file(&entry->tree, plugin, ".mcp.json", &read, &json, &ignored));
	const struct json *servers = json_get(json, "mcpServers");
	if (!json_is(servers, JSON_object))
		return;
	ret->mcp_servers = arena_array(shelf->arena, struct str, servers->count + 1);
	json_for_each(it, servers)
		ret->mcp_servers[ret->mcp_servers_count++] = shown(it->key, shelf->arena);
}

void market_detail_fill(const struct market_shelf *shelf, const struct market_entry *entry,
                        const struct market_plugin *plugin, struct app_plugin_detail *ret)
{
	auto_arena struct arena read = {0};
	*ret = (struct app_plugin_detail){
		.marketplace_name = str_of(entry->market->name),
		.marketplace_path =
			str_of(arena_printf(shelf->arena, "%s/%s", entry->market->root, entry->catalog.file)),
		.summary = arena_new(shelf->arena, struct app_plugin_summary),
		.description =
			shown(json_get_str(market_shelf_manifest(entry, plugin, &read), "description"), shelf->arena),
	};
	market_summary_fill(shelf, entry, plugin, ret->summary);
	if (!plugin->folder)
		return;
	add_skills(shelf, entry, plugin, ret);
	add_hooks(shelf, entry, plugin, ret);
	add_servers(shelf, entry, plugin, ret);
}
