/* config/read reads the files each time, as the next thread will. */
#include <stdio.h>

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/config_write.h"
#include "app_server/rpc/rpc_request.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config_required.h"
#include "config/toml/toml_text.h"

/* ---- the settings ---- */

static void write_names(struct json_writer *w, const char *names)
{
	struct str rest = str_of(names), name;
	jw_array(w);
	while (names && str_next_part(&rest, ' ', &name))
		jw_str(w, name);
	jw_array_end(w);
}

/* Writes the value of a key that is not set: its default if that is a number or a list, an empty table for tables
 * with free names, else null. */
static void write_unset(struct json_writer *w, const struct config_row *row)
{
	if (row->kind == CONFIG_named)
		jw_raw(w, STR("{}"));
	else if (row->kind == CONFIG_int && row->integers->value)
		jw_i64(w, row->integers->value);
	else if (row->kind == CONFIG_strings && row->text)
		write_names(w, row->text);
	else
		jw_null(w);
}

static struct str settings_json(const struct config *config, struct arena *arena)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_CONFIG_JSON);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	for (size_t i = 0; i < config_keys.count; i++) {
		const struct config_row *row = &config_keys.rows[i];
		const struct toml *node = toml_get(config_tree(config), row->key);
		jw_key(&w, row->key);
		if (node)
			toml_to_json(&w, node);
		else
			write_unset(&w, row);
	}
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

/* ---- origins ---- */

struct origins {
	const struct layer_views *views;
	struct json_writer w;
	struct buf path;
};

static void write_origins(struct origins *to, const struct toml *node);

static void write_origin(struct origins *to, const struct toml *leaf)
{
	const struct layer_view *view = layer_views_find(to->views, leaf);
	if (!view)
		return;
	jw_key_str(&to->w, buf_str(&to->path));
	record_encode(&record_app_config_layer_metadata, &view->metadata, &to->w);
}

static void write_inner_origins(struct origins *to, const struct toml *node)
{
	size_t len = to->path.len, index = 0;
	toml_for_each(it, node) {
		if (len)
			buf_append_char(&to->path, '.');
		if (node->kind == TOML_table)
			buf_append_str(&to->path, it->key);
		else
			buf_printf(&to->path, "%zu", index++);
		write_origins(to, it);
		buf_truncate(&to->path, len);
	}
}

static void write_origins(struct origins *to, const struct toml *node)
{
	if (node->kind == TOML_table || node->kind == TOML_array)
		write_inner_origins(to, node);
	else
		write_origin(to, node);
}

static struct str origins_json(const struct config *config, const struct layer_views *views, struct arena *arena)
{
	auto_buf struct buf out;
	struct origins to = {.views = views, .w = json_writer(&out)};
	buf_init(&out, LIMIT_CONFIG_JSON);
	buf_init(&to.path, LIMIT_CONFIG_FILE);
	jw_object(&to.w);
	write_origins(&to, config_tree(config));
	jw_object_end(&to.w);
	buf_finish(&to.path);
	return out.over ? STR("{}") : arena_str(arena, buf_str(&out));
}

static void fill_layers(struct app_config_read_response *response, const struct layer_views *views, struct arena *arena)
{
	response->layers = arena_array(arena, struct app_config_layer, views->items.count);
	vec_for_each(it, &views->items) {
		auto_buf struct buf json;
		buf_init(&json, LIMIT_CONFIG_JSON);
		struct json_writer w = json_writer(&json);
		toml_to_json(&w, it->root);
		response->layers[response->layers_count++] = (struct app_config_layer){
			.name = it->metadata.name,
			.version = it->metadata.version,
			.config = arena_str(arena, buf_str(&json)),
		};
	}
}

/* ---- methods ---- */

enum rpc_verdict on_rpc_config_read(struct rpc_request *request, const struct app_config_read_params *params)
{
	struct error err;
	struct layer_views views;
	auto_free char *cwd = params->cwd.ptr ? path_join(request->server->cwd, params->cwd.ptr) : NULL;
	struct config *config = config_view_load(request->server, cwd, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to read configuration layers: %s", err.text);
	layer_views_init(&views, config, &request->arena);
	struct app_config_read_response response = {
		.config = settings_json(config, &request->arena),
		.origins = origins_json(config, &views, &request->arena),
	};
	if (params->include_layers)
		fill_layers(&response, &views, &request->arena);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	layer_views_finish(&views);
	config_unref(config);
	return verdict;
}

/* ---- the administrator's requirements ---- */

/* Returns the values of an enum in the order of the list; words that the enum lacks are left out. */
static int *values_of(const struct config_strings *list, const struct enum_type *type, struct arena *arena,
                      size_t *ret_count)
{
	int *values = arena_array(arena, int, list->count + 1);
	*ret_count = 0;
	for (size_t i = 0; i < list->count; i++)
		*ret_count += enum_parse(type, list->items[i], &values[*ret_count]);
	return values;
}

static struct app_ask_for_approval *policies_of(const struct config_strings *list, struct arena *arena,
                                                size_t *ret_count)
{
	struct app_ask_for_approval *policies = arena_array(arena, struct app_ask_for_approval, list->count + 1);
	*ret_count = 0;
	for (size_t i = 0; i < list->count; i++) {
		for (size_t tag = 0; tag < union_app_ask_for_approval.count; tag++) {
			const struct variant *variant = &union_app_ask_for_approval.variants[tag];
			if (str_is(list->items[i], variant->wire) && !variant->body)
				policies[(*ret_count)++].tag = variant->tag;
		}
	}
	return policies;
}

static struct str json_of(const struct toml *node, struct arena *arena)
{
	auto_buf struct buf json;
	buf_init(&json, LIMIT_CONFIG_JSON);
	if (!node)
		return STR_NONE;
	struct json_writer w = json_writer(&json);
	toml_to_json(&w, node);
	return arena_str(arena, buf_str(&json));
}

static struct str requirements_json(const struct config_requirements *keys, struct arena *arena)
{
	auto_buf struct buf json;
	const struct config_strings *models = &keys->auto_review.required_on_models;
	struct app_auto_review_requirements review = {.required_on_models = (void *)(uintptr_t)models->items,
	                                              .required_on_models_count = models->count};
	struct app_config_requirements view = {
		.auto_review = models->count ? &review : NULL,
		.additional_developer_instructions = str_of(keys->additional_developer_instructions),
		.has_allow_login_shell = keys->is_set.allow_login_shell,
		.allow_login_shell = keys->allow_login_shell,
		.has_enforce_residency = keys->enforce_residency == residency_us,
		.enforce_residency = app_residency_requirement_us,
		.feature_requirements = json_of(keys->features ? keys->features : keys->feature_requirements, arena),
		.allowed_permission_profiles = json_of(keys->allowed_permission_profiles, arena),
		.default_permissions = str_of(keys->default_permissions),
		.model_catalog_json = str_of(keys->model_catalog_json),
		.chatgpt_base_url = str_of(keys->chatgpt_base_url),
		.model_provider = str_of(keys->model_provider),
		.model_providers = json_of(keys->model_providers, arena),
	};
	if (keys->is_set.allowed_approval_policies)
		view.allowed_approval_policies =
			policies_of(&keys->allowed_approval_policies, arena, &view.allowed_approval_policies_count);
	if (keys->is_set.allowed_approvals_reviewers)
		view.allowed_approvals_reviewers =
			(void *)values_of(&keys->allowed_approvals_reviewers, &enum_app_approvals_reviewer, arena,
		                          &view.allowed_approvals_reviewers_count);
	if (keys->is_set.allowed_sandbox_modes)
		view.allowed_sandbox_modes = (void *)values_of(&keys->allowed_sandbox_modes, &enum_app_sandbox_mode,
		                                               arena, &view.allowed_sandbox_modes_count);
	if (keys->is_set.allowed_web_search_modes)
		view.allowed_web_search_modes =
			(void *)values_of(&keys->allowed_web_search_modes, &enum_web_search_mode, arena,
		                          &view.allowed_web_search_modes_count);
	if (keys->is_set.allowed_login_methods)
		view.allowed_login_methods =
			(void *)values_of(&keys->allowed_login_methods, &enum_app_forced_login_method, arena,
		                          &view.allowed_login_methods_count);
	buf_init(&json, LIMIT_CONFIG_JSON);
	struct json_writer w = json_writer(&json);
	record_encode(&record_app_config_requirements, &view, &w);
	return arena_str(arena, buf_str(&json));
}

enum rpc_verdict on_rpc_config_requirements_read(struct rpc_request *request, const struct app_nothing *params)
{
	struct app_config_requirements_read_response response = {.has_supports_independent_speed_modes = true};
	struct error err;
	(void)params;
	struct config *config = config_view_load(request->server, NULL, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to read the requirements: %s", err.text);
	const struct config_required *required = config_required(config);
	if (required)
		response.requirements = requirements_json(&required->keys, &request->arena);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	config_unref(config);
	return verdict;
}

/* ---- changes of the files ---- */

enum rpc_verdict on_rpc_config_value_write(struct rpc_request *request,
                                           const struct app_config_value_write_params *params)
{
	struct config_write *write = config_write_create(request);
	bool is_merge = params->merge_strategy == app_merge_strategy_upsert;
	if (config_write_open(write, params->file_path, params->expected_version) != 0 ||
	    config_write_edit(write, params->key_path, params->value, is_merge) != 0)
		return config_write_refuse(write);
	return config_write_commit(write, config_write_reply);
}
