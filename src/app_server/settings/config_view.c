/* Each merged value keeps its source, so origins are read from the merged tree. A layer's version is a hash of its
 * values, not of its bytes, so that an added comment causes no conflict. */
#include "app_server/settings/config_view.h"

#include "app_server/rpc/server.h"
#include "app_server/settings/process_settings.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/sha.h"
#include "config/toml/toml_text.h"

int config_view_check(const struct str *user_text, struct error *err)
{
	struct config_source source = {.user_text = user_text, .ignore_project = true};
	struct config *config = config_load(&source, err);
	config_unref(config);
	return config ? 0 : -(int)err->code;
}

struct config *config_view_load(struct app_server *server, const char *cwd, const struct str *user_text,
                                struct error *err)
{
	struct config_source source = {
		.cwd = cwd,
		.overrides = server->overrides,
		.override_count = server->override_count,
		.defaults = server->settings->switches.items,
		.default_count = server->settings->switches.count,
		.user_text = user_text,
		.ignore_project = !cwd,
	};
	return config_load(&source, err);
}

void config_view_reload(struct app_server *server)
{
	struct config *config = config_view_load(server, server->cwd, NULL, NULL);
	if (!config)
		return;
	config_unref(server->config);
	server->config = config;
}

struct str config_version(const struct toml *root, struct arena *arena)
{
	auto_buf struct buf json;
	char text[SHA256_TEXT_SIZE];
	buf_init(&json, LIMIT_CONFIG_JSON);
	struct json_writer w = json_writer(&json);
	toml_to_sorted_json(&w, root);
	sha256_text(buf_str(&json), text);
	return str_of(arena_printf(arena, "sha256:%s", text));
}

/* ---- layers ---- */

static struct app_config_layer_source user_source(struct arena *arena, struct str file, struct str profile)
{
	struct app_config_layer_user *user = arena_new(arena, struct app_config_layer_user);
	*user = (struct app_config_layer_user){file, profile};
	return (struct app_config_layer_source){.tag = app_config_layer_source_user, .user = user};
}

static struct app_config_layer_source project_source(struct arena *arena, const char *file)
{
	struct app_config_layer_project *project = arena_new(arena, struct app_config_layer_project);
	project->dot_codex_folder = path_dir(file);
	return (struct app_config_layer_source){.tag = app_config_layer_source_project, .project = project};
}

static struct app_config_layer_source system_source(struct arena *arena, const char *file)
{
	struct app_config_layer_system *system = arena_new(arena, struct app_config_layer_system);
	system->file = str_of(file);
	return (struct app_config_layer_source){.tag = app_config_layer_source_system, .system = system};
}

/* The administrator's files, which precede all other layers. */
static struct app_config_layer_source admin_source(struct arena *arena, const char *file)
{
	struct app_config_layer_managed *admin = arena_new(arena, struct app_config_layer_managed);
	admin->file = str_of(file);
	return (struct app_config_layer_source){
		.tag = app_config_layer_source_legacy_managed_config_toml_from_file,
		.legacy_managed_config_toml_from_file = admin,
	};
}

static void push(struct layer_views *views, struct arena *arena, struct app_config_layer_source name,
                 const struct toml *root, const char *source)
{
	struct app_config_layer_source *copy = arena_new(arena, struct app_config_layer_source);
	*copy = name;
	vec_push(&views->items, (struct layer_view){{copy, config_version(root, arena)}, root, source});
}

/* All options form one layer. */
static void push_flags(struct layer_views *views, struct arena *arena, const struct config_layer *layers, size_t count)
{
	struct toml *merged = toml_new(arena, TOML_table, "-c", 1);
	for (size_t i = 0; i < count; i++) {
		if (layers[i].kind == CONFIG_LAYER_option || layers[i].kind == CONFIG_LAYER_flag)
			toml_merge(arena, merged, layers[i].root);
	}
	if (merged->child)
		push(views, arena, (struct app_config_layer_source){.tag = app_config_layer_source_session_flags},
		     merged, "-c");
}

/* Adds a profile. One that is a table of config.toml belongs to that file's layer. */
static void push_profile(struct layer_views *views, struct arena *arena, const struct config *config,
                         const struct config_layer *layer)
{
	auto_free char *user = path_join(config_home(config), "config.toml");
	if (!str_is(str_of(user), layer->root->source))
		push(views, arena, user_source(arena, str_of(layer->root->source), str_of(config_profile(config))),
		     layer->root, layer->root->source);
}

static void push_kind(struct layer_views *views, struct arena *arena, const struct config *config,
                      enum config_layer_kind kind)
{
	size_t count, before = views->items.count;
	const struct config_layer *layers = config_layers(config, &count);
	for (size_t i = count; i-- > 0;) {
		const struct config_layer *it = &layers[i];
		const char *file = it->root->source;
		if (it->kind != kind)
			continue;
		if (kind == CONFIG_LAYER_project)
			push(views, arena, project_source(arena, file), it->root, file);
		else if (kind == CONFIG_LAYER_profile)
			push_profile(views, arena, config, it);
		else if (kind == CONFIG_LAYER_user)
			push(views, arena, user_source(arena, str_of(file), STR_NONE), it->root, file);
		else if (kind == CONFIG_LAYER_managed || kind == CONFIG_LAYER_fixed)
			push(views, arena, admin_source(arena, file), it->root, file);
		else
			push(views, arena, system_source(arena, file), it->root, file);
	}
	if (views->items.count > before || (kind != CONFIG_LAYER_user && kind != CONFIG_LAYER_system))
		return;
	/* The user's and the system's file are layers even if they do not exist. */
	const struct toml *nothing = toml_new(arena, TOML_table, "", 1);
	const char *user = arena_printf(arena, "%s/config.toml", config_home(config));
	push(views, arena,
	     kind == CONFIG_LAYER_user ? user_source(arena, str_of(user), STR_NONE)
	                               : system_source(arena, "/etc/codex/config.toml"),
	     nothing, "");
}

void layer_views_init(struct layer_views *views, const struct config *config, struct arena *arena)
{
	size_t count;
	const struct config_layer *layers = config_layers(config, &count);
	*views = (struct layer_views){0};
	push_kind(views, arena, config, CONFIG_LAYER_fixed);
	push_kind(views, arena, config, CONFIG_LAYER_managed);
	push_flags(views, arena, layers, count);
	push_kind(views, arena, config, CONFIG_LAYER_project);
	push_kind(views, arena, config, CONFIG_LAYER_profile);
	push_kind(views, arena, config, CONFIG_LAYER_user);
	push_kind(views, arena, config, CONFIG_LAYER_system);
}

void layer_views_finish(struct layer_views *views)
{
	vec_finish(&views->items);
}

const struct layer_view *layer_views_user(const struct layer_views *views)
{
	const struct layer_view *found = NULL;
	vec_for_each(it, &views->items) {
		if (it->metadata.name->tag == app_config_layer_source_user && !it->metadata.name->user->profile.ptr)
			found = it;
	}
	return found;
}

const struct layer_view *layer_views_find(const struct layer_views *views, const struct toml *node)
{
	vec_for_each(it, &views->items) {
		if (str_is(str_of(it->source), node->source))
			return it;
	}
	return NULL;
}

/* ---- permission profiles ---- */

static const struct {
	const char *name;
	enum sandbox_mode mode;
} profiles[] = {
	{":read-only", sandbox_mode_read_only},
	{":workspace", sandbox_mode_workspace_write},
	{":danger-full-access", sandbox_mode_danger_full_access},
};

const char *permission_profile_at(size_t index)
{
	return index < countof(profiles) ? profiles[index].name : NULL;
}

const char *permission_profile_of(enum sandbox_mode mode)
{
	for (size_t i = 0; i < countof(profiles); i++) {
		if (profiles[i].mode == mode)
			return profiles[i].name;
	}
	return NULL;
}

int permission_profile_find(struct str name, enum sandbox_mode *ret_mode, struct error *err)
{
	for (size_t i = 0; i < countof(profiles); i++) {
		if (!str_is(name, profiles[i].name))
			continue;
		*ret_mode = profiles[i].mode;
		return 0;
	}
	return error_set(err, ERR_config,
	                 "unknown permission profile `%.*s`: the built-in ones are :read-only, :workspace and "
	                 ":danger-full-access",
	                 STR_ARG(name));
}
