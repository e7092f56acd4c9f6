/* [tools.web_search] is a bool or a table, so that it is no record of config.def: it is read from the merged tree. */
#include "config/web_search.h"

#include "base/error.h"
#include "config/config_required.h"

/* ---- the table ---- */

static const char *const location_keys[] = {"country", "region", "city", "timezone"};

static int fail(const struct toml *node, const char *key, const char *expected, struct error *err)
{
	char where[CONFIG_PLACE_SIZE];
	return error_set(err, ERR_config, "%s: `tools.web_search.%s` must be %s", config_place(node, where), key,
	                 expected);
}

static int check_location(const struct toml *location, struct error *err)
{
	static const char expected[] = "a table of texts with `country`, `region`, `city` or `timezone`";
	if (location->kind != TOML_table)
		return fail(location, "location", expected, err);
	toml_for_each(it, location) {
		bool is_known = false;
		for (size_t i = 0; i < countof(location_keys); i++)
			is_known |= str_is(it->key, location_keys[i]);
		if (!is_known || it->kind != TOML_string)
			return fail(it, "location", expected, err);
	}
	return 0;
}

static int check_domains(const struct toml *domains, struct error *err)
{
	bool is_fine = domains->kind == TOML_array;
	toml_for_each(it, is_fine ? domains : NULL)
		is_fine = is_fine && it->kind == TOML_string && it->text.len;
	return is_fine ? 0 : fail(domains, "allowed_domains", "a list of texts", err);
}

static int check_size(const struct toml *size, struct error *err)
{
	bool is_fine = size->kind == TOML_string &&
	               (str_is(size->text, "low") || str_is(size->text, "medium") || str_is(size->text, "high"));
	return is_fine ? 0 : fail(size, "context_size", "one of `low`, `medium`, `high`", err);
}

int web_search_check(const struct toml *value, struct error *err)
{
	int status = 0;
	toml_for_each(it, toml_is(value, TOML_table) ? value : NULL) {
		char where[CONFIG_PLACE_SIZE], shown[TOML_KEY_SHOWN];
		if (status != 0)
			return status;
		if (str_is(it->key, "context_size"))
			status = check_size(it, err);
		else if (str_is(it->key, "allowed_domains"))
			status = check_domains(it, err);
		else if (str_is(it->key, "location"))
			status = check_location(it, err);
		else if (!str_is(it->key, "enabled")) /* its type is checked as that of every switch */
			return error_set(err, ERR_config, "%s: `tools.web_search` has no key `%s`",
			                 config_place(it, where), toml_key_shown(it->key, shown));
	}
	return status;
}

/* ---- the mode ---- */

/* A table without `enabled` has details alone. */
static bool is_switched(const struct web_search *search)
{
	return search->tool && (!toml_is(search->tool, TOML_table) || toml_get(search->tool, "enabled"));
}

static enum web_search_mode choose(const struct web_search *search, bool serves_openai, enum sandbox_mode sandbox)
{
	const struct config *config = search->config;
	if (config->web_search != web_search_mode_unset)
		return config->web_search;
	if (config->features.web_search_request)
		return web_search_mode_live;
	if (config->features.web_search_cached)
		return web_search_mode_cached;
	if (is_switched(search))
		return config->tools.web_search ? web_search_mode_live : web_search_mode_disabled;
	if (!serves_openai)
		return web_search_mode_disabled;
	return sandbox == sandbox_mode_danger_full_access ? web_search_mode_live : web_search_mode_cached;
}

enum web_search_mode web_search_mode_of(const struct web_search *search, bool serves_openai, enum sandbox_mode sandbox)
{
	return config_required_limit_search(search->required, choose(search, serves_openai, sandbox));
}

/* ---- the tool ---- */

static void write_texts(struct json_writer *w, const struct toml *list)
{
	jw_array(w);
	toml_for_each(it, list)
		jw_str(w, it->text);
	jw_array_end(w);
}

static void write_location(struct json_writer *w, const struct toml *location)
{
	jw_key(w, "user_location");
	jw_object(w);
	jw_member_cstr(w, "type", "approximate");
	for (size_t i = 0; i < countof(location_keys); i++) {
		const struct toml *value = toml_get(location, location_keys[i]);
		if (value)
			jw_member_str(w, location_keys[i], value->text);
	}
	jw_object_end(w);
}

void web_search_write(const struct web_search *search, enum web_search_mode mode, struct json_writer *w)
{
	const struct toml *table = toml_is(search->tool, TOML_table) ? search->tool : NULL;
	const struct toml *size = toml_get(table, "context_size"), *domains = toml_get(table, "allowed_domains");
	const struct toml *location = toml_get(table, "location");
	jw_object(w);
	jw_member_cstr(w, "type", "web_search");
	jw_member_bool(w, "external_web_access", mode == web_search_mode_live || mode == web_search_mode_indexed);
	if (mode == web_search_mode_indexed)
		jw_member_bool(w, "indexed_web_access", true);
	if (domains) {
		jw_key(w, "filters");
		jw_object(w);
		jw_key(w, "allowed_domains");
		write_texts(w, domains);
		jw_object_end(w);
	}
	if (location)
		write_location(w, location);
	if (size)
		jw_member_str(w, "search_context_size", size->text);
	if (search->has_images)
		jw_member_raw(w, "search_content_types", STR("[\"text\",\"image\"]"));
	jw_object_end(w);
}
