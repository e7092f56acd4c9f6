/* `codex plugin`, which is in codex-fleet, serves these methods (ui/market/market_rpc.h) and prints the result. Its
 * changes count for threads that start later. */
#include "app_server/host/fleet_job.h"
#include "app_server/rpc/server.h"
#include "base/limits.h"
#include "config/config.h"

static void on_result(struct fleet_job *job)
{
	rpc_reply_json(job->request, buf_str(&job->out));
}

/* Editors ask for lists when they start: without codex-fleet they are empty, if there are no marketplaces either. */
static void on_list_failure(struct fleet_job *job, const char *complaint)
{
	struct rpc_request *request = job->request;
	if (!job->is_missing || config_find(job->server->config, "marketplaces"))
		rpc_fail(request, APP_INVALID_REQUEST, "%s", complaint);
	else
		rpc_reply(request, arena_alloc(&request->arena, request->method->result->size));
}

static const struct fleet_job_type listing = {.word = "plugin",
                                              .most = LIMIT_IMPORT_TEXT,
                                              .most_ms = LIMIT_FLEET_READ_MS,
                                              .on_result = on_result,
                                              .on_failure = on_list_failure};
static const struct fleet_job_type reading = {
	.word = "plugin", .most = LIMIT_IMPORT_TEXT, .most_ms = LIMIT_FLEET_READ_MS, .on_result = on_result};
static const struct fleet_job_type changing = {.word = "plugin",
                                               .most = LIMIT_IMPORT_TEXT,
                                               .most_ms = LIMIT_FLEET_JOB_MS,
                                               .changes = true,
                                               .on_result = on_result};

#define PLUGIN_METHOD(method, type)                                                                               \
	enum rpc_verdict on_rpc_##method(struct rpc_request *request, const struct app_##method##_params *params) \
	{                                                                                                         \
		(void)params; /* the child reads them */                                                          \
		return fleet_job_start(request, &(type), NULL);                                                   \
	}
PLUGIN_METHOD(plugin_list, listing)
PLUGIN_METHOD(plugin_search, listing)
PLUGIN_METHOD(plugin_installed, listing)
PLUGIN_METHOD(plugin_read, reading)
PLUGIN_METHOD(plugin_install, changing)
PLUGIN_METHOD(plugin_uninstall, changing)
PLUGIN_METHOD(plugin_reconcile, changing)
PLUGIN_METHOD(marketplace_add, changing)
PLUGIN_METHOD(marketplace_remove, changing)
PLUGIN_METHOD(marketplace_upgrade, changing)
