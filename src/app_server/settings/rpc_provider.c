/* Providers are the built-in one and the tables of [model_providers]. Clients can create and change tables with a
 * base URL and the name of a key variable; the keys themselves are never sent. */
#include <ctype.h>
#include <stdlib.h>

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/config_write.h"
#include "app_server/rpc/rpc_request.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/json.h"
#include "base/mem.h"

enum { PROVIDER_ID_MAX = 64 };

/* ---- reading ---- */

static struct str text_of(const struct toml *table, const char *key)
{
	const struct toml *node = toml_get(table, key);
	return toml_is(node, TOML_string) ? node->text : STR_NONE;
}

static bool has_other_auth(const struct toml *table)
{
	const struct toml *openai = toml_get(table, "requires_openai_auth");
	return toml_get(table, "experimental_bearer_token") || toml_get(table, "auth") ||
	       (toml_is(openai, TOML_bool) && openai->boolean);
}

static struct app_gateway_auth *make_auth(const struct toml *table, struct arena *arena)
{
	struct app_gateway_auth *auth = arena_new(arena, struct app_gateway_auth);
	struct str variable = text_of(table, "env_key");
	if (variable.ptr) {
		auth->tag = app_gateway_auth_environment_variable;
		auth->environment_variable = arena_new(arena, struct app_gateway_environment_variable);
		auth->environment_variable->env_key = variable;
	} else if (has_other_auth(table)) {
		auth->tag = app_gateway_auth_externally_configured;
		auth->externally_configured = arena_new(arena, struct app_gateway_externally_configured);
	}
	return auth;
}

static struct app_model_provider_summary summarize(struct str id, const struct toml *table, struct arena *arena)
{
	struct app_provider_settings *settings = arena_new(arena, struct app_provider_settings);
	struct str name = text_of(table, "name");
	settings->tag = app_provider_settings_custom_gateway;
	settings->custom_gateway = arena_new(arena, struct app_custom_gateway);
	settings->custom_gateway->auth = make_auth(table, arena);
	return (struct app_model_provider_summary){
		.id = id,
		.name = name.ptr ? name : id,
		.can_edit = true,
		.base_url = text_of(table, "base_url"),
		.settings = settings,
	};
}

static struct app_model_provider_summary summarize_openai(const struct config *config, struct arena *arena)
{
	return (struct app_model_provider_summary){
		.id = STR("openai"),
		.name = STR("OpenAI"),
		.base_url = str_of(config->openai_base_url),
		.settings = arena_new(arena, struct app_provider_settings),
	};
}

static int by_id(const void *a, const void *b)
{
	return str_compare(((const struct app_model_provider_summary *)a)->id,
	                   ((const struct app_model_provider_summary *)b)->id);
}

enum rpc_verdict on_rpc_model_provider_list(struct rpc_request *request,
                                            const struct app_model_provider_list_params *params)
{
	struct error err;
	VEC(struct app_model_provider_summary) providers = {0};
	struct config *config = config_view_load(request->server, NULL, NULL, &err);
	(void)params;
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to load configuration: %s", err.text);
	vec_push(&providers, summarize_openai(config, &request->arena));
	toml_for_each(it, toml_get(config_tree(config), "model_providers")) {
		if (!str_is(it->key, "openai"))
			vec_push(&providers, summarize(it->key, it, &request->arena));
	}
	qsort(providers.items, providers.count, sizeof(*providers.items), by_id);
	struct app_model_provider_list_response response = {
		.data = providers.items,
		.data_count = providers.count,
		.default_provider_id = str_of(config->model_provider),
		.can_change_default = true,
	};
	enum rpc_verdict verdict = rpc_reply(request, &response);
	vec_finish(&providers);
	config_unref(config);
	return verdict;
}

enum rpc_verdict
on_rpc_model_provider_capabilities_read(struct rpc_request *request,
                                        const struct app_model_provider_capabilities_read_params *params)
{
	struct app_model_provider_capabilities_read_response response = {.web_search = true};
	(void)params;
	return rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_account_gateway_o_auth_read(struct rpc_request *request,
                                                    const struct app_gateway_o_auth_read_params *params)
{
	const struct config *config = request->server->config;
	struct str id = str_of(config->model_provider);
	const struct toml *table = toml_find(toml_get(config_tree(config), "model_providers"), id);
	struct str name = text_of(table, "name");
	(void)params;
	struct app_gateway_o_auth_read_response response = {
		.provider_id = id,
		.provider_name = name.ptr               ? name
	                         : str_is(id, "openai") ? STR("OpenAI")
	                                                : id,
	};
	return rpc_reply(request, &response);
}

/* ---- writing ---- */

static const char invalid[] = "configValidationError";

/* Turns "My Gate" into my-gate. */
static void make_slug(struct str name, char out[PROVIDER_ID_MAX])
{
	size_t len = 0;
	for (size_t i = 0; i < name.len && len < PROVIDER_ID_MAX - 8; i++) {
		unsigned char c = (unsigned char)name.ptr[i];
		if (c < 0x80 && isalnum(c))
			out[len++] = (char)tolower(c);
		else if (len && out[len - 1] != '-')
			out[len++] = '-';
	}
	while (len && out[len - 1] == '-')
		len--;
	snprintf(out + len, PROVIDER_ID_MAX - len, "%s", len ? "" : "provider");
}

static bool is_taken(const struct config *config, const char *id)
{
	static const char *const builtin[] = {"openai", "ollama", "lmstudio"};
	for (size_t i = 0; i < countof(builtin); i++) {
		if (strcmp(builtin[i], id) == 0)
			return true;
	}
	return toml_get(toml_get(config_tree(config), "model_providers"), id);
}

static struct str make_id(const struct config *config, struct str name, struct arena *arena)
{
	char slug[PROVIDER_ID_MAX];
	make_slug(name, slug);
	const char *id = arena_cstr(arena, str_of(slug));
	for (unsigned i = 2; is_taken(config, id); i++)
		id = arena_printf(arena, "%s-%u", slug, i);
	return str_of(id);
}

static bool is_base_url(struct str url)
{
	struct str rest = url;
	if (!str_cut_prefix(&rest, "http://") && !str_cut_prefix(&rest, "https://"))
		return false;
	for (size_t i = 0; i < rest.len; i++) {
		char c = rest.ptr[i];
		if ((unsigned char)c <= ' ' || c == '@' || c == '?' || c == '#')
			return false;
	}
	return rest.len && rest.ptr[0] != '/';
}

static bool is_variable(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		unsigned char c = (unsigned char)name.ptr[i];
		if (c >= 0x80 || !(isalpha(c) || c == '_' || (i && isdigit(c))))
			return false;
	}
	return name.len > 0;
}

static int check_patch(struct config_write *write, const struct app_provider_patch *patch, const struct config *config)
{
	const char *id = patch->provider_id.ptr;
	if (patch->type != app_provider_kind_custom_gateway)
		return config_write_fail(write, invalid, "This version of Codex cannot use providers of type `%s`.",
		                         enum_wire(&enum_app_provider_kind, (int)patch->type));
	if (id && str_is(patch->provider_id, "openai"))
		return config_write_fail(write, invalid,
		                         "A custom provider or gateway cannot use a built-in provider ID.");
	if (id && !toml_find(toml_get(config_tree(config), "model_providers"), patch->provider_id))
		return config_write_fail(write, "configPathNotFound", "Unknown provider ID.");
	if (id ? patch->name.ptr && !str_trim(patch->name).len : !str_trim(patch->name).len)
		return config_write_fail(write, invalid, "Enter a provider name.");
	if (patch->base_url.ptr && !is_base_url(patch->base_url))
		return config_write_fail(write, invalid,
		                         "Enter an HTTP(S) base URL without credentials, a query, or a fragment.");
	if (patch->env_key.ptr && !is_variable(patch->env_key))
		return config_write_fail(write, invalid, "Invalid API key environment variable name.");
	if (!id && !patch->base_url.ptr)
		return config_write_fail(write, invalid, "A base URL is required to create a custom provider.");
	return 0;
}

static int set_text(struct config_write *write, struct str id, const char *key, struct str text, struct arena *arena)
{
	struct str path[] = {STR("model_providers"), id, str_of(key)};
	struct toml *node = toml_new(arena, TOML_string, "settings", 1);
	node->text = text;
	return text.ptr ? config_write_set(write, path, countof(path), node) : 0;
}

static int set_all(struct config_write *write, const struct app_provider_patch *patch, struct str id, bool is_keyless,
                   struct arena *arena)
{
	struct str key[] = {STR("model_providers"), id, STR("env_key")};
	bool is_new = !patch->provider_id.ptr;
	int status = set_text(write, id, "name", patch->name.ptr ? str_trim(patch->name) : STR_NONE, arena);
	if (status == 0)
		status = set_text(write, id, "base_url", patch->base_url, arena);
	if (status == 0)
		status = is_keyless ? config_write_set(write, key, countof(key), NULL)
		                    : set_text(write, id, "env_key", patch->env_key, arena);
	return status == 0 ? set_text(write, id, "wire_api", is_new ? STR("responses") : STR_NONE, arena) : status;
}

static void reply_provider(struct config_write *write, struct rpc_request *request, const struct config *config)
{
	struct str id = config_write_subject(write);
	const struct toml *table = toml_find(toml_get(config_tree(config), "model_providers"), id);
	struct app_model_provider_summary provider = summarize(id, table, &request->arena);
	struct app_model_provider_config_write_response response = {&provider};
	rpc_reply(request, &response);
}

static int change(struct config_write *write, const struct app_provider_patch *patch, bool is_keyless,
                  const struct config *config, struct arena *arena)
{
	if (check_patch(write, patch, config) != 0 || config_write_open(write, STR_NONE, STR_NONE) != 0)
		return -ERR_config;
	struct str id = patch->provider_id.ptr ? patch->provider_id : make_id(config, patch->name, arena);
	config_write_name(write, id);
	return set_all(write, patch, id, is_keyless, arena);
}

enum rpc_verdict on_rpc_model_provider_config_write(struct rpc_request *request,
                                                    const struct app_model_provider_config_write_params *params)
{
	struct app_provider_patch patch = {0};
	struct error err;
	const struct json *json = json_parse(&request->arena, params->settings, &err);
	if (!json || record_decode(&record_app_provider_patch, json, &request->arena, &patch, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "Invalid request: %s", err.text);
	struct config_write *write = config_write_create(request);
	struct config *config = config_view_load(request->server, NULL, NULL, &err);
	bool is_keyless = json_is(json_get(json, "envKey"), JSON_null);
	int status = config ? change(write, &patch, is_keyless, config, &request->arena)
	                    : config_write_fail(write, invalid, "%s", err.text);
	config_unref(config);
	return status == 0 ? config_write_commit(write, reply_provider) : config_write_refuse(write);
}
