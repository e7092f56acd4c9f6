/* One row per key that affects what commands and the model may do. Project files cannot set the keys marked USER_ONLY
 * in config.def at all. */
#include "config/config_narrow.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/sha.h"

void config_content_hash(struct str text, char ret[CONFIG_HASH_SIZE])
{
	memcpy(ret, "sha256:", 7);
	sha256_text(text, ret + 7);
}

static bool names_hash(const struct toml *hashes, const char *hash)
{
	toml_for_each(it, toml_is(hashes, TOML_array) ? hashes : NULL) {
		if (it->kind == TOML_string && str_is(it->text, hash))
			return true;
	}
	return false;
}

bool config_content_is_trusted(const struct config_layers *layers, const char *dir, const char *hash)
{
	vec_for_each(layer, &layers->items) {
		const struct toml *projects = toml_get(layer->root, "projects");
		if (layer->kind == CONFIG_LAYER_project || !toml_is(projects, TOML_table))
			continue;
		toml_for_each(entry, projects) {
			auto_free char *folder = str_dup(entry->key);
			if (folder[0] == '/' && path_is_inside(dir, folder) &&
			    names_hash(toml_get(entry, "trusted_hashes"), hash))
				return true;
		}
	}
	return false;
}

/* ---- what the user allows ---- */

static bool parse_mode(const struct toml *value, enum sandbox_mode *ret)
{
	int number;
	if (!toml_is(value, TOML_string) || !enum_parse(&enum_sandbox_mode, value->text, &number))
		return false;
	*ret = (enum sandbox_mode)number;
	return true;
}

/* Returns the value of a SWITCH row of config.def, or `otherwise` if it is not set. */
static bool switch_is_on(const struct toml *value, bool otherwise)
{
	const struct toml *flag = toml_is(value, TOML_table) ? toml_get(value, "enabled") : value;
	return toml_is(flag, TOML_bool) ? flag->boolean : otherwise;
}

static bool parse_search(const struct toml *value, enum web_search_mode *ret)
{
	int number;
	if (!toml_is(value, TOML_string) || !enum_parse(&enum_web_search_mode, value->text, &number))
		return false;
	*ret = (enum web_search_mode)number;
	return true;
}

static bool is_word(const struct toml *value, const char *word)
{
	return toml_is(value, TOML_string) && str_is(value->text, word);
}

/* Returns the search mode that the user's layers select. web_search overrides tools.web_search; the default is
 * cached pages for OpenAI and no search for other providers. */
static enum web_search_mode find_search(const struct toml *user, bool *ret_selected)
{
	enum web_search_mode mode;
	*ret_selected = true;
	const struct toml *tool = toml_get(toml_get(user, "tools"), "web_search");
	const struct toml *provider = toml_get(user, "model_provider");
	if (parse_search(toml_get(user, "web_search"), &mode) && mode != web_search_mode_unset)
		return mode;
	const struct toml *features = toml_get(user, "features");
	if (switch_is_on(toml_get(features, "web_search_request"), false))
		return web_search_mode_live;
	if (switch_is_on(toml_get(features, "web_search_cached"), false))
		return web_search_mode_cached;
	if (tool && (!toml_is(tool, TOML_table) || toml_get(tool, "enabled")))
		return switch_is_on(tool, false) ? web_search_mode_live : web_search_mode_disabled;
	*ret_selected = false;
	return !provider || is_word(provider, "openai") ? web_search_mode_cached : web_search_mode_disabled;
}

void config_allowed_init(struct config_allowed *allowed, const struct config_layers *layers, enum trust_level trust)
{
	const struct toml *user = config_layer_merge(layers), *policy = toml_get(user, "approval_policy");
	bool selects_search;
	enum web_search_mode search = find_search(user, &selects_search);
	*allowed = (struct config_allowed){
		.user = user,
		.mode = trust == trust_level_unset ? sandbox_mode_read_only : sandbox_mode_workspace_write,
		.search = search,
		.selects_search = selects_search,
		.asks_about_every_command = policy ? is_word(policy, "untrusted") : trust == trust_level_untrusted,
	};
	parse_mode(toml_get(user, "sandbox_mode"), &allowed->mode);
}

/* ---- rows ---- */

/* Compares the value of one key; user is NULL if the user's layers do not set it. A malformed value does not widen: it
 * is rejected when it is bound. */
typedef bool (*widens_fn)(const struct config_allowed *allowed, const struct toml *user, const struct toml *value);

static unsigned reach_of(enum sandbox_mode mode)
{
	return mode == sandbox_mode_read_only ? 0 : mode == sandbox_mode_workspace_write ? 1 : 2;
}

static bool mode_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	enum sandbox_mode mode;
	(void)user;
	return parse_mode(value, &mode) && reach_of(mode) > reach_of(allowed->mode);
}

static bool policy_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)user;
	return allowed->asks_about_every_command && !is_word(value, "untrusted");
}

static bool is_true(const struct toml *value)
{
	return toml_is(value, TOML_bool) && value->boolean;
}

static bool true_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return is_true(value) && !is_true(user);
}

static bool false_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return !is_true(value) && is_true(user);
}

/* Compares a switch that is on by default. */
static bool true_again_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return is_true(value) && user && !is_true(user);
}

/* True if value turns a tool or feature on that the user has turned off. */
static bool on_again_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return user && !switch_is_on(user, true) && switch_is_on(value, true);
}

/* True if value turns on another kind of subagents for a user who has turned multi_agent off. */
static bool subagents_widen(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	const struct toml *agents = toml_get(toml_get(allowed->user, "features"), "multi_agent");
	return agents && !switch_is_on(agents, true) && !switch_is_on(user, false) && switch_is_on(value, false);
}

static bool larger_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return toml_is(user, TOML_integer) && toml_is(value, TOML_integer) && value->integer > user->integer;
}

/* Compares max_active_subagents, which overrides its alias agents.max_threads. */
static bool active_subagents_widen(const struct config_allowed *allowed, const struct toml *user,
                                   const struct toml *value)
{
	return larger_widens(allowed, user ? user : toml_get(toml_get(allowed->user, "agents"), "max_threads"), value);
}

/* Compares search modes. An empty text resets the key to the default, which may be wider than the user's value. */
static bool search_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	enum web_search_mode mode;
	(void)user;
	if (!parse_search(value, &mode))
		return false;
	return mode > allowed->search || (mode == web_search_mode_unset && allowed->search != web_search_mode_live);
}

/* A table without `enabled` has details alone; other domains than the user's widen. */
static bool search_tool_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	bool is_table = toml_is(value, TOML_table);
	bool has_domains = toml_is(user, TOML_table) && toml_get(user, "allowed_domains");
	if (has_domains && (!is_table || toml_get(value, "allowed_domains")))
		return true; /* a value that is no table would replace that of the user, and its domains */
	return switch_is_on(value, false) && allowed->search != web_search_mode_live;
}

/* The old names of the modes. */
static bool search_request_widens(const struct config_allowed *allowed, const struct toml *user,
                                  const struct toml *value)
{
	(void)user;
	return switch_is_on(value, false) && allowed->search < web_search_mode_live;
}

static bool search_cache_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)user;
	return switch_is_on(value, false) && allowed->search < web_search_mode_cached;
}

/* Leaving plan mode widens: it proposes changes and makes none. */
static bool mode_kind_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return is_word(user, "plan") && !is_word(value, "plan");
}

static bool has_text(const struct toml *list, struct str text)
{
	toml_for_each(it, list) {
		if (it->kind == TOML_string && str_eq(it->text, text))
			return true;
	}
	return false;
}

/* Any relative path widens, because it names different folders in the project's file and in the user's. */
static bool roots_widen(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	toml_for_each(it, toml_is(value, TOML_array) ? value : NULL) {
		bool is_absolute = it->kind == TOML_string && str_has_prefix(it->text, "/");
		if (!is_absolute || !has_text(toml_is(user, TOML_array) ? user : NULL, it->text))
			return true;
	}
	return false;
}

/* A project's rules would replace the user's, and with them what the user has turned off. */
static bool replacing_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	(void)value;
	return user != NULL;
}

/* Prompts are not stored again for a user who has turned that off. */
static bool persistence_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	return is_word(user, "none") && !is_word(value, "none");
}

/* A project may disable a server of the user, no more: servers run without the sandbox, and their approval modes
 * decide what runs without a question. */
static bool server_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	const struct toml *enabled = toml_get(value, "enabled");
	(void)allowed;
	return !user || !toml_is(value, TOML_table) || value->count != 1 || !toml_is(enabled, TOML_bool) ||
	       enabled->boolean;
}

static bool always_widens(const struct config_allowed *allowed, const struct toml *user, const struct toml *value)
{
	(void)allowed;
	(void)user;
	(void)value;
	return true;
}

static const struct row {
	const char *table; /* NULL: the root table */
	const char *key;   /* NULL: all keys of the table */
	widens_fn widens;
} rows[] = {
	{NULL, "sandbox_mode", mode_widens},
	{NULL, "approval_policy", policy_widens},
	{NULL, "sandbox_backend", always_widens},
	{NULL, "allow_login_shell", true_again_widens},
	/* Variables such as PATH and LD_PRELOAD also reach the commands that run without the sandbox. */
	{NULL, "shell_environment_policy", always_widens},
	{"sandbox_workspace_write", "writable_roots", roots_widen},
	{"sandbox_workspace_write", "network_access", true_widens},
	{"sandbox_workspace_write", "exclude_tmpdir_env_var", false_widens},
	{"sandbox_workspace_write", "exclude_slash_tmp", false_widens},
	{NULL, "web_search", search_widens},
	{"tools", "web_search", search_tool_widens},
	{NULL, "collaboration_mode", mode_kind_widens},
	{"features", "web_search_request", search_request_widens},
	{"features", "web_search_cached", search_cache_widens},
	{"features", "plugins", always_widens}, /* their hooks may guard the user against the project */
	{"features", "collab", subagents_widen},
	{"features", "multi_agent_v2", subagents_widen},
	{"features", "subagent_tools", subagents_widen},
	{NULL, "max_active_subagents", active_subagents_widen},
	{"agents", "max_threads", larger_widens},
	{"agents", "max_depth", larger_widens},
	{NULL, "project_doc_max_bytes", larger_widens},
	{"history", "persistence", persistence_widens},
	{"skills", "extra_roots", roots_widen},
	{"skills", "include_instructions", true_again_widens},
	{"skills", "config", replacing_widens},
	{"mcp_servers", NULL, server_widens},
	{"tools", NULL, on_again_widens},
	{"features", NULL, on_again_widens},
};

static void apply(struct config_layers *layers, const struct config_allowed *allowed, const struct row *row,
                  struct toml *root, const char *reason)
{
	struct toml *table = row->table ? toml_get(root, row->table) : root;
	const struct toml *user = row->table ? toml_get(allowed->user, row->table) : allowed->user;
	const struct toml *next;
	for (const struct toml *it = toml_is(table, TOML_table) ? table->child : NULL; it; it = next) {
		next = it->next;
		if ((row->key && !str_is(it->key, row->key)) || !row->widens(allowed, toml_find(user, it->key), it))
			continue;
		config_layer_warn(layers, "%s:%u: `%s%s%.*s` is ignored: %s", it->source, it->line,
		                  row->table ? row->table : "", row->table ? "." : "", STR_ARG(it->key), reason);
		toml_remove(table, it->key);
	}
}

/* These precede tools.web_search. */
static bool has_mode(const struct toml *settings)
{
	const struct toml *features = toml_find(settings, STR("features"));
	return toml_find(settings, STR("web_search")) || toml_find(features, STR("web_search_request")) ||
	       toml_find(features, STR("web_search_cached"));
}

/* A switch of the search becomes a member of its table if the user has one, which it would replace with its domains.
 * Turning the search off also holds above the user's mode; without one no mode is added, because it would hold above
 * the switch of a later layer, such as the command line. */
static void settle_search(struct config_layers *layers, const struct toml *user, struct toml *root)
{
	struct toml *tools = toml_get(root, "tools"), *value = toml_get(tools, "web_search");
	bool is_off = value && (toml_is(value, TOML_bool) || toml_get(value, "enabled")) && !switch_is_on(value, false);
	if (is_off && has_mode(user) && !toml_get(root, "web_search")) {
		struct toml *mode = toml_new(layers->arena, TOML_string, value->source, value->line);
		mode->text = STR("disabled");
		toml_add(layers->arena, root, STR("web_search"), mode);
	}
	const struct toml *users = toml_find(toml_find(user, STR("tools")), STR("web_search"));
	if (!toml_is(value, TOML_bool) || !toml_is(users, TOML_table))
		return;
	struct toml *table = toml_new(layers->arena, TOML_table, value->source, value->line);
	struct toml *enabled = toml_new(layers->arena, TOML_bool, value->source, value->line);
	enabled->boolean = value->boolean;
	toml_remove(tools, STR("web_search"));
	toml_add(layers->arena, table, STR("enabled"), enabled);
	toml_add(layers->arena, tools, STR("web_search"), table);
}

void config_narrow(struct config_layers *layers, const struct config_allowed *allowed, struct toml *root,
                   const char *remedy)
{
	char reason[ERROR_TEXT_MAX];
	snprintf(reason, sizeof(reason), "a project may not allow more than your own settings do; %s", remedy);
	settle_search(layers, allowed->user, root);
	for (size_t i = 0; i < countof(rows); i++)
		apply(layers, allowed, &rows[i], root, reason);
}

void config_narrow_role(struct config_layers *layers, const struct config_allowed *allowed, struct toml *root)
{
	struct config_allowed above = *allowed;
	settle_search(layers, allowed->user, root);
	if (!allowed->selects_search)
		above.search = web_search_mode_live;
	for (size_t i = 0; i < countof(rows); i++)
		if (rows[i].widens != mode_widens) /* the sandbox in use may be another one than the configured one */
			apply(layers, &above, &rows[i], root, "a role may not allow more than its parent has");
}
