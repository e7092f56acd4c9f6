/* The sandbox can make folders writable and allow the network. Everything can be read, so `deny` cannot be kept, and
 * `read` only where nothing is writable. */
#include "config/config_permission.h"

#include <string.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/str.h"
#include "config/config_env.h"

struct resolver {
	const struct toml *tree;
	const struct config_binder *binder;
	struct config_permission *to;
	VEC(struct str) roots;
	VEC(const struct toml *) reads;
	bool writes_disk, denies_network;
	struct error *err;
};

static const struct {
	const char *name;
	enum sandbox_mode mode;
} built_in[] = {
	{":read-only", sandbox_mode_read_only},
	{":workspace", sandbox_mode_workspace_write},
	{":danger-full-access", sandbox_mode_danger_full_access},
};

bool config_permission_is_built_in(struct str name, enum sandbox_mode *ret)
{
	for (size_t i = 0; i < countof(built_in); i++) {
		*ret = built_in[i].mode;
		if (str_is(name, built_in[i].name))
			return true;
	}
	return false;
}

const char *config_permission_of_mode(enum sandbox_mode mode)
{
	for (size_t i = 0; i < countof(built_in); i++) {
		if (built_in[i].mode == mode)
			return built_in[i].name;
	}
	return NULL;
}

static int refuse(const struct resolver *r, const struct toml *node, const char *why)
{
	char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
	return error_set(r->err, ERR_config, "%s: `%s` in a permission profile %s", config_place(node, where),
	                 toml_key_shown(node->key, shown), why);
}

static bool is_any(struct str text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		if (str_is(text, words[i]))
			return true;
	}
	return false;
}

static char *folder_of(const struct resolver *r, const struct toml *node, struct str name)
{
	auto_free char *text = str_dup(name);
	auto_free char *dir = node->source[0] == '/' ? str_dup(path_dir(node->source)) : xstrdup(r->binder->cwd);
	bool is_home = text[0] == '~' && (!text[1] || text[1] == '/') && r->binder->home;
	auto_free char *full = is_home ? xasprintf("%s%s", r->binder->home, text + 1) : path_join(dir, text);
	return path_normalize(full);
}

static void add_root(struct resolver *r, const struct toml *node, struct str name)
{
	auto_free char *clean = folder_of(r, node, name);
	vec_push(&r->roots, arena_str(r->binder->arena, str_of(clean)));
}

/* ---- filesystem ---- */

static int take_write(struct resolver *r, const struct toml *node)
{
	static const char *const workspace[] = {":workspace_roots", ":project_roots", ":cwd"};
	static const char *const temporary[] = {":tmpdir", ":slash_tmp", "/tmp"};
	if (is_any(node->key, workspace, countof(workspace)))
		r->to->mode = sandbox_mode_workspace_write;
	else if (str_is(node->key, ":root") || str_is(node->key, "/"))
		r->writes_disk = true;
	else if (str_is(node->key, temporary[0]))
		r->to->workspace.exclude_tmpdir_env_var = false;
	else if (is_any(node->key, temporary, countof(temporary)))
		r->to->workspace.exclude_slash_tmp = false;
	else if (node->key.len && node->key.ptr[0] == ':')
		return refuse(r, node, "is not a folder that this version knows");
	else
		add_root(r, node, node->key);
	return 0;
}

/* An entry may be a table with the access of its own folder: ":workspace_roots" = { "." = "write" }. */
static int take_entry(struct resolver *r, const struct toml *node)
{
	const struct toml *access = node->kind == TOML_table ? toml_get(node, ".") : node;
	if (!toml_is(access, TOML_string) || (node->kind == TOML_table && node->count != 1))
		return refuse(r, node, "must be \"read\" or \"write\"");
	if (str_is(access->text, "read")) {
		vec_push(&r->reads, node);
		return 0;
	}
	if (str_is(access->text, "write"))
		return take_write(r, node);
	return refuse(r, node, "cannot be kept: the sandbox does not limit reading. Use \"read\" or \"write\"");
}

static int take_filesystem(struct resolver *r, const struct toml *table)
{
	int status = 0;
	if (!toml_is(table, TOML_table))
		return refuse(r, table, "must be a table of paths");
	/* glob_scan_max_depth bounds the search for denied patterns, and a denied pattern is refused. */
	for (const struct toml *it = table->child; it && status == 0; it = it->next)
		status = str_is(it->key, "glob_scan_max_depth") ? 0 : take_entry(r, it);
	return status;
}

/* ---- network, roots ---- */

static int take_network(struct resolver *r, const struct toml *table)
{
	if (!toml_is(table, TOML_table))
		return refuse(r, table, "must be a table");
	toml_for_each(it, table) {
		if (!str_is(it->key, "enabled") || it->kind != TOML_bool)
			return refuse(r, it, "cannot be kept: the sandbox does not limit hosts. Use network.enabled");
		r->to->workspace.network_access = it->boolean;
		r->denies_network = !it->boolean;
	}
	return 0;
}

static int take_roots(struct resolver *r, const struct toml *table)
{
	if (table->kind != TOML_table)
		return refuse(r, table, "must be a table of folders");
	toml_for_each(it, table) {
		if (it->kind != TOML_bool)
			return refuse(r, it, "must be true or false");
		if (it->boolean)
			add_root(r, it, it->key);
	}
	return 0;
}

/* ---- profiles ---- */

static int resolve(struct resolver *r, struct str name, unsigned depth);

static int take_profile(struct resolver *r, const struct toml *profile, unsigned depth)
{
	const struct toml *parent = toml_get(profile, "extends");
	int status = parent && parent->kind != TOML_string ? refuse(r, parent, "must be the name of a profile") : 0;
	if (status == 0)
		status = resolve(r, parent ? parent->text : STR(":read-only"), depth + 1);
	for (const struct toml *it = profile->child; it && status == 0; it = it->next) {
		if (str_is(it->key, "filesystem"))
			status = take_filesystem(r, it);
		else if (str_is(it->key, "network"))
			status = take_network(r, it);
		else if (str_is(it->key, "workspace_roots"))
			status = take_roots(r, it);
		else if (!str_is(it->key, "extends") && !str_is(it->key, "description"))
			status = refuse(r, it, "is unknown");
	}
	return status;
}

static int resolve(struct resolver *r, struct str name, unsigned depth)
{
	char shown[TOML_KEY_SHOWN];
	for (size_t i = 0; i < countof(built_in); i++) {
		if (!str_is(name, built_in[i].name))
			continue;
		r->to->mode = built_in[i].mode;
		if (r->to->mode == sandbox_mode_workspace_write)
			r->to->workspace.exclude_tmpdir_env_var = r->to->workspace.exclude_slash_tmp = false;
		return 0;
	}
	const struct toml *profile = toml_find(toml_get(r->tree, "permissions"), name);
	if (depth > LIMIT_PERMISSION_DEPTH)
		return error_set(r->err, ERR_config, "permission profile `%s` extends itself",
		                 toml_key_shown(name, shown));
	if (!toml_is(profile, TOML_table))
		return error_set(r->err, ERR_config,
		                 "unknown permission profile `%s`: it is neither :read-only, :workspace, "
		                 ":danger-full-access nor a table [permissions.NAME]",
		                 toml_key_shown(name, shown));
	return take_profile(r, profile, depth);
}

static bool overlaps(const char *path, const char *folder)
{
	return strcmp(path, folder) == 0 || path_is_inside(path, folder) || path_is_inside(folder, path);
}

/* True if the folder is apart from all that is writable. */
static bool is_apart(const struct resolver *r, const char *path)
{
	const struct config_sandbox *workspace = &r->to->workspace;
	const char *temporary = config_env("TMPDIR");
	bool is_shared = overlaps(path, r->binder->cwd) || (!workspace->exclude_slash_tmp && overlaps(path, "/tmp")) ||
	                 (!workspace->exclude_tmpdir_env_var && temporary && overlaps(path, temporary));
	for (size_t i = 0; i < r->roots.count && !is_shared; i++)
		is_shared = overlaps(path, r->roots.items[i].ptr);
	return !is_shared;
}

/* Everything can be read, so such an entry needs no work where nothing is writable. Elsewhere it cannot be kept. */
static int check_reads(const struct resolver *r)
{
	if (r->to->mode == sandbox_mode_read_only)
		return 0;
	vec_for_each(it, &r->reads) {
		auto_free char *path = folder_of(r, *it, (*it)->key);
		bool is_named = (*it)->key.len && (*it)->key.ptr[0] == ':';
		if (r->to->mode == sandbox_mode_danger_full_access || is_named || !is_apart(r, path))
			return refuse(r, *it, "= \"read\" cannot be kept: it is a part of what is writable");
	}
	return 0;
}

/* Puts the parts together: the sandbox has three modes. */
static int combine(struct resolver *r, struct str name)
{
	struct config_permission *to = r->to;
	if (r->writes_disk && to->workspace.network_access)
		to->mode = sandbox_mode_danger_full_access;
	else if (r->writes_disk)
		return error_set(r->err, ERR_config,
		                 "permission profile `%.*s`: \":root\" = \"write\" without the network cannot be kept; "
		                 "list the folders, or set network.enabled = true",
		                 STR_ARG(name));
	if (to->mode == sandbox_mode_read_only && (r->roots.count || to->workspace.network_access))
		return error_set(r->err, ERR_config,
		                 "permission profile `%.*s`: folders to write to and the network need a writable "
		                 "workspace; extend :workspace",
		                 STR_ARG(name));
	if (to->mode == sandbox_mode_danger_full_access && r->denies_network)
		return error_set(r->err, ERR_config,
		                 "permission profile `%.*s`: network.enabled = false cannot be kept with full access",
		                 STR_ARG(name));
	if (check_reads(r) != 0)
		return -(int)r->err->code;
	struct str *roots = arena_array(r->binder->arena, struct str, r->roots.count);
	for (size_t i = 0; i < r->roots.count; i++)
		roots[i] = r->roots.items[i];
	to->workspace.writable_roots = (struct config_strings){roots, r->roots.count};
	return 0;
}

int config_permission_find(const struct toml *tree, struct str name, const struct config_binder *binder,
                           struct config_permission *ret, struct error *err)
{
	struct resolver r = {.tree = tree, .binder = binder, .to = ret, .err = err};
	*ret = (struct config_permission){
		.mode = sandbox_mode_read_only,
		.workspace = {.exclude_tmpdir_env_var = true, .exclude_slash_tmp = true},
	};
	int status = resolve(&r, name, 0);
	if (status == 0)
		status = combine(&r, name);
	vec_finish(&r.roots);
	vec_finish(&r.reads);
	return status;
}

/* Returns the highest layer besides the projects' that sets a key: a project must not undo the user's profile. */
static int rank_of(const struct config_layers *layers, const char *key)
{
	int rank = -1;
	vec_for_each(it, &layers->items) {
		if (it->kind != CONFIG_LAYER_project && (int)it->kind > rank && toml_get(it->root, key))
			rank = (int)it->kind;
	}
	return rank;
}

static bool is_narrowed(const struct config_layers *layers, const struct config *config)
{
	bool is_narrow = false;
	vec_for_each(it, &layers->items)
		is_narrow |= it->kind == CONFIG_LAYER_project && toml_get(it->root, "sandbox_mode");
	return is_narrow && config->sandbox_mode == sandbox_mode_read_only;
}

static bool is_flag(const struct toml *table, const char *key, bool value)
{
	const struct toml *node = toml_get(table, key);
	return toml_is(node, TOML_bool) && node->boolean == value;
}

/* Limits of the table [sandbox_workspace_write] by a layer above the profile's, or by a project, stay in force. */
static void keep_limits(const struct config_layers *layers, const struct toml *tree, struct config_sandbox *workspace)
{
	static const char key[] = "sandbox_workspace_write";
	const struct toml *limits = toml_get(tree, key);
	bool outranks = rank_of(layers, key) > rank_of(layers, "default_permissions");
	vec_for_each(it, &layers->items)
		outranks |= it->kind == CONFIG_LAYER_project && toml_get(it->root, key);
	if (!outranks)
		return;
	workspace->network_access &= !is_flag(limits, "network_access", false);
	workspace->exclude_slash_tmp |= is_flag(limits, "exclude_slash_tmp", true);
	workspace->exclude_tmpdir_env_var |= is_flag(limits, "exclude_tmpdir_env_var", true);
}

int config_permission_apply(const struct config_layers *layers, const struct toml *tree,
                            const struct config_binder *binder, struct config *config, struct error *err)
{
	struct config_permission permission;
	if (!config->is_set.default_permissions)
		return 0;
	if (is_narrowed(layers, config) || rank_of(layers, "sandbox_mode") > rank_of(layers, "default_permissions")) {
		config->is_set.default_permissions = false;
		return 0;
	}
	if (config_permission_find(tree, str_of(config->default_permissions), binder, &permission, err) != 0)
		return -(int)err->code;
	keep_limits(layers, tree, &permission.workspace);
	config->sandbox_mode = permission.mode;
	config->is_set.sandbox_mode = true;
	if (config->default_permissions[0] != ':')
		config->sandbox_workspace_write = permission.workspace;
	return 0;
}
