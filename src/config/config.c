/* Sources are loaded in the order of their dependencies: options may name the profile, the user's file lists the
 * trusted projects, and trust decides which project files are read and which defaults apply. Values are checked
 * last, on the merged tree, which keeps the file and line of each value. */
#include "config/config.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/agent_role.h"
#include "config/config_env.h"
#include "config/config_inert.h"
#include "config/config_narrow.h"
#include "config/config_permission.h"
#include "config/config_project.h"
#include "config/config_required.h"
#include "config/config_shape.h"
#include "config/feature.h"
#include "config/hook_table.h"
#include "config/mcp_server.h"
#include "config/otel.h"
#include "config/plugin.h"
#include "config/web_search.h"

struct loaded {
	struct config config; /* the part that other modules see */
	/* private */
	_Atomic unsigned refs; /* a thread may end with the last one */
	struct arena arena;
	struct config_layers layers;
	struct config_project_place place;
	const struct toml *tree;
	const struct config_required *required; /* NULL: no requirements.toml */
	const char *home;
	const char *profile;
	bool ignores_user, ignores_rules, bypasses_hook_trust, needs_no_key;
	VEC(const char *) inert; /* keys without effect, in the arena */
	size_t own_folders;      /* number of layers.folders that belong to the system and the user; they come first */
	struct agent_roles roles;
	/* of config_with_servers: holds all but mcp_servers; of config_with_role: the parent's; else NULL */
	struct config *base;
};

static struct loaded *loaded_of(const struct config *config)
{
	return container_of((struct config *)(uintptr_t)config, struct loaded, config);
}

/* False after config_with_servers: then they are those of the base. */
static bool owns_layers(const struct loaded *l)
{
	return l->layers.arena == &l->arena;
}

struct config *config_ref(struct config *config)
{
	loaded_of(config)->refs++;
	return config;
}

void config_unref(struct config *config)
{
	if (!config)
		return;
	struct loaded *l = loaded_of(config);
	if (--l->refs)
		return;
	if (owns_layers(l)) {
		config_layers_finish(&l->layers);
		vec_finish(&l->inert);
	}
	if (!l->base)
		vec_finish(&l->roles);
	config_unref(l->base);
	arena_finish(&l->arena);
	free(l);
}

static int find_home(struct loaded *l, const struct config_source *source, struct error *err)
{
	auto_free char *found = source->codex_home ? xstrdup(source->codex_home) : config_env_home(err);
	if (!found)
		return -ERR_config;
	l->home = arena_cstr(&l->arena, str_of(found));
	return 0;
}

static int load_options(struct loaded *l, const struct config_source *source, struct error *err)
{
	int status = 0;
	for (size_t i = 0; i < source->default_count && status == 0; i++)
		status = config_layer_default(&l->layers, source->defaults[i], err);
	for (size_t i = 0; i < source->override_count && status == 0; i++)
		status = config_layer_option(&l->layers, source->overrides[i], err);
	for (size_t i = 0; i < source->server_count && status == 0; i++)
		status = config_layer_server(&l->layers, source->servers[i], err);
	for (size_t i = 0; i < source->flag_count && status == 0; i++)
		status = config_layer_flag(&l->layers, source->flags[i].flag, source->flags[i].key,
		                           source->flags[i].value, err);
	return status;
}

static int load_user(struct loaded *l, const struct config_source *source, struct error *err)
{
	const char *system_file = source->system_file ? source->system_file : "/etc/codex/config.toml";
	int status = config_layer_read(&l->layers, CONFIG_LAYER_system, system_file, NULL, err);
	vec_push(&l->layers.folders, arena_cstr(&l->arena, path_dir(system_file)));
	vec_push(&l->layers.folders, l->home);
	l->own_folders = l->layers.folders.count;
	if (status != 0 || source->ignore_user_config)
		return status;
	auto_free char *path = path_join(l->home, "config.toml");
	if (source->user_text)
		return config_layer_text(&l->layers, CONFIG_LAYER_user, *source->user_text, path, NULL, err);
	return config_layer_read(&l->layers, CONFIG_LAYER_user, path, NULL, err);
}

static const char *admin_folder(const struct config_source *source)
{
	return source->admin_folder ? source->admin_folder : "/etc/codex";
}

/* Reads the administrator's files, which take precedence over everything that users set. */
static int load_admin(struct loaded *l, const struct config_source *source, struct error *err)
{
	const char *folder = admin_folder(source);
	auto_free char *managed = path_join(folder, "managed_config.toml");
	auto_free char *requirements = path_join(folder, "requirements.toml");
	int status = config_layer_read(&l->layers, CONFIG_LAYER_managed, managed, NULL, err);
	return status == 0 ? config_required_read(&l->layers, requirements, &l->required, err) : status;
}

/* Pushes the table [profiles.NAME], as merged from the layers so far, as a layer. */
static bool push_profile_table(struct loaded *l, struct str name)
{
	struct toml *table = toml_find(toml_get(config_layer_merge(&l->layers), "profiles"), name);
	if (!toml_is(table, TOML_table))
		return false;
	config_layer_push(&l->layers, CONFIG_LAYER_profile, table);
	return true;
}

static int load_profile(struct loaded *l, const struct config_source *source, struct error *err)
{
	const struct toml *named = config_layer_top(&l->layers, "profile");
	struct str name = source->profile               ? str_of(source->profile)
	                  : toml_is(named, TOML_string) ? named->text
	                                                : STR("");
	if (name.len == 0)
		return 0;
	if (source->profile && (str_find_char(name, '/') >= 0 || str_has_prefix(name, "..")))
		return error_set(err, ERR_usage,
		                 "invalid profile name '%.*s': it must not contain a slash or begin with ..",
		                 STR_ARG(name));
	bool is_found = push_profile_table(l, name);
	struct toml *root = NULL;
	l->profile = arena_cstr(&l->arena, name);
	const char *path = arena_printf(&l->arena, "%s/%s.config.toml", l->home, l->profile);
	if (!strchr(l->profile, '/') && config_layer_read(&l->layers, CONFIG_LAYER_profile, path, &root, err) != 0)
		return -ERR_config;
	if (is_found || root)
		return 0;
	return error_set(
		err, ERR_config,
		"config profile `%s` not found: there is neither [profiles.%s] in %s/config.toml nor a file %s",
		l->profile, l->profile, l->home, path);
}

static int load_project(struct loaded *l, const struct config_source *source, struct error *err)
{
	if (source->ignore_project) {
		l->place = (struct config_project_place){.cwd = "/", .root = "/"};
		return 0;
	}
	auto_free char *own = source->cwd ? NULL : getcwd(NULL, 0);
	const char *cwd = source->cwd ? source->cwd : own;
	if (!cwd)
		return error_sys(err, errno, "cannot determine the working folder");
	return config_project_load(&l->layers, l->home, cwd, &l->place, err);
}

/* Sets the defaults that depend on the folder's trust level. */
static void set_trust_defaults(struct loaded *l)
{
	struct config *c = &l->config;
	static const struct ask_for_approval untrusted = {.tag = ask_for_approval_untrusted};
	if (!c->is_set.approval_policy && l->place.trust == trust_level_untrusted)
		c->approval_policy = &untrusted;
	if (!c->is_set.sandbox_mode && l->place.trust != trust_level_unset)
		c->sandbox_mode = sandbox_mode_workspace_write;
}

static int bind(struct loaded *l, bool is_strict, struct error *err)
{
	struct config_binder binder = config_binder(&l->config, &l->arena);
	binder.is_quiet = false;
	binder.notes_inert = true;
	struct toml *tree = config_layer_merge(&l->layers);
	config_shape_read_dates(tree, &l->arena);
	l->tree = tree;
	plugin_limit(&l->layers, l->home, l->required ? toml_get(l->required->root, "plugins") : NULL, tree);
	if (!l->ignores_user)
		plugin_add_servers(&l->layers, l->home, tree);
	config_required_limit_servers(l->required, &l->layers, tree);
	int status = config_bind(&binder, &config_keys, l->tree, "", &l->config, err);
	if (status == 0)
		status = mcp_servers_check(l->config.mcp_servers, err);
	if (status == 0)
		status = web_search_check(toml_get(toml_get(tree, "tools"), "web_search"), err);
	if (status == 0)
		status = config_shape_check(tree, err);
	if (status == 0 && l->config.model && !l->config.model[0])
		status = error_set(err, ERR_config, "`model` must not be empty");
	if (status == 0)
		status = otel_check(&l->layers, toml_get(tree, "otel"), err);
	if (status == 0)
		status = hook_table_check(toml_get(tree, "hooks"), false, err);
	config_unknown_sort(&binder);
	config_inert_features(&binder, toml_get(tree, "features"));
	if (status == 0 && is_strict)
		status = config_unknown_refuse(&binder, err);
	if (status == 0) {
		config_unknown_warn(&binder, &l->layers);
		agent_role_warn_effort(&l->layers, l->config.agents.default_subagent_reasoning_effort);
		set_trust_defaults(l);
		status = config_permission_apply(&l->layers, l->tree, &binder, &l->config, err);
	}
	if (status == 0) {
		status = config_required_apply(l->required, &l->layers, l->tree, &l->config, err);
	}
	if (status == 0)
		vec_for_each(it, &binder.inert)
			vec_push(&l->inert, it->path);
	vec_finish(&binder.inert);
	vec_finish(&binder.unknown);
	return status;
}

static int load(struct loaded *l, const struct config_source *source, struct error *err)
{
	int status = find_home(l, source, err);
	if (status == 0 && source->is_watched)
		config_layer_watch(&l->layers, admin_folder(source), l->home, source->cwd);
	if (status == 0)
		status = load_options(l, source, err);
	if (status == 0)
		status = load_user(l, source, err);
	if (status == 0)
		status = load_admin(l, source, err);
	if (status == 0)
		status = load_profile(l, source, err);
	if (status == 0)
		status = load_project(l, source, err);
	struct agent_role_source roles = {&l->layers,     &l->place,       l->home,
	                                  l->own_folders, l->ignores_user, source->is_strict};
	if (status == 0)
		status = agent_roles_read(&l->roles, &roles, err);
	if (status == 0)
		status = bind(l, source->is_strict, err);
	if (status == 0)
		agent_roles_check(&l->roles, &l->layers, l->config.model_providers);
	return status;
}

struct config *config_load(const struct config_source *source, struct error *err)
{
	struct loaded *l = xnew(struct loaded);
	l->refs = 1;
	l->ignores_user = source->ignore_user_config;
	l->ignores_rules = source->ignore_rules;
	l->bypasses_hook_trust = source->bypass_hook_trust;
	l->needs_no_key = source->needs_no_key;
	config_layers_init(&l->layers, &l->arena);
	if (load(l, source, err) == 0)
		return &l->config;
	config_unref(&l->config);
	return NULL;
}

/* The warnings are dropped: the layers belong to the base. */
static void limit_servers(struct loaded *l, struct toml *root)
{
	struct config_layers layers;
	config_layers_init(&layers, &l->arena);
	config_required_limit_servers(l->required, &layers, root);
	config_layers_finish(&layers);
}

static int read_servers(struct loaded *l, struct str text, struct error *err)
{
	struct config *bound = arena_new(&l->arena, struct config); /* only to check the types */
	struct config_binder binder = config_binder(&l->config, &l->arena);
	const struct json *json = json_parse_copy(&l->arena, text, err);
	if (!json)
		return error_wrap(err, "mcp_servers");
	struct toml *table = toml_from_json(&l->arena, json, "mcp_servers", err);
	struct toml *root = toml_new(&l->arena, TOML_table, "mcp_servers", 0);
	if (!table)
		return -(int)err->code;
	toml_add(&l->arena, root, STR("mcp_servers"), table);
	limit_servers(l, root);
	if (config_bind(&binder, &config_keys, root, "", bound, err) != 0 || mcp_servers_check(table, err) != 0)
		return -(int)err->code;
	l->config.mcp_servers = table;
	return 0;
}

struct config *config_with_servers(struct config *config, struct str servers, struct error *err)
{
	struct loaded *l = xnew(struct loaded), *old = loaded_of(config);
	struct config *base = owns_layers(old) ? config : old->base;
	*l = *loaded_of(base);
	l->refs = 1;
	l->base = config_ref(base);
	l->arena = (struct arena){0};
	if (read_servers(l, servers, err) == 0)
		return &l->config;
	config_unref(&l->config);
	return NULL;
}

static int add_role(struct loaded *l, const struct config *from, const struct agent_role *role, struct error *err)
{
	const struct config_layers *layers = &loaded_of(from)->layers;
	vec_for_each(it, &layers->items)
		config_layer_push(&l->layers, it->kind, it->root);
	vec_for_each(it, &layers->folders)
		vec_push(&l->layers.folders, *it);
	struct toml *settings = toml_new(&l->arena, TOML_table, "", 1);
	struct config_allowed allowed;
	config_allowed_init(&allowed, &l->layers, l->place.trust);
	toml_merge(&l->arena, settings, role->settings);
	config_narrow_role(&l->layers, &allowed, settings);
	config_layer_push(&l->layers, CONFIG_LAYER_role, settings);
	if (bind(l, false, err) != 0)
		return error_wrap(err, "agent role `%.*s`", STR_ARG(role->name));
	l->config.mcp_servers = from->mcp_servers; /* these may have been reloaded */
	return 0;
}

struct config *config_with_role(struct config *config, const struct agent_role *role, struct error *err)
{
	struct loaded *l = xnew(struct loaded);
	*l = *loaded_of(config);
	l->refs = 1;
	l->base = config_ref(config);
	l->arena = (struct arena){0};
	memset(&l->inert, 0, sizeof(l->inert));
	memset(&l->config, 0, sizeof(l->config));
	config_layers_init(&l->layers, &l->arena);
	if (add_role(l, config, role, err) == 0)
		return &l->config;
	config_unref(&l->config);
	return NULL;
}

const struct agent_roles *config_roles(const struct config *config)
{
	return &loaded_of(config)->roles;
}

bool config_files_changed(const struct config *config)
{
	return config_layers_changed(&loaded_of(config)->layers);
}

bool config_stores_server(const struct config *config, struct str name)
{
	const struct loaded *l = loaded_of(config);
	const struct toml *server = toml_find(config->mcp_servers, name);
	bool is_stored = l->base;
	vec_for_each(it, &l->layers.items)
		is_stored |= (it->kind == CONFIG_LAYER_system || it->kind == CONFIG_LAYER_user) &&
		             toml_find(toml_get(it->root, "mcp_servers"), name);
	return is_stored && server && !server->is_whole;
}

const char *config_home(const struct config *config)
{
	return loaded_of(config)->home;
}

const char *const *config_folders(const struct config *config, size_t *ret_count)
{
	const struct loaded *l = loaded_of(config);
	*ret_count = l->layers.folders.count;
	return l->layers.folders.items;
}

size_t config_own_folders(const struct config *config)
{
	return loaded_of(config)->own_folders;
}

bool config_trusts_folder(const struct config *config, const char *folder)
{
	const struct config_project_place *place = &loaded_of(config)->place;
	return place->trust == trust_level_trusted && path_is_inside(folder, place->root);
}

bool config_trusts_file(const struct config *config, const char *folder, struct str text)
{
	const struct loaded *l = loaded_of(config);
	char hash[CONFIG_HASH_SIZE];
	for (size_t i = 0; i < l->own_folders; i++) {
		if (strcmp(folder, l->layers.folders.items[i]) == 0)
			return true;
	}
	auto_free char *dir = str_dup(path_dir(folder));
	config_content_hash(text, hash);
	return config_content_is_trusted(&l->layers, dir, hash);
}

const char *config_project_root(const struct config *config, enum trust_level *ret_level)
{
	*ret_level = loaded_of(config)->place.trust;
	return loaded_of(config)->place.root;
}

const char *config_root_of(const struct config *config, const char *folder)
{
	const struct config_project_place *place = &loaded_of(config)->place;
	return place->cwd && strcmp(place->cwd, folder) == 0 ? place->root : NULL;
}

bool config_ignores_rules(const struct config *config)
{
	return loaded_of(config)->ignores_rules;
}

bool config_needs_no_key(const struct config *config)
{
	return loaded_of(config)->needs_no_key;
}

bool config_bypasses_hook_trust(const struct config *config)
{
	return loaded_of(config)->bypasses_hook_trust;
}

const struct config_required *config_required(const struct config *config)
{
	return loaded_of(config)->required;
}

const char *config_profile(const struct config *config)
{
	return loaded_of(config)->profile;
}

const char *const *config_warnings(const struct config *config, size_t *ret_count)
{
	*ret_count = loaded_of(config)->layers.warnings.count;
	return loaded_of(config)->layers.warnings.items;
}

const char *const *config_inert(const struct config *config, size_t *ret_count)
{
	*ret_count = loaded_of(config)->inert.count;
	return loaded_of(config)->inert.items;
}

const struct config_layer *config_layers(const struct config *config, size_t *ret_count)
{
	*ret_count = loaded_of(config)->layers.items.count;
	return loaded_of(config)->layers.items.items;
}

const struct toml *config_tree(const struct config *config)
{
	return loaded_of(config)->tree;
}

const struct toml *config_find(const struct config *config, const char *path)
{
	const struct toml *node = config_tree(config);
	struct str rest = str_of(path), part;
	while (str_next_part(&rest, '.', &part))
		node = toml_find(node, part);
	return node;
}

struct config_binder config_binder(const struct config *config, struct arena *arena)
{
	return (struct config_binder){
		.arena = arena,
		.home = config_env("HOME"),
		.cwd = loaded_of(config)->place.cwd,
		.is_quiet = true,
	};
}
