/* The permission profiles that requirements.toml permits. Those of users can have any content, so only the built-in
 * ones can be permitted, without further writable folders and without the network. */
#include "base/buf.h"
#include "base/limits.h"
#include "config/config_permission.h"
#include "config/config_required.h"

static int fail_at(const struct toml *node, const char *key, const char *text, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	return error_set(err, ERR_config, "%s: `%s`: %s", config_place(node, where), key, text);
}

static const char key[] = "allowed_permission_profiles", initial_key[] = "default_permissions";

static bool is_listed(const struct toml *profiles, struct str name)
{
	const struct toml *entry = toml_find(profiles, name);
	return toml_is(entry, TOML_bool) && entry->boolean;
}

static int check_entries(const struct toml *profiles, struct error *err)
{
	enum sandbox_mode mode;
	if (profiles->kind != TOML_table)
		return fail_at(profiles, key, "expected a table", err);
	toml_for_each(it, profiles) {
		if (it->kind != TOML_bool)
			return fail_at(it, key, "each value must be true or false", err);
		if (it->boolean && !config_permission_is_built_in(it->key, &mode))
			return fail_at(it, key, "this version can permit the built-in profiles only", err);
	}
	return 0;
}

/* Returns the name of the profile that replaces others. */
static int find_initial(const struct toml *profiles, const struct toml *initial, struct str *ret, struct error *err)
{
	*ret = initial ? initial->text : STR(":workspace");
	if (initial && !is_listed(profiles, *ret))
		return fail_at(initial, initial_key, "allowed_permission_profiles does not permit it", err);
	if (!initial && !(is_listed(profiles, *ret) && is_listed(profiles, STR(":read-only"))))
		return fail_at(profiles, key,
		               "default_permissions is needed, unless both `:read-only` and `:workspace` are permitted",
		               err);
	return 0;
}

static bool has_mode(const struct toml *modes, enum sandbox_mode mode)
{
	toml_for_each(it, modes) {
		if (str_is(it->text, enum_wire(&enum_sandbox_mode, (int)mode)))
			return true;
	}
	return !modes;
}

int config_required_check_profiles(const struct toml *root, enum sandbox_mode *ret_initial, struct error *err)
{
	struct str name;
	const struct toml *profiles = toml_get(root, key), *initial = toml_get(root, initial_key);
	*ret_initial = sandbox_mode_read_only;
	if (!profiles)
		return initial ? fail_at(initial, initial_key, "it needs allowed_permission_profiles", err) : 0;
	if (check_entries(profiles, err) != 0 || find_initial(profiles, initial, &name, err) != 0)
		return -(int)err->code;
	if (!config_permission_is_built_in(name, ret_initial) ||
	    !has_mode(toml_get(root, "allowed_sandbox_modes"), *ret_initial))
		return fail_at(initial ? initial : profiles, key,
		               "allowed_sandbox_modes does not permit the profile that replaces others", err);
	return 0;
}

int config_required_check_profile(const struct config_required *required, struct str name, struct error *err)
{
	const struct toml *profiles = required ? required->keys.allowed_permission_profiles : NULL;
	if (!profiles || is_listed(profiles, name))
		return 0;
	auto_buf struct buf words;
	buf_init(&words, ERROR_TEXT_MAX / 2);
	toml_for_each(it, profiles) {
		if (it->boolean)
			buf_printf(&words, "%s`%.*s`", words.len ? ", " : "", STR_ARG(it->key));
	}
	return error_set(err, ERR_denied,
	                 "the administrator of this machine does not permit `%.*s`: %s in %s permits %.*s",
	                 (int)(name.len < 64 ? name.len : 64), name.ptr, key, required->path, STR_ARG(buf_str(&words)));
}

int config_required_check_additions(const struct config_required *required, bool are_any, struct error *err)
{
	if (!are_any || !required || !required->keys.allowed_permission_profiles)
		return 0;
	return error_set(err, ERR_denied,
	                 "the administrator of this machine does not permit further writable folders or the network: "
	                 "%s in %s permits the built-in profiles as they are",
	                 key, required->path);
}

int config_required_check_policy(const struct config_required *required, const struct sandbox *policy,
                                 struct error *err)
{
	int mode = sandbox_mode_read_only;
	for (size_t i = 0; i < union_sandbox.count; i++) { /* the words of both types are the same */
		const struct variant *variant = &union_sandbox.variants[i];
		if (variant->tag == (int)policy->tag && !enum_parse(&enum_sandbox_mode, str_of(variant->wire), &mode))
			return error_set(err, ERR_internal, "sandbox_mode has no word `%s`", variant->wire);
	}
	const struct workspace_write *write = policy->tag == sandbox_workspace_write ? policy->workspace_write : NULL;
	bool adds = write && (write->writable_roots_count || write->network_access);
	return config_required_check_sandbox(required, (enum sandbox_mode)mode, err)
	               ?: config_required_check_additions(required, adds, err);
}

/* Takes away what the user adds to the built-in profiles. */
static void drop_additions(const struct config_required *required, struct config_layers *layers,
                           struct config_sandbox *own)
{
	struct error why;
	if (config_required_check_additions(required, own->writable_roots.count || own->network_access, &why) != 0)
		config_layer_warn(layers, "sandbox_workspace_write is limited: %s", why.text);
	own->writable_roots = (struct config_strings){0};
	own->network_access = false;
}

void config_required_limit_profile(const struct config_required *required, struct config_layers *layers,
                                   struct config *config)
{
	struct error why;
	if (!required || !required->keys.allowed_permission_profiles)
		return;
	drop_additions(required, layers, &config->sandbox_workspace_write);
	if (config->is_set.default_permissions &&
	    config_required_check_profile(required, str_of(config->default_permissions), &why) != 0) {
		config->default_permissions = config_permission_of_mode(required->initial_mode);
		config->sandbox_workspace_write = (struct config_sandbox){0};
		config_layer_warn(layers, "the permission profile is %s: %s", config->default_permissions, why.text);
	} else if (config->is_set.sandbox_mode) {
		return;
	}
	config->sandbox_mode = required->initial_mode;
}
