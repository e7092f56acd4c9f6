/* Detection and import are done by `codex import`, which is in codex-fleet: this program starts itself with that
 * command. An import that has begun ends with its client; each of its files is complete or absent. */
#include <stddef.h>
#include <stdlib.h>

#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/settings/config_view.h"
#include "base/error.h"
#include "base/host.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/uuid.h"
#include "config/config_env.h"
#include "process/process.h"

enum { COMPLAINT_MAX = 4096 };

struct agent_job {
	struct rpc_request *request;
	struct process *process;
	struct buf out, complaint;
	const char *list; /* of the response, NULL: it has an id */
	char import_id[UUID_TEXT_SIZE];
};

static void job_destroy(struct agent_job *job)
{
	process_destroy(job->process);
	buf_finish(&job->out);
	buf_finish(&job->complaint);
	free(job);
}

static void on_cancel(struct rpc_request *request)
{
	struct agent_job *job = request->self;
	bool is_import = !job->list;
	job_destroy(job);
	if (is_import)
		config_view_reload(request->server);
}

static void on_output(enum exec_stream stream, struct str bytes, void *self)
{
	struct agent_job *job = self;
	buf_append_str(stream == exec_stream_stdout ? &job->out : &job->complaint, bytes);
}

/* Sends each line as a notification; the last one ends the import. */
static void notify_lines(struct app_server *server, struct str lines)
{
	struct str line;
	while (str_next_line(&lines, &line)) {
		struct error err;
		auto_arena struct arena arena = {0};
		struct app_external_agent_config_import_progress_notification progress = {0};
		const struct json *json = json_parse(&arena, line, &err);
		if (!json || record_decode(&record_app_external_agent_config_import_progress_notification, json, &arena,
		                           &progress, &err) != 0)
			continue;
		struct app_external_agent_config_import_completed_notification completed = {
			progress.import_id, progress.item_type_results, progress.item_type_results_count};
		if (lines.len)
			app_server_notify(server, NOTIFY_external_agent_config_import_progress, &progress);
		else
			app_server_notify(server, NOTIFY_external_agent_config_import_completed, &completed);
	}
}

static void on_end(const struct process_result *result, void *self)
{
	struct agent_job *job = self;
	struct app_server *server = job->request->server;
	struct app_external_agent_config_import_response imported = {str_of(job->import_id)};
	const union {
		struct app_external_agent_config_detect_response detected;
		struct app_external_agent_config_import_histories_read_response histories;
	} empty = {0};
	struct str complaint = str_trim(buf_str(&job->complaint));
	if (!job->list)
		config_view_reload(server); /* also after a failure: a part may be done */
	if (result->error) {
		rpc_fail_with(job->request, result->error);
	} else if (result->exit_code != 0 || job->out.over) {
		rpc_fail(job->request, APP_INVALID_REQUEST, "%.*s",
		         STR_ARG(complaint.len ? complaint : STR("codex import was ended")));
	} else if (job->list) {
		rpc_reply_with_items(job->request, &empty, job->list, &job->out);
	} else {
		rpc_reply(job->request, &imported);
		notify_lines(server, buf_str(&job->out));
	}
	job_destroy(job);
}

/* The parameters are encoded again, as they were understood. */
static void write_request(const struct rpc_request *request, const char *import_id, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_member_str(&w, "method", request->method->wire);
	jw_member_cstr(&w, "importId", import_id);
	jw_key(&w, "params");
	record_encode(request->method->params, request->params, &w);
	jw_object_end(&w);
}

/* list: the list of the response, or NULL if it is the id of an import. */
static enum rpc_verdict start(struct rpc_request *request, const char *list)
{
	static const struct process_handler handler = {.on_output = on_output, .on_end = on_end};
	const char *const argv[] = {host_program(), "import", "--rpc", NULL};
	const struct process_spec spec = {.argv = argv,
	                                  .env = config_env_all(),
	                                  .stdin_open = true,
	                                  .stdin_most = LIMIT_IMPORT_TEXT,
	                                  .drain_ms = PROCESS_DRAIN_MS};
	auto_buf struct buf text;
	struct error err;
	struct agent_job *job = xnew(struct agent_job);
	buf_init(&job->out, LIMIT_IMPORT_TEXT);
	buf_init(&job->complaint, COMPLAINT_MAX);
	buf_init(&text, LIMIT_IMPORT_TEXT);
	uuid_v7(job->import_id);
	write_request(request, job->import_id, &text);
	job->list = list;
	job->request = request;
	int status = text.over ? error_set(&err, ERR_limit, "the request is larger than %d MiB",
	                                   (int)(LIMIT_IMPORT_TEXT / MIB))
	                       : 0;
	job->process = status == 0 ? process_start(request->server->loop, &spec, &handler, job, &err) : NULL;
	if (!job->process || process_write_stdin(job->process, buf_str(&text), &err) != 0) {
		job_destroy(job);
		return rpc_fail_with(request, &err);
	}
	process_close_stdin(job->process);
	return rpc_wait(request, on_cancel, job);
}

enum rpc_verdict on_rpc_external_agent_config_detect(struct rpc_request *request,
                                                     const struct app_external_agent_config_detect_params *params)
{
	if (params->cwds_count > LIMIT_IMPORT_ITEMS)
		return rpc_fail(request, APP_INVALID_REQUEST, "cwds: more than %d folders", LIMIT_IMPORT_ITEMS);
	return start(request, "result.items");
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
	return start(request, NULL);
}

/* ---- history ---- */

enum rpc_verdict on_rpc_external_agent_config_import_record_history(
	struct rpc_request *request, const struct app_external_agent_config_import_history_record_params *params)
{
	(void)params;
	return start(request, NULL);
}

enum rpc_verdict on_rpc_external_agent_config_import_read_histories(struct rpc_request *request,
                                                                    const struct app_nothing *params)
{
	(void)params;
	return start(request, "result.data");
}
