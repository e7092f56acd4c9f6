/* The settings in a client's parameters become options like those of a command line (-c key=value), so that the same
 * code checks and merges them and they override the files. */
#include "app_server/threads/thread_config.h"

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/process_settings.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_permission.h"
#include "config/config_required.h"
#include "config/toml/toml_text.h"

struct kept_config {
	struct list link;
	char *key; /* made of the folder and the options */
	size_t key_len;
	struct config *config;
};

struct options {
	struct arena arena;
	VEC(struct str) list;
	struct buf text;
};

static void kept_destroy(struct thread_configs *configs, struct kept_config *kept)
{
	configs->count--;
	list_remove(&kept->link);
	config_unref(kept->config);
	free(kept->key);
	free(kept);
}

void thread_configs_init(struct thread_configs *configs)
{
	configs->count = 0;
	list_init(&configs->kept);
}

void thread_configs_finish(struct thread_configs *configs)
{
	struct kept_config *it;
	list_for_each(it, &configs->kept, link)
		kept_destroy(configs, it);
}

/* ---- options ---- */

static void add_text(struct options *options, const char *key, struct str text)
{
	if (!text.ptr)
		return;
	buf_clear(&options->text);
	buf_printf(&options->text, "%s=", key);
	json_quote(&options->text, text);
	vec_push(&options->list, arena_str(&options->arena, buf_str(&options->text)));
}

static int add_config(struct options *options, struct str json, struct error *err)
{
	if (!json.ptr)
		return 0;
	const struct json *root = json_parse(&options->arena, json, err);
	if (!root)
		return error_wrap(err, "config");
	json_for_each(it, root) {
		if (it->type == JSON_null)
			continue;
		buf_clear(&options->text);
		buf_append_str(&options->text, it->key);
		buf_append_char(&options->text, '=');
		toml_write_json(&options->text, it);
		vec_push(&options->list, arena_str(&options->arena, buf_str(&options->text)));
	}
	return options->text.over ? error_set(err, ERR_limit, "config is too large") : 0;
}

static int add_sandbox(struct options *options, const struct app_thread_start_params *params, struct error *err)
{
	const char *mode = NULL;
	if (params->permissions.ptr && params->has_sandbox)
		return error_set(err, ERR_invalid, "`permissions` cannot be combined with `sandbox`");
	add_text(options, "default_permissions", params->permissions);
	if (params->has_sandbox)
		mode = enum_wire(&enum_app_sandbox_mode, (int)params->sandbox);
	add_text(options, "sandbox_mode", str_of(mode));
	return 0;
}

static int gather(struct options *options, const struct app_server *server,
                  const struct app_thread_start_params *params, struct error *err)
{
	vec_push(&options->list,
	         STR("show_raw_agent_reasoning=true")); /* clients opt out of the notifications instead */
	for (size_t i = 0; i < server->override_count; i++)
		vec_push(&options->list, server->overrides[i]);
	if (add_config(options, params->config, err) != 0)
		return -(int)err->code;
	add_text(options, "model_provider", params->model_provider);
	add_text(options, "developer_instructions", params->developer_instructions);
	if (params->has_personality)
		add_text(options, "personality", str_of(enum_wire(&enum_personality, (int)params->personality)));
	return add_sandbox(options, params, err);
}

/* A client that asks for a sandbox outside the administrator's limits is refused; another setting of it is replaced
 * with a warning. */
static int check_sandbox(const struct config *config, const struct app_thread_start_params *params, struct error *err)
{
	enum sandbox_mode mode = config->sandbox_mode;
	int value;
	struct config_permission asked;
	auto_arena struct arena arena = {0};
	struct config_binder binder = config_binder(config, &arena);
	if (params->permissions.ptr) {
		if (config_permission_find(config_tree(config), params->permissions, &binder, &asked, err) != 0 ||
		    config_required_check_profile(config_required(config), params->permissions, err) != 0)
			return -(int)err->code;
		mode = asked.mode;
	}
	const char *word = enum_wire(&enum_app_sandbox_mode, (int)params->sandbox);
	if (params->has_sandbox && enum_parse(&enum_sandbox_mode, str_of(word), &value))
		mode = (enum sandbox_mode)value;
	return config_required_check_sandbox(config_required(config), mode, err);
}

/* ---- configurations ---- */

static void write_key(struct buf *out, const struct app_server *server, const char *cwd, const struct options *options)
{
	buf_append_c(out, cwd);
	vec_for_each(option, &server->settings->switches) {
		buf_append_char(out, '\n');
		buf_append_str(out, *option);
	}
	buf_append_char(out, '\n');
	vec_for_each(option, &options->list) {
		buf_append_char(out, '\n');
		buf_append_str(out, *option);
	}
}

static struct kept_config *find(struct thread_configs *configs, struct str key)
{
	struct kept_config *it;
	list_for_each(it, &configs->kept, link) {
		if (str_eq(str_n(it->key, it->key_len), key))
			return it;
	}
	return NULL;
}

static void keep(struct thread_configs *configs, struct str key, struct config *config)
{
	struct kept_config *kept = find(configs, key);
	if (kept)
		kept_destroy(configs, kept);
	if (configs->count >= LIMIT_THREAD_CONFIGS)
		kept_destroy(configs, list_first(&configs->kept, struct kept_config, link));
	kept = xnew(struct kept_config);
	*kept = (struct kept_config){.key = str_dup(key), .key_len = key.len, .config = config_ref(config)};
	list_append(&configs->kept, &kept->link);
	configs->count++;
}

static struct config *load(struct thread_configs *configs, const struct app_server *server, const char *cwd,
                           const struct options *options, struct error *err)
{
	struct buf key;
	struct config_source source = {
		.cwd = cwd,
		.overrides = options->list.items,
		.override_count = options->list.count,
		.defaults = server->settings->switches.items,
		.default_count = server->settings->switches.count,
		.is_strict = server->is_strict,
		.is_watched = true,
	};
	buf_init(&key, LIMIT_LINE);
	write_key(&key, server, cwd, options);
	struct kept_config *kept = find(configs, buf_str(&key));
	bool is_same = kept && !config_files_changed(kept->config);
	struct config *config = is_same ? config_ref(kept->config) : config_load(&source, err);
	if (config && !(kept && kept->config == config))
		keep(configs, buf_str(&key), config);
	buf_finish(&key);
	return config;
}

struct config *thread_config_load(struct thread_configs *configs, const struct app_server *server,
                                  const struct app_thread_start_params *params, const char *cwd, struct error *err)
{
	struct options options = {0};
	buf_init(&options.text, LIMIT_LINE);
	struct config *config = NULL;
	if (gather(&options, server, params, err) == 0) {
		config = load(configs, server, cwd, &options, err);
		if (!config) {
			error_wrap(err, "failed to load configuration");
		} else if (check_sandbox(config, params, err) != 0) {
			config_unref(config);
			config = NULL;
		}
	}
	vec_finish(&options.list);
	buf_finish(&options.text);
	arena_finish(&options.arena);
	return config;
}
