/* Lists features, collaboration modes and permission profiles. A switch of experimentalFeature/enablement/set has
 * the lowest precedence of all settings and lasts until the process ends. */
#include <stdio.h>
#include <stdlib.h>

#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "app_server/rpc/rpc_request.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "app_server/threads/thread_policy.h"
#include "app_server/settings/process_settings.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config_permission.h"
#include "config/config_required.h"

/* ---- pages ---- */

struct page {
	size_t start, count;
	char next[32]; /* "" on the last page */
};

/* Finds the page. The cursor is a decimal offset. */
static const struct rpc_error *find_page(struct arena *arena, struct str cursor, bool has_limit, int64_t limit,
                                         size_t total, const char *noun, struct page *ret)
{
	uint64_t start = 0;
	*ret = (struct page){0};
	if (cursor.ptr && !str_to_u64(cursor, &start))
		return rpc_error(arena, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(cursor));
	if (has_limit && limit < 0)
		return rpc_error(arena, APP_INVALID_REQUEST,
		                 "Invalid request: invalid value: integer `%lld`, expected u32", (long long)limit);
	if (start > total)
		return rpc_error(arena, APP_INVALID_REQUEST, "cursor %llu exceeds total %s %zu",
		                 (unsigned long long)start, noun, total);
	ret->start = (size_t)start;
	ret->count = total - ret->start;
	if (has_limit && (uint64_t)limit < ret->count)
		ret->count = limit ? (size_t)limit : 1;
	if (ret->start + ret->count < total)
		snprintf(ret->next, sizeof(ret->next), "%zu", ret->start + ret->count);
	return NULL;
}

static struct str next_cursor(const struct page *page)
{
	return page->next[0] ? str_of(page->next) : STR_NONE;
}

/* ---- features ---- */

enum feature_stage { FEATURE_stable, FEATURE_experimental, FEATURE_inert };

static const struct feature_row {
	const char *name;
	size_t offset; /* offset of the flag in struct config_features */
	bool is_on;
	enum feature_stage stage;
	const char *doc;
} features[] = {
#define FEATURE(key, is_on, stage, doc) {#key, offsetof(struct config_features, key), is_on, FEATURE_##stage, doc},
#include "config/feature.def"
#undef FEATURE
};

/* Describes a feature. One without effect in this version is shown as disabled. */
static struct app_experimental_feature show_feature(const struct feature_row *row, const struct config *config)
{
	static const enum app_experimental_feature_stage stages[] = {
		[FEATURE_stable] = app_experimental_feature_stage_stable,
		[FEATURE_experimental] = app_experimental_feature_stage_beta,
		[FEATURE_inert] = app_experimental_feature_stage_under_development,
	};
	bool is_on = *(const bool *)((const char *)&config->features + row->offset);
	return (struct app_experimental_feature){
		.name = str_of(row->name),
		.stage = stages[row->stage],
		.description = str_of(row->doc),
		.enabled = is_on && row->stage != FEATURE_inert,
		.default_enabled = row->is_on && row->stage != FEATURE_inert,
	};
}

enum rpc_verdict on_rpc_experimental_feature_list(struct rpc_request *request,
                                                  const struct app_experimental_feature_list_params *params)
{
	struct app_experimental_feature shown[countof(features)];
	struct page page;
	struct error err;
	const struct thread *thread = params->thread_id.ptr ? threads_find(request->server, params->thread_id) : NULL;
	if (params->thread_id.ptr && !thread)
		return rpc_refuse(request, threads_not_found(request, params->thread_id));
	struct config *config =
		thread ? config_ref(thread->config) : config_view_load(request->server, NULL, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to reload config: %s", err.text);
	for (size_t i = 0; i < countof(features); i++)
		shown[i] = show_feature(&features[i], config);
	config_unref(config);
	const struct rpc_error *error = find_page(&request->arena, params->cursor, params->has_limit, params->limit,
	                                          countof(features), "feature flags", &page);
	if (error)
		return rpc_refuse(request, error);
	struct app_experimental_feature_list_response response = {shown + page.start, page.count, next_cursor(&page)};
	return rpc_reply(request, &response);
}

static const struct feature_row *find_feature(struct str name)
{
	for (size_t i = 0; i < countof(features); i++) {
		if (str_is(name, features[i].name))
			return &features[i];
	}
	return NULL;
}

static int check_switches(const struct json *switches, struct error *err)
{
	if (!json_is(switches, JSON_object))
		return error_set(err, ERR_invalid, "expected a map");
	json_for_each(it, switches) {
		if (it->type != JSON_bool)
			return error_set(err, ERR_invalid, "invalid type: %s `%.*s`, expected a boolean",
			                 json_type_name(it->type), STR_ARG(it->span));
	}
	return 0;
}

/* Sets features. The response omits unknown ones and those without effect. */
enum rpc_verdict
on_rpc_experimental_feature_enablement_set(struct rpc_request *request,
                                           const struct app_experimental_feature_enablement_set_params *params)
{
	auto_buf struct buf out;
	struct error err;
	const struct json *switches = json_parse(&request->arena, params->enablement, &err);
	buf_init(&out, LIMIT_RPC_ERROR);
	if (!switches || check_switches(switches, &err) != 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "Invalid request: %s", err.text);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	json_for_each(it, switches) {
		const struct feature_row *feature = find_feature(it->key);
		if (!feature || feature->stage == FEATURE_inert)
			continue;
		process_settings_switch(request->server->settings, feature->name, it->boolean);
		jw_member_bool(&w, feature->name, it->boolean);
	}
	jw_object_end(&w);
	config_view_reload(request->server);
	struct app_experimental_feature_enablement_set_response response = {buf_str(&out)};
	return rpc_reply(request, &response);
}

/* ---- modes and permission profiles ---- */

enum rpc_verdict on_rpc_collaboration_mode_list(struct rpc_request *request,
                                                const struct app_collaboration_mode_list_params *params)
{
	struct app_collaboration_mode_mask modes[] = {
		{.name = STR("Plan"),
	         .mode = mode_kind_plan,
	         .has_mode = true,
	         .reasoning__effort = reasoning_effort_medium,
	         .has_reasoning__effort = true},
		{.name = STR("Default"), .has_mode = true, .mode = mode_kind_default},
	};
	struct app_collaboration_mode_list_response response = {modes, countof(modes)};
	(void)params;
	return rpc_reply(request, &response);
}

/* True if the sandbox can keep the profile, and the administrator permits it. */
static bool permits(const struct config *config, struct str name, const struct config_binder *binder)
{
	struct error err;
	struct config_permission profile;
	const struct config_required *required = config_required(config);
	return config_permission_find(config_tree(config), name, binder, &profile, &err) == 0 &&
	       config_required_check_profile(required, name, &err) == 0 &&
	       config_required_check_sandbox(required, profile.mode, &err) == 0;
}

/* Lists the profiles. One that cannot be used is listed as not allowed. */
enum rpc_verdict on_rpc_permission_profile_list(struct rpc_request *request,
                                                const struct app_permission_profile_list_params *params)
{
	VEC(struct app_permission_profile_summary) profiles = {0};
	struct page page;
	struct error err;
	auto_free char *cwd = params->cwd.ptr ? path_join(request->server->cwd, params->cwd.ptr) : NULL;
	struct config *config = config_view_load(request->server, cwd, NULL, &err);
	if (!config)
		return rpc_fail(request, APP_INTERNAL_ERROR, "failed to load configuration: %s", err.text);
	struct config_binder binder = config_binder(config, &request->arena);
	for (size_t i = 0; permission_profile_at(i); i++)
		vec_push(&profiles, (struct app_permission_profile_summary){
					    str_of(permission_profile_at(i)), STR_NONE,
					    permits(config, str_of(permission_profile_at(i)), &binder)});
	toml_for_each(it, toml_get(config_tree(config), "permissions")) {
		const struct toml *about = toml_get(it, "description");
		struct str text = toml_is(about, TOML_string) ? about->text : STR_NONE;
		vec_push(&profiles,
		         (struct app_permission_profile_summary){it->key, text, permits(config, it->key, &binder)});
	}
	const struct rpc_error *error = find_page(&request->arena, params->cursor, params->has_limit, params->limit,
	                                          profiles.count, "permission profiles", &page);
	struct app_permission_profile_list_response response = {profiles.items + page.start, page.count,
	                                                        next_cursor(&page)};
	enum rpc_verdict verdict = error ? rpc_refuse(request, error) : rpc_reply(request, &response);
	vec_finish(&profiles);
	config_unref(config);
	return verdict;
}
