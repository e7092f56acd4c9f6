/* hooks/list reads the files each time, as the next thread will. A folder whose configuration cannot be loaded has an
 * error instead of hooks. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "base/error.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/hook_config.h"

static struct app_hook_metadata show(const struct hook *hook, struct arena *arena)
{
	struct app_hook_metadata_command *to = arena_new(arena, struct app_hook_metadata_command);
	*to = (struct app_hook_metadata_command){
		.current_hash = arena_str(arena, str_of(hook->hash)),
		.display_order = hook->order,
		.enabled = hook->is_enabled,
		.event_name = (enum app_hook_event_name)hook->event,
		.is_managed = hook->trust == app_hook_trust_status_managed,
		.key = arena_str(arena, str_of(hook->key)),
		.source = (enum app_hook_source)hook->source,
		.source_path = arena_str(arena, str_of(hook->path)),
		.timeout_sec = hook->timeout_s,
		.trust_status = hook->trust,
		.command = arena_str(arena, str_of(hook->command)),
		.matcher = arena_str(arena, str_of(hook->matcher)),
		.status_message = arena_str(arena, str_of(hook->status_message)),
		.async = hook->is_async,
	};
	return (struct app_hook_metadata){.tag = app_hook_metadata_command, .command = to};
}

static void fill(struct app_hooks_list_entry *entry, const struct config *config, struct arena *arena)
{
	struct hook_config hooks;
	hook_config_init(&hooks, config);
	entry->hooks = arena_array(arena, struct app_hook_metadata, hooks.list.hooks.count + 1);
	entry->warnings = arena_array(arena, struct str, hooks.list.warnings.count + 1);
	entry->errors = arena_array(arena, struct app_hook_error_info, hooks.errors.count + 1);
	vec_for_each(hook, &hooks.list.hooks)
		entry->hooks[entry->hooks_count++] = show(hook, arena);
	vec_for_each(warning, &hooks.list.warnings)
		entry->warnings[entry->warnings_count++] = arena_str(arena, str_of(*warning));
	vec_for_each(error, &hooks.errors)
		entry->errors[entry->errors_count++] = (struct app_hook_error_info){
			arena_str(arena, str_of(error->message)), arena_str(arena, str_of(error->path))};
	hook_config_finish(&hooks);
}

static struct app_hooks_list_entry entry_of(struct app_server *server, struct str cwd, struct arena *arena)
{
	struct error err;
	struct app_hooks_list_entry entry = {.cwd = arena_str(arena, cwd)};
	auto_free char *folder = path_join(server->cwd, arena_cstr(arena, cwd));
	struct config *config = config_view_load(server, folder, NULL, &err);
	if (config) {
		fill(&entry, config, arena);
		config_unref(config);
		return entry;
	}
	entry.errors = arena_new(arena, struct app_hook_error_info);
	entry.errors[0] = (struct app_hook_error_info){arena_str(arena, str_of(err.text)), entry.cwd};
	entry.errors_count = 1;
	return entry;
}

enum rpc_verdict on_rpc_hooks_list(struct rpc_request *request, const struct app_hooks_list_params *params)
{
	struct app_server *server = request->server;
	struct str own = str_of(server->cwd);
	const struct str *folders = params->cwds_count ? params->cwds : &own;
	size_t count = params->cwds_count ? params->cwds_count : 1;
	if (count > LIMIT_SEARCH_ROOTS)
		return rpc_fail(request, APP_INVALID_PARAMS, "cwds: more than %d folders", LIMIT_SEARCH_ROOTS);
	struct app_hooks_list_response response = {arena_array(&request->arena, struct app_hooks_list_entry, count),
	                                           count};
	for (size_t i = 0; i < count; i++)
		response.data[i] = entry_of(server, folders[i], &request->arena);
	return rpc_reply(request, &response);
}
