/* Detection and import are done by `codex import`, which is in codex-fleet. An import is answered when its first line
 * arrives, and each line is a notification as it arrives; the last one, which is marked, ends the import. An import
 * that has begun ends with its client; each of its files is complete or absent. */
#include <stddef.h>

#include "app_server/host/fleet_job.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"

static void on_list(struct fleet_job *job)
{
	const union {
		struct app_external_agent_config_detect_response detected;
		struct app_external_agent_config_import_histories_read_response histories;
	} empty = {0};
	rpc_reply_with_items(job->request, &empty, job->list, &job->out);
}

static const struct fleet_job_type listing = {.word = "import", .most = LIMIT_IMPORT_TEXT, .on_result = on_list};

/* ---- the course of an import ---- */

static void on_line(struct fleet_job *job, struct str line)
{
	struct error err;
	auto_arena struct arena arena = {0};
	const struct app_external_agent_config_import_response imported = {str_of(job->id)};
	struct app_external_agent_config_import_progress_notification progress = {0};
	const struct json *json = json_parse(&arena, line, &err);
	if (job->request)
		fleet_job_reply(job, &imported);
	if (!json || record_decode(&record_app_external_agent_config_import_progress_notification, json, &arena,
	                           &progress, &err) != 0)
		return;
	struct app_external_agent_config_import_completed_notification completed = {
		progress.import_id, progress.item_type_results, progress.item_type_results_count};
	if (!json_get_bool(json, "isLast", false)) {
		app_server_notify(job->server, NOTIFY_external_agent_config_import_progress, &progress);
		return;
	}
	config_view_reload(job->server); /* a client may read the configuration at once */
	app_server_notify(job->server, NOTIFY_external_agent_config_import_completed, &completed);
}

/* An import of nothing prints no line. */
static void on_imported(struct fleet_job *job)
{
	const struct app_external_agent_config_import_response imported = {str_of(job->id)};
	if (job->request)
		rpc_reply(job->request, &imported);
}

/* Clients wait for the end of an import that has begun: it has the reason as a failure. */
static void on_failure(struct fleet_job *job, const char *complaint)
{
	if (job->request) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "%s", complaint);
		return;
	}
	const enum app_external_agent_config_migration_item_type type =
		app_external_agent_config_migration_item_type_config;
	struct app_external_agent_config_import_item_type_failure failure = {
		.failure_stage = STR("import"), .item_type = type, .message = str_of(complaint)};
	struct app_external_agent_config_import_type_result result = {
		.failures = &failure, .failures_count = 1, .item_type = type};
	const struct app_external_agent_config_import_completed_notification completed = {str_of(job->id), &result, 1};
	app_server_notify(job->server, NOTIFY_external_agent_config_import_completed, &completed);
}

static const struct fleet_job_type importing = {
	.word = "import",
	.most = LIMIT_IMPORT_TEXT,
	.changes = true,
	.on_line = on_line,
	.on_result = on_imported,
	.on_failure = on_failure,
};

enum rpc_verdict on_rpc_external_agent_config_detect(struct rpc_request *request,
                                                     const struct app_external_agent_config_detect_params *params)
{
	if (params->cwds_count > LIMIT_IMPORT_ITEMS)
		return rpc_fail(request, APP_INVALID_REQUEST, "cwds: more than %d folders", LIMIT_IMPORT_ITEMS);
	return fleet_job_start(request, &listing, "result.items");
}

/* ---- import ---- */

/* The place of the names of the parts of a type in the details. */
static const struct {
	enum app_external_agent_config_migration_item_type type;
	size_t list;
} lists[] = {
#define LIST_OF(type, field)                                                                                        \
	{                                                                                                           \
		app_external_agent_config_migration_item_type_##type, offsetof(struct app_migration_details, field) \
	}
	LIST_OF(mcp_server_config, mcp_servers),
	LIST_OF(hooks, hooks),
	LIST_OF(skills, skills),
	LIST_OF(commands, commands),
	LIST_OF(subagents, subagents),
};

/* Details without the list of the type mean all parts; an empty list means none. */
static bool has_list(const struct app_external_agent_config_migration_item *item)
{
	const void *list = NULL;
	for (size_t i = 0; i < countof(lists); i++)
		if (lists[i].type == item->item_type)
			list = *(void *const *)((const char *)item->details + lists[i].list);
	return list;
}

enum rpc_verdict on_rpc_external_agent_config_import(struct rpc_request *request,
                                                     const struct app_external_agent_config_import_params *params)
{
	if (params->migration_items_count > LIMIT_IMPORT_ITEMS)
		return rpc_fail(request, APP_INVALID_REQUEST, "migrationItems: more than %d items", LIMIT_IMPORT_ITEMS);
	for (size_t i = 0; i < params->migration_items_count; i++) {
		struct app_external_agent_config_migration_item *item = &params->migration_items[i];
		if (item->item_type == app_external_agent_config_migration_item_type_memory)
			return rpc_fail(request, APP_INVALID_REQUEST, "external agent memory import is disabled");
		if (item->details && !has_list(item))
			item->details = NULL;
	}
	return fleet_job_start(request, &importing, NULL);
}

/* ---- history ---- */

enum rpc_verdict on_rpc_external_agent_config_import_record_history(
	struct rpc_request *request, const struct app_external_agent_config_import_history_record_params *params)
{
	(void)params;
	return fleet_job_start(request, &importing, NULL);
}

enum rpc_verdict on_rpc_external_agent_config_import_read_histories(struct rpc_request *request,
                                                                    const struct app_nothing *params)
{
	(void)params;
	return fleet_job_start(request, &listing, "result.data");
}
