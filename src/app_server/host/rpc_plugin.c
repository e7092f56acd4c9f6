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

enum rpc_verdict on_rpc_plugin_list(struct rpc_request *request, const struct app_plugin_list_params *params)
{
	(void)params;
	return fleet_job_start(request, &listing, NULL);
}

enum rpc_verdict on_rpc_plugin_search(struct rpc_request *request, const struct app_plugin_search_params *params)
{
	(void)params;
	return fleet_job_start(request, &listing, NULL);
}

enum rpc_verdict on_rpc_plugin_installed(struct rpc_request *request, const struct app_plugin_installed_params *params)
{
	(void)params;
	return fleet_job_start(request, &listing, NULL);
}

enum rpc_verdict on_rpc_plugin_read(struct rpc_request *request, const struct app_plugin_read_params *params)
{
	(void)params;
	return fleet_job_start(request, &reading, NULL);
}

enum rpc_verdict on_rpc_plugin_install(struct rpc_request *request, const struct app_plugin_install_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}

enum rpc_verdict on_rpc_plugin_uninstall(struct rpc_request *request, const struct app_plugin_uninstall_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}

enum rpc_verdict on_rpc_plugin_reconcile(struct rpc_request *request, const struct app_plugin_reconcile_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}

enum rpc_verdict on_rpc_marketplace_add(struct rpc_request *request, const struct app_marketplace_add_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}

enum rpc_verdict on_rpc_marketplace_remove(struct rpc_request *request,
                                           const struct app_marketplace_remove_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}

enum rpc_verdict on_rpc_marketplace_upgrade(struct rpc_request *request,
                                            const struct app_marketplace_upgrade_params *params)
{
	(void)params;
	return fleet_job_start(request, &changing, NULL);
}
