/* Detection and import are done by `codex import`, which is in codex-fleet. An import is answered by the first line,
 * which is empty and says that it has begun; each further one is a notification as it arrives, and the last one, which
 * is marked, ends the import. One import runs at a time. It ends with its client; each of its files is complete or
 * absent. */
#include <stddef.h>
#include <string.h>

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

static const struct fleet_job_type listing = {
	.word = "import", .most = LIMIT_IMPORT_TEXT, .most_ms = LIMIT_FLEET_READ_MS, .on_result = on_list};

/* ---- the course of an import ---- */

/* In the arena of the job. The results are kept for an import that fails. */
struct course {
	enum app_external_agent_config_migration_item_type *items; /* of the request */
	struct app_external_agent_config_import_type_result *results;
	size_t item_count, result_count, kept; /* kept: bytes of their lines */
	bool is_completed;
};

static void begin(struct fleet_job *job)
{
	const struct app_external_agent_config_import_params *params = job->request->params;
	const struct app_external_agent_config_import_response imported = {str_of(job->id)};
	struct course *course = arena_new(&job->arena, struct course);
	course->item_count = params->migration_items_count;
	course->items =
		arena_array(&job->arena, enum app_external_agent_config_migration_item_type, course->item_count + 1);
	course->results =
		arena_array(&job->arena, struct app_external_agent_config_import_type_result, course->item_count + 1);
	for (size_t i = 0; i < course->item_count; i++)
		course->items[i] = params->migration_items[i].item_type;
	job->self = course;
	fleet_job_reply(job, &imported);
}

/* Keeps the results of an item, unless all are too large together: then only that there were some. */
static void keep(struct fleet_job *job, const struct json *json, size_t size)
{
	struct error ignored;
	struct course *course = job->self;
	struct app_external_agent_config_import_progress_notification line = {0};
	bool fits = (course->kept += size) <= LIMIT_IMPORT_TEXT;
	if (course->result_count == course->item_count)
		return;
	struct app_external_agent_config_import_type_result *to = &course->results[course->result_count];
	*to = (struct app_external_agent_config_import_type_result){.item_type = course->items[course->result_count]};
	course->result_count++;
	if (fits &&
	    record_decode(&record_app_external_agent_config_import_progress_notification, json, &job->arena, &line,
	                  &ignored) == 0 &&
	    line.item_type_results_count == 1)
		*to = line.item_type_results[0];
}

static void on_line(struct fleet_job *job, struct str line)
{
	struct error err;
	auto_arena struct arena arena = {0};
	struct app_external_agent_config_import_progress_notification progress = {0};
	if (job->request)
		begin(job);
	struct course *course = job->self;
	const struct json *json = line.len && !course->is_completed ? json_parse(&arena, line, &err) : NULL;
	if (!json || record_decode(&record_app_external_agent_config_import_progress_notification, json, &arena,
	                           &progress, &err) != 0)
		return;
	const struct app_external_agent_config_import_completed_notification completed = {
		progress.import_id, progress.item_type_results, progress.item_type_results_count};
	if (!json_get_bool(json, "isLast", false)) {
		keep(job, json, line.len);
		app_server_notify(job->server, NOTIFY_external_agent_config_import_progress, &progress);
		return;
	}
	course->is_completed = true;
	job->server->import = NULL;
	config_view_reload(job->server); /* a client may read the configuration at once */
	app_server_notify(job->server, NOTIFY_external_agent_config_import_completed, &completed);
}

/* Clients wait for the end of an import that has begun. It has the results so far, and the reason as a failure of the
 * first item without one. */
static void complete(struct fleet_job *job, const char *complaint)
{
	struct course *course = job->self;
	size_t at = course->result_count;
	struct app_external_agent_config_import_item_type_failure failure = {.failure_stage = STR("import"),
	                                                                     .message = str_of(complaint)};
	if (course->is_completed)
		return;
	if (at && at == course->item_count)
		at--;
	failure.item_type = course->items[at];
	struct app_external_agent_config_import_type_result *result = &course->results[course->result_count];
	*result = (struct app_external_agent_config_import_type_result){
		.failures = &failure, .failures_count = 1, .item_type = failure.item_type};
	const struct app_external_agent_config_import_completed_notification completed = {
		str_of(job->id), course->results, course->result_count + 1};
	app_server_notify(job->server, NOTIFY_external_agent_config_import_completed, &completed);
}

static void on_failure(struct fleet_job *job, const char *complaint)
{
	if (job->request)
		rpc_fail(job->request, APP_INVALID_REQUEST, "%s", complaint);
	else
		complete(job, complaint);
}

/* An import of nothing, and the record of another one, print no line. */
static void on_done(struct fleet_job *job)
{
	const struct app_external_agent_config_import_response imported = {str_of(job->id)};
	if (job->request)
		rpc_reply(job->request, &imported);
	else
		complete(job, "codex import printed no last line");
}

static const struct fleet_job_type importing = {
	.word = "import",
	.most = LIMIT_IMPORT_TEXT,
	.most_ms = LIMIT_FLEET_JOB_MS,
	.changes = true,
	.on_line = on_line,
	.on_result = on_done,
	.on_failure = on_failure,
};
static const struct fleet_job_type recording = {
	.word = "import", .most = LIMIT_IMPORT_TEXT, .most_ms = LIMIT_FLEET_READ_MS, .on_result = on_done};

enum rpc_verdict on_rpc_external_agent_config_detect(struct rpc_request *request,
                                                     const struct app_external_agent_config_detect_params *params)
{
	if (params->cwds_count > LIMIT_IMPORT_ITEMS)
		return rpc_fail(request, APP_INVALID_REQUEST, "cwds: more than %d folders", LIMIT_IMPORT_ITEMS);
	if (params->max_sessions < 0 || params->max_session_age_days < 0)
		return rpc_fail(request, APP_INVALID_REQUEST, "maxSessions and maxSessionAgeDays cannot be negative");
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
	LIST_OF(sessions, sessions),
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
	if (request->server->import)
		return rpc_fail(
			request, APP_INVALID_REQUEST,
			"1 import runs, and no more run at a time: wait for externalAgentConfig/import/completed");
	enum rpc_verdict verdict = fleet_job_start(request, &importing, NULL);
	if (verdict == RPC_WAIT)
		request->server->import = request->self;
	return verdict;
}

/* ---- history ---- */

enum rpc_verdict on_rpc_external_agent_config_import_record_history(
	struct rpc_request *request, const struct app_external_agent_config_import_history_record_params *params)
{
	(void)params;
	return fleet_job_start(request, &recording, NULL);
}

enum rpc_verdict on_rpc_external_agent_config_import_read_histories(struct rpc_request *request,
                                                                    const struct app_nothing *params)
{
	(void)params;
	return fleet_job_start(request, &listing, "result.data");
}
