/* A worker builds the list for every request, because reading a few folders is cheap and a cache could be stale.
 * forceReload therefore has no effect. */
#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/settings/config_write.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/settings/process_settings.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "engine/codex/codex.h"
#include "skill/skill_scan.h"

/* ---- skills/list ---- */

struct list_job {
	struct rpc_request *request;
	struct skill_scan_job *scan;
	struct skill_places *places;
};

static struct app_skill_interface *show_interface(const struct skill_interface *from, struct arena *arena)
{
	struct app_skill_interface *to = arena_new(arena, struct app_skill_interface);
	*to = (struct app_skill_interface){
		.display_name = from->display_name,
		.short_description = from->short_description,
		.icon_small = from->icon_small,
		.icon_large = from->icon_large,
		.brand_color = from->brand_color,
		.default_prompt = from->default_prompt,
	};
	return to;
}

static struct app_skill_dependencies *show_dependencies(const struct skill_dependencies *from, struct arena *arena)
{
	struct app_skill_dependencies *to = arena_new(arena, struct app_skill_dependencies);
	to->tools = arena_array(arena, struct app_skill_tool_dependency, from->tools_count);
	to->tools_count = from->tools_count;
	for (size_t i = 0; i < from->tools_count; i++) {
		const struct skill_tool *tool = &from->tools[i];
		to->tools[i] = (struct app_skill_tool_dependency){tool->type,      tool->value,   tool->description,
		                                                  tool->transport, tool->command, tool->url};
	}
	return to;
}

static struct app_skill_metadata show_skill(const struct skill_metadata *from, struct arena *arena)
{
	return (struct app_skill_metadata){
		.name = from->name,
		.description = from->description,
		.short_description = from->short_description,
		.interface = from->interface ? show_interface(from->interface, arena) : NULL,
		.dependencies = from->dependencies ? show_dependencies(from->dependencies, arena) : NULL,
		.path = from->path,
		.scope = from->scope,
		.enabled = from->enabled,
	};
}

static struct app_skills_list_entry show_entry(const struct skills_list_entry *from, struct arena *arena)
{
	struct app_skills_list_entry to = {
		.cwd = from->cwd,
		.skills = arena_array(arena, struct app_skill_metadata, from->skills_count + 1),
		.skills_count = from->skills_count,
		.errors = arena_array(arena, struct app_skill_error_info, from->errors_count + 1),
		.errors_count = from->errors_count,
	};
	for (size_t i = 0; i < from->skills_count; i++)
		to.skills[i] = show_skill(&from->skills[i], arena);
	for (size_t i = 0; i < from->errors_count; i++)
		to.errors[i] = (struct app_skill_error_info){from->errors[i].path, from->errors[i].message};
	return to;
}

static void job_destroy(struct list_job *job)
{
	skill_places_destroy(job->places);
	free(job);
}

static void on_cancel(struct rpc_request *request)
{
	struct list_job *job = request->self;
	skill_scan_cancel(job->scan);
	job_destroy(job);
}

static void on_listed(struct skills_list_entry *entries, size_t count, void *self)
{
	struct list_job *job = self;
	struct arena *arena = &job->request->arena;
	struct app_skills_list_response response = {arena_array(arena, struct app_skills_list_entry, count), count};
	for (size_t i = 0; i < count; i++) {
		response.data[i] = show_entry(&entries[i], arena);
		process_settings_watch_skills(job->request->server->settings, job->places, &entries[i]);
	}
	rpc_reply(job->request, &response);
	job_destroy(job);
}

enum rpc_verdict on_rpc_skills_list(struct rpc_request *request, const struct app_skills_list_params *params)
{
	struct error err;
	struct app_server *server = request->server;
	struct str own = str_of(server->cwd);
	struct config *config = config_view_load(server, NULL, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to reload config: %s", err.text);
	struct list_job *job = xnew(struct list_job);
	job->request = request;
	size_t root_count;
	const struct str *roots = services_skill_roots(server->services, &root_count);
	job->places = skill_places_create(config, roots, root_count);
	config_unref(config);
	job->scan = skill_scan_start(server->loop, job->places, params->cwds_count ? params->cwds : &own,
	                             params->cwds_count ? params->cwds_count : 1, on_listed, job);
	return rpc_wait(request, on_cancel, job);
}

/* ---- skills/extraRoots/set ---- */

enum rpc_verdict on_rpc_skills_extra_roots_set(struct rpc_request *request,
                                               const struct app_skills_extra_roots_set_params *params)
{
	struct app_server *server = request->server;
	struct app_skills_extra_roots_set_response response = {0};
	if (params->extra_roots_count > LIMIT_SKILL_ROOTS)
		return rpc_fail(request, APP_INVALID_PARAMS, "extraRoots: more than %d folders", LIMIT_SKILL_ROOTS);
	services_set_skill_roots(server->services, params->extra_roots, params->extra_roots_count);
	enum rpc_verdict verdict = rpc_reply(request, &response);
	process_settings_skills_changed(server->settings);
	return verdict;
}

/* ---- skills/config/write ---- */

static bool is_text(const struct toml *rule, const char *key, struct str want)
{
	const struct toml *value = toml_get(rule, key);
	return want.ptr && toml_is(value, TOML_string) && str_eq(value->text, want);
}

static void add_value(struct arena *arena, struct toml *rule, const char *key, struct toml value)
{
	struct toml *node = toml_new(arena, value.kind, "skills/config/write", 1);
	if (value.kind == TOML_string)
		node->text = value.text;
	else
		node->boolean = value.boolean;
	toml_add(arena, rule, str_of(key), node);
}

static struct toml *copy_rule(struct arena *arena, const struct toml *from)
{
	struct toml *rule = toml_new(arena, TOML_table, "skills/config/write", 1);
	toml_merge(arena, rule, from);
	return rule;
}

/* Returns the user's rules without those for this skill, plus one that disables it. Skills are enabled by default,
 * which needs no rule. */
static struct toml *make_rules(const struct toml *old, const struct app_skills_config_write_params *params,
                               struct arena *arena)
{
	struct toml *rules = toml_new(arena, TOML_array, "skills/config/write", 1);
	toml_for_each(it, old) {
		if (!is_text(it, "path", params->path) && !is_text(it, "name", params->name))
			toml_append(rules, copy_rule(arena, it));
	}
	if (params->enabled)
		return rules;
	struct toml *rule = toml_new(arena, TOML_table, "skills/config/write", 1);
	bool by_path = params->path.ptr;
	add_value(arena, rule, by_path ? "path" : "name",
	          (struct toml){.kind = TOML_string, .text = by_path ? params->path : params->name});
	add_value(arena, rule, "enabled", (struct toml){.kind = TOML_bool, .boolean = false});
	toml_append(rules, rule);
	return rules;
}

static void reply_effective(struct config_write *write, struct rpc_request *request, const struct config *config)
{
	const struct app_skills_config_write_params *params = request->params;
	struct skill_places *places = skill_places_create(config, NULL, 0);
	auto_free char *path = params->path.ptr ? str_dup(params->path) : NULL;
	auto_free char *real = path ? realpath(path, NULL) : NULL;
	struct app_skills_config_write_response response = {
		skill_places_allow(places, real ? str_of(real) : params->path, params->name)};
	(void)write;
	skill_places_destroy(places);
	rpc_reply(request, &response);
}

enum rpc_verdict on_rpc_skills_config_write(struct rpc_request *request,
                                            const struct app_skills_config_write_params *params)
{
	static const struct str path[] = {{"skills", 6}, {"config", 6}};
	if (!params->path.ptr == !str_trim(params->name).len)
		return rpc_fail(request, APP_INVALID_PARAMS,
		                "skills/config/write requires exactly one of path or name");
	struct config_write *write = config_write_create(request);
	if (config_write_open(write, STR_NONE, STR_NONE) != 0)
		return config_write_refuse(write);
	const struct toml *old = toml_get(toml_get(config_write_root(write), "skills"), "config");
	const struct toml *rules = make_rules(toml_is(old, TOML_array) ? old : NULL, params, &request->arena);
	if (config_write_set(write, path, countof(path), rules->count ? rules : NULL) != 0)
		return config_write_refuse(write);
	return config_write_commit(write, reply_effective);
}
