/* The layers of the configuration are read again, one by one, because the hooks of all of them count. */
#include "config/hook_config.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "config/config.h"
#include "config/config_required.h"
#include "config/plugin.h"
#include "config/toml/toml.h"

/* ---- the sources ---- */

static enum hook_source source_of(enum config_layer_kind kind)
{
	switch (kind) {
	case CONFIG_LAYER_system:
		return hook_source_system;
	case CONFIG_LAYER_user:
	case CONFIG_LAYER_profile:
		return hook_source_user;
	case CONFIG_LAYER_project:
		return hook_source_project;
	case CONFIG_LAYER_managed:
	case CONFIG_LAYER_fixed:
		return hook_source_legacy_managed_config_file;
	default:
		return hook_source_session_flags;
	}
}

static void add_problem(struct hook_config *to, const char *path, const struct error *err)
{
	vec_push(&to->errors, (struct hook_problem){arena_cstr(&to->list.arena, str_of(path)),
	                                            arena_cstr(&to->list.arena, str_of(err->text))});
	hook_list_warn(&to->list, "hooks are ignored: %s", err->text);
}

static void read_tree(struct hook_config *to, const struct toml *table, const char *path, enum hook_source source)
{
	struct error err;
	if (toml_is(table, TOML_table) && hook_list_read(&to->list, table, path, source, &err) != 0)
		add_problem(to, path, &err);
}

static bool is_own(struct str key)
{
	return str_is(key, "hooks") || str_is(key, "description");
}

/* Names the first member without effect. A mistake beside the hooks must not switch them off: they may guard
 * something. */
static void warn_unknown(struct hook_config *to, const struct toml *root, const char *path)
{
	char shown[TOML_KEY_SHOWN];
	const struct toml *first = toml_find(toml_get(root, "hooks"), STR("state"));
	for (const struct toml *it = toml_is(root, TOML_table) ? root->child : NULL; it && !first; it = it->next)
		first = is_own(it->key) ? NULL : it;
	if (first)
		hook_list_warn(&to->list, "%s: the member `%s` has no effect; events are in `hooks`", path,
		               toml_key_shown(first->key, shown));
}

static int read_json(struct hook_config *to, const char *path, const struct toml **ret, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_CONFIG_FILE);
	*ret = NULL;
	if (file_read_regular(path, &text, err) != 0)
		return err->code == ERR_not_found ? 0 : -(int)err->code;
	const struct json *json = json_parse_copy(&to->list.arena, buf_str(&text), err);
	if (!json)
		return error_wrap(err, "%s", path);
	const struct toml *root = toml_from_json(&to->list.arena, json, path, err);
	if (!root)
		return -(int)err->code;
	warn_unknown(to, root, path);
	*ret = toml_get(root, "hooks");
	if (*ret && (*ret)->kind != TOML_table)
		return error_set(err, ERR_config, "%s: `hooks` must be an object", path);
	return 0;
}

/* Reads hooks.json of a folder. True if it has hooks. */
static bool read_file(struct hook_config *to, const char *folder, enum hook_source source)
{
	struct error err = {0};
	const char *path = arena_printf(&to->list.arena, "%s/hooks.json", folder);
	const struct toml *table;
	size_t before = to->list.hooks.count;
	if (read_json(to, path, &table, &err) != 0)
		add_problem(to, path, &err);
	else
		read_tree(to, table, path, source);
	return to->list.hooks.count > before;
}

static bool read_layers(struct hook_config *to, const struct config *config, enum config_layer_kind kind,
                        const char *folder)
{
	size_t count, before = to->list.hooks.count;
	const struct config_layer *layers = config_layers(config, &count);
	for (size_t i = 0; i < count; i++) {
		const struct toml *table = layers[i].kind == kind ? toml_get(layers[i].root, "hooks") : NULL;
		const char *source = table ? table->source : "";
		bool is_file = source[0] == '/';
		if (!table || (folder && (!is_file || !str_is(path_dir(source), folder))))
			continue;
		read_tree(to, table, is_file ? source : "/<session-flags>/config.toml", source_of(kind));
	}
	return to->list.hooks.count > before;
}

/* Reads both files of a folder. */
static void read_folder(struct hook_config *to, const struct config *config, const char *folder,
                        enum config_layer_kind kind)
{
	bool has_table = read_layers(to, config, kind, folder);
	bool has_file = read_file(to, folder, source_of(kind));
	if (has_table && has_file)
		hook_list_warn(&to->list, "%s: hooks are defined in hooks.json and in config.toml; both count", folder);
}

/* ---- trust ---- */

/* True for a layer that a project can bring along: its files, and the roles of subagents that they define. */
static bool is_foreign(int kind)
{
	return kind == CONFIG_LAYER_project || kind == CONFIG_LAYER_role;
}

/* Returns the user's decision about a hook. A project's file must not contain one. */
static const struct toml *find_state(const struct config *config, const char *key)
{
	size_t count;
	const struct toml *found = NULL;
	const struct config_layer *layers = config_layers(config, &count);
	for (int kind = 0; kind < CONFIG_LAYER_kind_count; kind++) {
		for (size_t i = 0; i < count; i++) {
			if ((int)layers[i].kind != kind || is_foreign(kind))
				continue;
			const struct toml *state = toml_get(toml_get(layers[i].root, "hooks"), "state");
			const struct toml *it = toml_find(state, str_of(key));
			found = it ? it : found;
		}
	}
	return found;
}

static bool is_managed(enum hook_source source)
{
	return source == hook_source_mdm || source == hook_source_legacy_managed_config_file;
}

/* Returns features.hooks without foreign layers: a project must not switch off the user's hooks. */
static bool are_on(const struct config *config)
{
	size_t count;
	bool is_on = true;
	const struct config_layer *layers = config_layers(config, &count);
	for (int kind = 0; kind < CONFIG_LAYER_kind_count; kind++) {
		for (size_t i = 0; i < count; i++) {
			bool counts = (int)layers[i].kind == kind && !is_foreign(kind);
			const struct toml *features = counts ? toml_get(layers[i].root, "features") : NULL;
			const struct toml *value = toml_get(features, "hooks");
			if (toml_is(value, TOML_bool))
				is_on = value->boolean;
		}
	}
	return is_on;
}

/* The feature and the user's decisions do not concern the administrator's hooks. */
static void judge(struct hook *hook, const struct config *config, bool is_on, bool managed_only)
{
	const struct toml *state = find_state(config, hook->key);
	const struct toml *hash = toml_get(state, "trusted_hash"), *enabled = toml_get(state, "enabled");
	if (is_managed(hook->source))
		hook->trust = app_hook_trust_status_managed;
	else if (!toml_is(hash, TOML_string))
		hook->trust = app_hook_trust_status_untrusted;
	else
		hook->trust =
			str_is(hash->text, hook->hash) ? app_hook_trust_status_trusted : app_hook_trust_status_modified;
	bool is_own = is_managed(hook->source);
	hook->is_enabled = is_own || (is_on && !managed_only && !(toml_is(enabled, TOML_bool) && !enabled->boolean));
	hook->is_usable = hook->is_enabled && (is_own || hook->trust == app_hook_trust_status_trusted ||
	                                       config_bypasses_hook_trust(config));
}

/* The hooks of plugins are as little trusted as those of a project: each needs its hash. */
static void read_plugins(struct hook_config *to, const struct config *config)
{
	struct error err;
	const struct plugin *list;
	const struct toml *root;
	static const char file[] = "hooks/hooks.json";
	size_t count = plugin_list(config_home(config), config_tree(config), &to->list.arena, &list);
	for (size_t i = 0; i < count; i++) {
		const char *path = arena_printf(&to->list.arena, "%s/%s", list[i].root, file);
		if (list[i].is_enabled && plugin_read(&list[i], file, &to->list.arena, &root, &err) != 0)
			add_problem(to, path, &err);
		else if (list[i].is_enabled) {
			warn_unknown(to, root, path);
			read_tree(to, toml_get(root, "hooks"), path, hook_source_plugin);
		}
	}
}

void hook_config_init(struct hook_config *hooks, const struct config *config)
{
	size_t count, own;
	const struct config_required *required = config_required(config);
	const char *const *folders = config_folders(config, &count);
	*hooks = (struct hook_config){0};
	own = config_own_folders(config);
	if (required)
		read_tree(hooks, toml_get(required->root, "hooks"), required->path, hook_source_mdm);
	read_layers(hooks, config, CONFIG_LAYER_managed, NULL);
	for (size_t i = 0; i < count; i++)
		read_folder(hooks, config, folders[i],
		            i >= own       ? CONFIG_LAYER_project
		            : i + 1 == own ? CONFIG_LAYER_user
		                           : CONFIG_LAYER_system);
	read_plugins(hooks, config);
	read_layers(hooks, config, CONFIG_LAYER_profile, NULL);
	read_layers(hooks, config, CONFIG_LAYER_option, NULL);
	bool is_on = are_on(config);
	vec_for_each(hook, &hooks->list.hooks)
		judge(hook, config, is_on, required && required->keys.allow_managed_hooks_only);
}

void hook_config_finish(struct hook_config *hooks)
{
	vec_finish(&hooks->list.hooks);
	vec_finish(&hooks->list.warnings);
	vec_finish(&hooks->errors);
	arena_finish(&hooks->list.arena);
}
