/* The file of a role is the user's, or it is below a project, whose files may only narrow what the user allows
 * (config_narrow.h): a command in the sandbox could have written it. */
#include "config/agent_role.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_env.h"
#include "config/config_inert.h"
#include "config/config_narrow.h"
#include "protocol/record/enum.h"

struct reader {
	const struct agent_role_source *from;
	struct agent_roles *roles;
	struct agent_roles lost;       /* the names of the user's roles that are left out */
	const struct toml *own;        /* the layers that are no project's, merged */
	bool is_at_projects;           /* the user's roles have been read */
	struct config_allowed allowed; /* initialised if has_allowed */
	bool has_allowed;
	size_t text_size;             /* bytes of the roles that the model reads */
	struct config_binder unknown; /* collects the unknown keys */
};

const struct agent_role *agent_role_find(const struct agent_roles *roles, struct str name)
{
	vec_for_each(it, roles)
		if (str_eq(it->name, name))
			return it;
	return NULL;
}

/* ---- checks ---- */

static bool is_nickname(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		if (!((c | 32) >= 'a' && (c | 32) <= 'z') && !(c >= '0' && c <= '9') && c != ' ' && c != '-' &&
		    c != '_')
			return false;
	}
	return str_trim(name).len && name.len <= LIMIT_AGENT_NICKNAME;
}

static const char *find_fault(const struct config_agent_role *keys)
{
	struct str description = str_trim(str_of(keys->description));
	const struct config_strings *names = &keys->nickname_candidates;
	if (!description.len)
		return "it has no `description`";
	if (description.len > LIMIT_AGENT_ROLE_TEXT)
		return "its `description` is too long";
	if (keys->is_set.nickname_candidates && !names->count)
		return "`nickname_candidates` is empty";
	for (size_t i = 0; i < names->count; i++) {
		if (!is_nickname(names->items[i]))
			return "a nickname consists of letters, digits, blanks, - and _";
		for (size_t k = 0; k < i; k++)
			if (str_eq(names->items[i], names->items[k]))
				return "`nickname_candidates` names one twice";
	}
	return NULL;
}

static struct config_binder binder_of(const struct reader *r)
{
	return (struct config_binder){.arena = r->from->layers->arena,
	                              .home = config_env("HOME"),
	                              .cwd = r->from->place->cwd,
	                              .is_quiet = true};
}

/* ---- settings ---- */

/* True for a file in one of the folders that the user lets commands write to. */
static bool is_in_roots(const struct reader *r, const char *real)
{
	const struct toml *roots = toml_get(toml_get(r->own, "sandbox_workspace_write"), "writable_roots");
	toml_for_each(it, toml_is(roots, TOML_array) ? roots : NULL) {
		auto_free char *text = it->kind == TOML_string ? str_dup(it->text) : NULL;
		auto_free char *root = text ? realpath(text, NULL) : NULL;
		if (root && path_is_inside(real, root))
			return true;
	}
	return false;
}

/* True for a file that a command in the sandbox could have written: in the project, in a temporary folder, or in a
 * folder of writable_roots. */
static bool is_exposed(const struct reader *r, const char *path)
{
	const char *temporary = config_env("TMPDIR");
	auto_free char *real = realpath(path, NULL), *home = realpath(r->from->home, NULL);
	if (!real || (home && path_is_inside(real, home)))
		return false;
	return path_is_inside(real, r->from->place->root) || path_is_inside(real, "/tmp") || is_in_roots(r, real) ||
	       (temporary && temporary[0] == '/' && path_is_inside(real, temporary));
}

/* Merging all layers costs as much as they have, so it is done once. */
static const struct config_allowed *allowed_of(struct reader *r)
{
	if (!r->has_allowed)
		config_allowed_init(&r->allowed, r->from->layers, r->from->place->trust);
	r->has_allowed = true;
	return &r->allowed;
}

static struct toml *read_settings(struct reader *r, const char *path, bool is_projects, struct error *err)
{
	const struct agent_role_source *from = r->from;
	auto_buf struct buf text;
	buf_init(&text, LIMIT_AGENT_ROLE_FILE);
	config_layer_note(from->layers, path);
	if (file_read_regular(path, &text, err) != 0)
		return NULL;
	struct arena *arena = from->layers->arena;
	struct toml *root = toml_parse(arena, arena_str(arena, buf_str(&text)), arena_cstr(arena, str_of(path)), err);
	if (!root || !is_projects)
		return root;
	config_project_limit(from->layers, allowed_of(r),
	                     &(struct config_project_file){from->place->root, from->home, buf_str(&text)}, root);
	return root;
}

static struct str text_of(const struct toml *settings, const char *key)
{
	const struct toml *value = toml_get(settings, key);
	return toml_is(value, TOML_string) && value->text.len ? value->text : STR_NONE;
}

/* The settings of a role; hooks, servers, reviewers and policies stay those of the parent. */
static const char *const allowed[] = {
	"model",
	"model_provider",
	"model_reasoning_effort",
	"model_reasoning_summary",
	"model_verbosity",
	"model_context_window",
	"model_auto_compact_token_limit",
	"model_instructions_file",
	"developer_instructions",
	"personality",
	"service_tier",
	"sandbox_mode",
	"web_search",
	"tools",
	"skills",
	"tool_output_token_limit",
	"include_environment_context",
	"include_permissions_instructions",
};

static bool is_allowed(struct str key)
{
	for (size_t i = 0; i < countof(allowed); i++)
		if (str_is(key, allowed[i]))
			return true;
	return false;
}

static bool has_row(const struct config_record *record, struct str key)
{
	for (size_t i = 0; i < record->count; i++)
		if (str_is(key, record->rows[i].key))
			return true;
	return false;
}

static void drop_others(struct reader *r, struct toml *settings)
{
	const struct toml *next;
	for (const struct toml *it = settings->child; it; it = next) {
		char shown[TOML_KEY_SHOWN];
		next = it->next;
		if (is_allowed(it->key) || !has_row(&config_keys, it->key))
			continue;
		config_layer_warn(r->from->layers, "%s:%u: `%s` has no effect in the role of an agent", it->source,
		                  it->line, toml_key_shown(it->key, shown));
		toml_remove(settings, it->key);
	}
}

/* Counts what the model reads of a role. */
static int count_text(struct reader *r, const struct agent_role *role, struct error *err)
{
	size_t size = role->name.len + strlen(role->description) + role->model.len + role->effort.len;
	if (size > LIMIT_AGENT_ROLES_TEXT - r->text_size)
		return error_set(err, ERR_limit, "the descriptions of all roles have more than %d bytes together",
		                 LIMIT_AGENT_ROLES_TEXT);
	r->text_size += size;
	return 0;
}

/* The types of the settings are checked here, so that a mistake is reported at the start. */
static int add(struct reader *r, struct str name, const struct config_agent_role *keys, struct toml *settings,
               struct error *err)
{
	struct config *scratch = arena_new(r->from->layers->arena, struct config);
	const char *fault = find_fault(keys);
	if (fault)
		return error_set(err, ERR_config, "%s", fault);
	if (!is_nickname(name))
		return error_set(err, ERR_config, "a name consists of letters, digits, blanks, - and _");
	if (r->roles->count >= LIMIT_AGENT_ROLES)
		return error_set(err, ERR_limit, "there are more than %d", LIMIT_AGENT_ROLES);
	if (agent_role_find(r->roles, name) || (r->is_at_projects && agent_role_find(&r->lost, name)))
		return error_set(err, ERR_invalid, "there is another one of this name");
	const struct toml *model = toml_get(settings, "model");
	if (toml_is(model, TOML_string) && !model->text.len)
		return error_set(err, ERR_config, "`model` must not be empty");
	const struct agent_role role = {
		name,     keys->description,          keys->nickname_candidates,
		settings, text_of(settings, "model"), text_of(settings, "model_reasoning_effort")};
	drop_others(r, settings);
	if (config_bind(&r->unknown, &config_keys, settings, "", scratch, err) != 0 || count_text(r, &role, err) != 0)
		return -(int)err->code;
	for (const struct toml *it = settings->child, *next; it; it = next) {
		next = it->next;
		if (!has_row(&config_keys, it->key)) /* reported as unknown */
			toml_remove(settings, it->key);
	}
	config_narrow_role(r->from->layers, allowed_of(r), settings);
	vec_push(r->roles, role);
	return 0;
}

static void warn_ignored(struct config_layers *layers, struct str name, const char *why)
{
	char shown[TOML_KEY_SHOWN];
	config_layer_warn(layers, "the agent role `%s` is ignored: %s", toml_key_shown(name, shown), why);
}

static void warn(struct reader *r, struct str name, const struct error *err)
{
	if (!r->is_at_projects)
		vec_push(&r->lost, ((struct agent_role){.name = name}));
	warn_ignored(r->from->layers, name, err->text);
}

/* ---- the two forms ---- */

static int read_table(struct reader *r, const struct toml *table, bool is_projects, struct error *err)
{
	char name[TOML_KEY_SHOWN + sizeof("agents.")] = "agents.";
	struct error wrong;
	struct config_agent_role keys;
	struct toml *settings = toml_new(r->from->layers->arena, TOML_table, table->source, table->line);
	toml_key_shown(table->key, name + strlen(name));
	if (config_bind(&r->unknown, &config_agent_role_keys, table, name, &keys, err) != 0)
		return -(int)err->code;
	if (keys.config_file)
		settings = read_settings(r, keys.config_file, is_projects || is_exposed(r, keys.config_file), &wrong);
	if (!settings || add(r, table->key, &keys, settings, &wrong) != 0)
		warn(r, table->key, &wrong);
	return 0;
}

/* A file of its own has the keys of the table beside the settings, and its name, by default that of the file. */
static void read_file(struct reader *r, const char *path, const char *file, bool is_projects)
{
	static const char *const own[] = {"name", "description", "nickname_candidates"};
	struct error err;
	struct config_agent_role keys;
	struct config_binder binder = binder_of(r);
	struct str name = str_n(file, strlen(file) - strlen(".toml"));
	struct toml *settings = read_settings(r, path, is_projects, &err);
	struct toml *table = toml_new(binder.arena, TOML_table, path, 1);
	if (settings && text_of(settings, "name").ptr)
		name = text_of(settings, "name");
	for (size_t i = 0; settings && i < countof(own); i++) {
		struct toml *value = toml_remove(settings, str_of(own[i]));
		if (value && i)
			toml_add(binder.arena, table, str_of(own[i]), value);
	}
	name = arena_str(binder.arena, name);
	if (!settings || config_bind(&binder, &config_agent_role_keys, table, "", &keys, &err) != 0 ||
	    add(r, name, &keys, settings, &err) != 0)
		warn(r, name, &err);
}

struct names {
	char **items;
	size_t count, cap;
};

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static bool is_role_file(const char *name)
{
	return name[0] != '.' && str_has_suffix(str_of(name), ".toml") && name[5];
}

/* Lists the names in the order of the alphabet. Which of too many entries the folder yields is arbitrary, so then it
 * lists none. */
static void list_names(const struct reader *r, const char *agents, struct names *names)
{
	size_t entries = 0;
	config_layer_note(r->from->layers, agents);
	DIR *dir = opendir(agents);
	for (struct dirent *it; dir && (it = readdir(dir)) && entries <= LIMIT_AGENT_FILES;) {
		entries += it->d_name[0] != '.';
		if (is_role_file(it->d_name))
			vec_push(names, xstrdup(it->d_name));
	}
	if (dir)
		closedir(dir);
	if (entries <= LIMIT_AGENT_FILES) {
		if (names->count)
			qsort(names->items, names->count, sizeof(names->items[0]), by_name);
		return;
	}
	config_layer_warn(r->from->layers,
	                  "%s has more than %d entries, so no role is read from it; remove what is no role", agents,
	                  LIMIT_AGENT_FILES);
	while (names->count > 0)
		free(names->items[--names->count]);
}

static void read_folder(struct reader *r, const char *folder, bool is_projects)
{
	struct names names = {0};
	auto_free char *agents = path_join(folder, "agents");
	list_names(r, agents, &names);
	for (size_t i = 0; i < names.count; i++) {
		auto_free char *path = path_join(agents, names.items[i]);
		if (i <= LIMIT_AGENT_ROLES) /* the last one is too many, and its warning says so */
			read_file(r, path, names.items[i], is_projects);
		free(names.items[i]);
	}
	vec_finish(&names);
}

static int read_tables(struct reader *r, const struct toml *root, bool is_projects, struct error *err)
{
	const struct toml *agents = toml_get(root, "agents");
	toml_for_each(it, toml_is(agents, TOML_table) ? agents : NULL) {
		if (it->kind == TOML_table && !has_row(&config_agents_keys, it->key) &&
		    read_table(r, it, is_projects, err) != 0)
			return -(int)err->code;
	}
	return 0;
}

/* Merges the layers that are no project's. */
static struct toml *merge_own(const struct config_layers *layers)
{
	struct toml *merged = toml_new(layers->arena, TOML_table, "", 1);
	for (int kind = 0; kind < CONFIG_LAYER_kind_count; kind++)
		vec_for_each(it, &layers->items)
			if ((int)it->kind == kind && kind != CONFIG_LAYER_project)
				toml_merge(layers->arena, merged, it->root);
	return merged;
}

static int read_all(struct reader *r, struct error *err)
{
	const struct agent_role_source *source = r->from;
	const struct config_layers *layers = source->layers;
	if (read_tables(r, r->own, false, err) != 0)
		return -(int)err->code;
	for (size_t i = source->own_folders; i-- > 0;)
		if (!source->ignores_user || strcmp(layers->folders.items[i], source->home) != 0)
			read_folder(r, layers->folders.items[i], false);
	r->is_at_projects = true;
	for (size_t i = layers->items.count; i-- > 0;)
		if (layers->items.items[i].kind == CONFIG_LAYER_project &&
		    read_tables(r, layers->items.items[i].root, true, err) != 0)
			return -(int)err->code;
	for (size_t i = layers->folders.count; i-- > source->own_folders;)
		read_folder(r, layers->folders.items[i], true);
	return 0;
}

/* The user's roles precede those of a project, so that it cannot replace them; nor one that is left out for a fault. */
int agent_roles_read(struct agent_roles *roles, const struct agent_role_source *source, struct error *err)
{
	struct reader r = {.from = source, .roles = roles, .own = merge_own(source->layers)};
	r.unknown = binder_of(&r);
	r.unknown.is_quiet = false;
	int status = read_all(&r, err);
	if (status == 0 && source->is_strict)
		status = config_unknown_refuse(&r.unknown, err);
	else if (status == 0)
		config_unknown_warn(&r.unknown, source->layers);
	vec_finish(&r.unknown.unknown);
	vec_finish(&r.lost);
	return status;
}

/* ---- the providers that exist ---- */

static bool is_provider(struct str id, const struct toml *providers)
{
	static const char *const built_in[] = {
#define PROVIDER(tag, id, ...) id,
#include "config/provider.def"
#undef PROVIDER
	};
	for (size_t i = 0; i < countof(built_in); i++)
		if (str_is(id, built_in[i]))
			return true;
	return toml_find(providers, id) != NULL;
}

void agent_roles_check(struct agent_roles *roles, struct config_layers *layers, const struct toml *providers)
{
	size_t kept = 0;
	vec_for_each(it, roles) {
		const struct toml *provider = toml_get(it->settings, "model_provider");
		if (!provider || is_provider(provider->text, providers)) {
			roles->items[kept++] = *it;
			continue;
		}
		char why[ERROR_TEXT_MAX];
		snprintf(why, sizeof(why),
		         "%s:%u: model provider `%.*s` not found; add [model_providers.%.*s], or name another one",
		         provider->source, provider->line, STR_ARG(provider->text), STR_ARG(provider->text));
		warn_ignored(layers, it->name, why);
	}
	roles->count = kept;
}

void agent_role_warn_effort(struct config_layers *layers, const char *word)
{
	char shown[TOML_KEY_SHOWN];
	int effort;
	if (word && *word && !enum_parse(&enum_reasoning_effort, str_of(word), &effort))
		config_layer_warn(layers,
		                  "agents.default_subagent_reasoning_effort is ignored: `%s` is not one of none, "
		                  "minimal, low, medium, high, xhigh, max and ultra",
		                  toml_key_shown(str_of(word), shown));
}
