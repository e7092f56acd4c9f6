/* The settings that the file fixes become the highest layer, so that config/read and the messages about values name
 * the file. The lists of permitted values are applied to the bound configuration, when the user's choice is known. */
#include "config/config_required.h"

#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/limits.h"
#include "config/config_env.h"
#include "config/config_permission.h"
#include "config/hook_table.h"
#include "protocol/message/approval.h"

/* ---- the file ---- */

/* A key of the file and the key of config.toml that it fixes. */
static const struct {
	const char *key, *fixes;
} fixed[] = {
	{"features", "features"},
	{"feature_requirements", "features"},
	{"allow_login_shell", "allow_login_shell"},
	{"model_provider", "model_provider"},
	{"model_providers", "model_providers"},
	{"chatgpt_base_url", "chatgpt_base_url"},
	{"cli_auth_credentials_store", "cli_auth_credentials_store"},
	{"otel", "otel"},
	{"model_catalog_json", "model_catalog_json"},
	{"allowed_chatgpt_workspaces", "forced_chatgpt_workspace_id"},
};

/* Keys that restrict something which this version cannot restrict. */
static const struct {
	const char *key, *reason;
} refused[] = {
	{"filesystem", "this version cannot limit which files commands read"},
	{"network", "this version cannot limit commands to certain hosts; the sandbox permits all or none"},
	{"experimental_network",
         "this version cannot limit commands to certain hosts; the sandbox permits all or none"},
	{"permissions",
         "this version has no permission profiles of the administrator; use allowed_permission_profiles"},
	{"config_server", "this version does not read settings of a server; put them into this file"},
	{"remote_sandbox_config", "this version does not distinguish host names; use allowed_sandbox_modes"},
};

static int fail_at(const struct toml *node, const char *key, const char *text, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	return error_set(err, ERR_config, "%s: `%s`: %s", config_place(node, where), key, text);
}

static bool is_policy(struct str word)
{
	for (int tag = 0; tag < (int)union_ask_for_approval.count; tag++) {
		struct ask_for_approval policy = {.tag = tag};
		if (tag != ask_for_approval_reject && str_is(word, approval_name(&policy)))
			return true;
	}
	return false;
}

/* The words that a list may contain, and the one that it must contain. */
static const struct {
	const char *key;
	const struct enum_type *words;
	bool (*is_known)(struct str word); /* if words is NULL */
	const char *needed;
	bool may_be_empty;
} lists[] = {
	{"allowed_sandbox_modes", &enum_sandbox_mode, NULL, "read-only", false},
	{"allowed_approval_policies", NULL, is_policy, NULL, false},
	{"allowed_approvals_reviewers", &enum_approvals_reviewer, NULL, NULL, false},
	{"allowed_web_search_modes", &enum_web_search_mode, NULL, NULL, true},
	{"allowed_login_methods", &enum_login_method, NULL, NULL, false},
};

static bool is_known(size_t row, struct str word)
{
	int value;
	return lists[row].words ? word.len && enum_parse(lists[row].words, word, &value) : lists[row].is_known(word);
}

static bool has_word(const struct toml *list, const char *word)
{
	toml_for_each(it, list) {
		if (it->kind == TOML_string && str_is(it->text, word))
			return true;
	}
	return false;
}

/* The kinds of the values were checked when the table was bound. */
static int check_list(const struct toml *list, size_t row, struct error *err)
{
	char text[ERROR_TEXT_MAX / 2];
	const char *needed = lists[row].needed;
	toml_for_each(it, list) {
		if (is_known(row, it->text))
			continue;
		snprintf(text, sizeof(text), "unknown value `%.*s`", (int)(it->text.len < 64 ? it->text.len : 64),
		         it->text.ptr);
		return fail_at(it, lists[row].key, text, err);
	}
	if (needed && !has_word(list, needed)) {
		snprintf(text, sizeof(text), "the list must contain `%s`", needed);
		return fail_at(list, lists[row].key, text, err);
	}
	return list->child || lists[row].may_be_empty ? 0 : fail_at(list, lists[row].key, "the list is empty", err);
}

static int check_features(const struct toml *root, struct error *err)
{
	const struct toml *features = toml_get(root, "features"), *other = toml_get(root, "feature_requirements");
	if (features && other)
		return fail_at(other, "feature_requirements", "it is another name of `features`; use one of them", err);
	const char *key = features ? "features" : "feature_requirements";
	features = features ? features : other;
	if (features && features->kind != TOML_table)
		return fail_at(features, key, "expected a table", err);
	toml_for_each(it, features) {
		if (it->kind != TOML_bool)
			return fail_at(it, key, "each value must be true or false", err);
	}
	return 0;
}

static int check_servers(const struct toml *servers, struct error *err)
{
	toml_for_each(it, servers) {
		const struct toml *identity = toml_get(it, "identity");
		const struct toml *command = toml_get(identity, "command"), *url = toml_get(identity, "url");
		if (!toml_is(identity, TOML_table) || identity->count != 1 ||
		    !toml_is(command ? command : url, TOML_string))
			return fail_at(it, "mcp_servers",
			               "each server needs `identity = { command = \"…\" }` or `identity = { url = "
			               "\"…\" }`",
			               err);
	}
	return 0;
}

/* Checks [auto_review], and that it does not contradict the list of reviewers. */
static int check_review(const struct toml *root, struct error *err)
{
	static const char key[] = "auto_review.required_on_models";
	const struct toml *review = toml_get(root, "auto_review"), *rules = toml_get(review, "ignore_rules");
	const struct toml *models = toml_get(review, "required_on_models");
	const struct toml *reviewers = toml_get(root, "allowed_approvals_reviewers");
	if (rules)
		return fail_at(rules, "auto_review.ignore_rules", "this version cannot enforce it", err);
	toml_for_each(it, models) {
		if (!it->text.len || !str_eq(str_trim(it->text), it->text) || str_find_char(it->text, '/') >= 0)
			return fail_at(it, key, "each entry must be a model, without blanks and provider", err);
	}
	if (models && models->child && reviewers && !has_word(reviewers, "auto_review") &&
	    !has_word(reviewers, "guardian_subagent"))
		return fail_at(models, key, "allowed_approvals_reviewers lacks `auto_review`", err);
	return 0;
}

static int check(const struct toml *root, struct error *err)
{
	int status = check_features(root, err)
	                     ?: hook_table_check(toml_get(root, "hooks"), true, err) ?: check_review(root, err);
	for (size_t i = 0; i < countof(refused) && status == 0; i++) {
		const struct toml *found = toml_get(root, refused[i].key);
		if (found)
			status = fail_at(found, refused[i].key, refused[i].reason, err);
	}
	for (size_t i = 0; i < countof(lists) && status == 0; i++) {
		const struct toml *list = toml_get(root, lists[i].key);
		status = list ? check_list(list, i, err) : 0;
	}
	if (status == 0)
		status = check_servers(toml_get(root, "mcp_servers"), err);
	return status ?: config_required_check_rules(root, err);
}

/* Rules that are too long could not be read later, and would not apply. */
static int check_rules_size(const struct config_required *required, const struct toml *root, struct error *err)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_RULES_FILE);
	config_required_write_rules(required, &text);
	return text.over ? fail_at(toml_get(root, "rules"), "rules", "the rules are too long", err) : 0;
}

static void warn_unknown(struct config_layers *layers, const struct config_binder *binder, const char *path)
{
	vec_for_each(it, &binder->unknown)
		config_layer_warn(layers, "%s:%u: `%s` is not a requirement of this version and is ignored", path,
		                  it->node->line, it->path);
}

/* A member of these tables is the administrator's as a whole: additions of the user could change its meaning. */
static void make_whole(const struct toml *table)
{
	for (struct toml *it = toml_is(table, TOML_table) ? table->child : NULL; it; it = it->next)
		it->is_whole = true;
}

static void push_fixed(struct config_layers *layers, struct toml *root, const char *path)
{
	struct toml *layer = toml_new(layers->arena, TOML_table, path, 1);
	for (size_t i = 0; i < countof(fixed); i++) {
		struct toml *value = toml_remove(root, str_of(fixed[i].key));
		if (value)
			toml_add(layers->arena, layer, str_of(fixed[i].fixes), value);
	}
	make_whole(toml_get(layer, "otel"));
	make_whole(toml_get(layer, "model_providers"));
	if (layer->child)
		config_layer_push(layers, CONFIG_LAYER_fixed, layer);
}

static int bind(struct config_required *required, struct config_layers *layers, struct toml *root, struct error *err)
{
	struct config_binder binder = {.arena = layers->arena, .home = config_env("HOME"), .cwd = "/"};
	int status = config_bind(&binder, &config_requirements_keys, root, "", &required->keys, err);
	if (status == 0)
		status = check(root, err) ?: config_required_check_profiles(root, &required->initial_mode, err);
	if (status == 0)
		status = check_rules_size(required, root, err);
	if (status == 0)
		warn_unknown(layers, &binder, required->path);
	vec_finish(&binder.unknown);
	return status;
}

int config_required_read(struct config_layers *layers, const char *path, const struct config_required **ret,
                         struct error *err)
{
	struct error failure = {0};
	auto_buf struct buf text;
	*ret = NULL;
	buf_init(&text, LIMIT_CONFIG_FILE);
	if (file_read(path, &text, &failure) != 0)
		return failure.code == ERR_not_found ? 0 : error_set(err, failure.code, "%s", failure.text);
	struct config_required *required = arena_new(layers->arena, struct config_required);
	required->path = arena_cstr(layers->arena, str_of(path));
	struct toml *root = toml_parse(layers->arena, arena_str(layers->arena, buf_str(&text)), required->path, err);
	if (!root || bind(required, layers, root, err) != 0)
		return -ERR_config;
	push_fixed(layers, root, required->path);
	required->root = root;
	*ret = required;
	return 0;
}

/* ---- checks ---- */

static bool permits(const struct config_strings *list, const char *word)
{
	for (size_t i = 0; i < list->count; i++) {
		if (str_is(list->items[i], word))
			return true;
	}
	return false;
}

/* True if the file has the list and the word is not in it. */
static bool excludes(bool is_set, const struct config_strings *list, const char *word)
{
	return is_set && !permits(list, word);
}

static int refuse(const struct config_required *required, const char *key, const struct config_strings *list,
                  const char *word, struct error *err)
{
	auto_buf struct buf words;
	buf_init(&words, ERROR_TEXT_MAX / 2);
	for (size_t i = 0; i < list->count; i++)
		buf_printf(&words, "%s`%.*s`", i ? ", " : "", STR_ARG(list->items[i]));
	return error_set(err, ERR_denied,
	                 "the administrator of this machine does not permit `%s`: %s in %s permits %.*s", word, key,
	                 required->path, STR_ARG(buf_str(&words)));
}

int config_required_check_sandbox(const struct config_required *required, enum sandbox_mode mode, struct error *err)
{
	const char *word = enum_wire(&enum_sandbox_mode, (int)mode), *profile = config_permission_of_mode(mode);
	if (!required)
		return 0;
	if (excludes(required->keys.is_set.allowed_sandbox_modes, &required->keys.allowed_sandbox_modes, word))
		return refuse(required, "allowed_sandbox_modes", &required->keys.allowed_sandbox_modes, word, err);
	return config_required_check_profile(required, str_of(profile ? profile : word), err);
}

int config_required_check_approval(const struct config_required *required, const struct ask_for_approval *policy,
                                   struct error *err)
{
	/* `reject` is stored as granular. */
	const char *word = policy->tag == ask_for_approval_reject ? "granular" : approval_name(policy);
	if (!required ||
	    !excludes(required->keys.is_set.allowed_approval_policies, &required->keys.allowed_approval_policies, word))
		return 0;
	return refuse(required, "allowed_approval_policies", &required->keys.allowed_approval_policies, word, err);
}

int config_required_check_reviewer(const struct config_required *required, enum approvals_reviewer reviewer,
                                   struct error *err)
{
	int word;
	if (!required || !required->keys.is_set.allowed_approvals_reviewers)
		return 0;
	const struct config_strings *list = &required->keys.allowed_approvals_reviewers;
	for (size_t i = 0; i < list->count; i++) { /* a reviewer has two names */
		if (enum_parse(&enum_approvals_reviewer, list->items[i], &word) && word == (int)reviewer)
			return 0;
	}
	return refuse(required, "allowed_approvals_reviewers", list, enum_wire(&enum_approvals_reviewer, (int)reviewer),
	              err);
}

bool config_required_review_for(const struct config_required *required, const char *model)
{
	const struct config_strings *list = required ? &required->keys.auto_review.required_on_models : NULL;
	for (size_t i = 0; list && i < list->count; i++) {
		if (str_is(list->items[i], model))
			return true;
	}
	return false;
}

int config_required_check_review(const struct config_required *required, const char *model,
                                 enum approvals_reviewer reviewer, struct error *err)
{
	if (reviewer == approvals_reviewer_auto_review || !config_required_review_for(required, model))
		return 0;
	return error_set(err, ERR_denied,
	                 "the administrator of this machine requires the automatic reviewer with the model `%s`: "
	                 "auto_review.required_on_models in %s",
	                 model, required->path);
}

int config_required_check_login(const struct config_required *required, enum login_method method, struct error *err)
{
	const char *word = enum_wire(&enum_login_method, (int)method);
	if (!required ||
	    !excludes(required->keys.is_set.allowed_login_methods, &required->keys.allowed_login_methods, word))
		return 0;
	return refuse(required, "allowed_login_methods", &required->keys.allowed_login_methods, word, err);
}

enum web_search_mode config_required_limit_search(const struct config_required *required, enum web_search_mode mode)
{
	if (!required || !required->keys.is_set.allowed_web_search_modes)
		return mode;
	for (int it = (int)mode; it > (int)web_search_mode_disabled; it--) {
		if (permits(&required->keys.allowed_web_search_modes, enum_wire(&enum_web_search_mode, it)))
			return (enum web_search_mode)it;
	}
	return web_search_mode_disabled;
}

/* ---- application ---- */

static bool is_identity(const struct toml *identity, const struct toml *server)
{
	const struct toml *wanted = identity->child;
	const struct toml *value = toml_find(server, wanted->key);
	return toml_is(value, TOML_string) && str_eq(value->text, wanted->text);
}

/* Tables that follow a disabled server's may not enable it again: the tree is merged already. */
static void disable(struct config_layers *layers, struct toml *server, const char *path)
{
	char shown[TOML_KEY_SHOWN];
	const struct toml *enabled = toml_get(server, "enabled");
	if (!toml_is(server, TOML_table) || (toml_is(enabled, TOML_bool) && !enabled->boolean))
		return;
	struct toml *off = toml_new(layers->arena, TOML_bool, path, 1);
	toml_remove(server, STR("enabled"));
	toml_remove(server, STR("required"));
	toml_add(layers->arena, server, STR("enabled"), off);
	config_layer_warn(layers, "MCP server `%s` is disabled: mcp_servers in %s does not list it with this identity",
	                  toml_key_shown(server->key, shown), path);
}

void config_required_limit_servers(const struct config_required *required, struct config_layers *layers,
                                   struct toml *tree)
{
	struct toml *servers = toml_get(tree, "mcp_servers");
	if (!required || !required->keys.is_set.mcp_servers || !toml_is(servers, TOML_table))
		return;
	for (struct toml *it = servers->child; it; it = it->next) {
		const struct toml *permitted = toml_find(required->keys.mcp_servers, it->key);
		if (!permitted || !is_identity(toml_get(permitted, "identity"), it))
			disable(layers, it, required->path);
	}
}

/* A flag that turns the sandbox off is meant as it stands; other settings may be older than the requirements. */
static int limit_sandbox(const struct config_required *required, struct config_layers *layers, const struct toml *tree,
                         struct config *config, struct error *err)
{
	struct error why;
	const struct toml *value = toml_get(tree, "sandbox_mode");
	if (config_required_check_sandbox(required, config->sandbox_mode, &why) == 0)
		return 0;
	if (value && str_has_prefix(str_of(value->source), "--dangerously"))
		return error_set(err, ERR_denied, "%s: %s", value->source, why.text);
	config->sandbox_mode = required->initial_mode;
	if (value)
		config_layer_warn(layers, "sandbox_mode is %s: %s",
		                  enum_wire(&enum_sandbox_mode, (int)config->sandbox_mode), why.text);
	return 0;
}

static struct ask_for_approval *first_policy(const struct config_required *required, struct arena *arena)
{
	struct ask_for_approval *policy = arena_new(arena, struct ask_for_approval);
	while (!str_is(required->keys.allowed_approval_policies.items[0], approval_name(policy)))
		policy->tag++;
	if (policy->tag == ask_for_approval_granular)
		policy->granular = arena_new(arena, struct granular_approval);
	return policy;
}

static void limit_approval(const struct config_required *required, struct config_layers *layers,
                           const struct toml *tree, struct config *config)
{
	struct error why;
	if (config_required_check_approval(required, config->approval_policy, &why) == 0)
		return;
	config->approval_policy = first_policy(required, layers->arena);
	if (toml_get(tree, "approval_policy"))
		config_layer_warn(layers, "approval_policy is %s: %s", approval_name(config->approval_policy),
		                  why.text);
}

static void limit_reviewer(const struct config_required *required, struct config_layers *layers,
                           const struct toml *tree, struct config *config)
{
	struct error why;
	int first = approvals_reviewer_user;
	if (config_required_check_reviewer(required, config->approvals_reviewer, &why) == 0)
		return;
	if (!enum_parse(&enum_approvals_reviewer, required->keys.allowed_approvals_reviewers.items[0], &first))
		return;
	config->approvals_reviewer = (enum approvals_reviewer)first;
	if (toml_get(tree, "approvals_reviewer"))
		config_layer_warn(layers, "approvals_reviewer is %s: %s", enum_wire(&enum_approvals_reviewer, first),
		                  why.text);
}

static void limit_search(const struct config_required *required, struct config_layers *layers, struct config *config)
{
	enum web_search_mode limited = config_required_limit_search(required, config->web_search);
	if (config->web_search == web_search_mode_unset || limited == config->web_search)
		return;
	config_layer_warn(layers, "web_search is %s: allowed_web_search_modes in %s does not permit `%s`",
	                  enum_wire(&enum_web_search_mode, (int)limited), required->path,
	                  enum_wire(&enum_web_search_mode, (int)config->web_search));
	config->web_search = limited;
}

/* Reports the user's features that are fixed to the other value. */
static void warn_features(const struct config_required *required, struct config_layers *layers, const struct toml *tree)
{
	vec_for_each(layer, &layers->items) {
		const struct toml *own = toml_get(layer->root, "features");
		if (layer->kind == CONFIG_LAYER_fixed || !toml_is(own, TOML_table))
			continue;
		toml_for_each(it, own) {
			char shown[TOML_KEY_SHOWN];
			const struct toml *value = toml_find(toml_get(tree, "features"), it->key);
			bool is_fixed = value && strcmp(value->source, required->path) == 0;
			if (is_fixed && it->kind == TOML_bool && it->boolean != value->boolean)
				config_layer_warn(layers, "features.%s is %s: %s fixes it",
				                  toml_key_shown(it->key, shown), value->boolean ? "true" : "false",
				                  required->path);
		}
	}
}

int config_required_apply(const struct config_required *required, struct config_layers *layers, const struct toml *tree,
                          struct config *config, struct error *err)
{
	if (!required)
		return 0;
	limit_approval(required, layers, tree, config);
	limit_reviewer(required, layers, tree, config);
	limit_search(required, layers, config);
	config_required_limit_profile(required, layers, config);
	warn_features(required, layers, tree);
	return limit_sandbox(required, layers, tree, config, err);
}

/* ---- rules about commands ---- */
