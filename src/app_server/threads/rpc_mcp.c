/* mcpServerStatus/list: a survey of the servers of a thread, or of the process. */
#include "app_server/rpc/rpc_request.h"
#include "app_server/rpc/server.h"
#include "app_server/threads/mcp_place.h"
#include "app_server/threads/thread.h"
#include "app_server/threads/threads.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/mcp_server.h"
#include "engine/codex/codex.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "mcp/mcp_pool.h"
#include "mcp/mcp_survey.h"

/* ---- mcpServerStatus/list ---- */

struct status_list {
	struct rpc_request *request;
	struct mcp_survey *survey;
	uint64_t start;
};

static size_t decode_items(struct str items, const struct record *record, struct arena *arena, void **ret)
{
	auto_buf struct buf list;
	size_t count = 0;
	buf_init(&list, LIMIT_MCP_LIST + 2);
	buf_append_char(&list, '[');
	buf_append_str(&list, items);
	buf_append_char(&list, ']');
	const struct json *array = json_parse_copy(arena, buf_str(&list), NULL);
	char *into = arena_alloc(arena, record->size * (array ? array->count + 1 : 1));
	json_for_each(it, array) {
		if (record_decode(record, it, arena, into + count * record->size, NULL) == 0)
			count++;
	}
	*ret = into;
	return count;
}

static void fill_tools(struct app_mcp_server_status *status, const struct mcp_catalog *catalog, struct arena *arena)
{
	status->tools = arena_array(arena, struct app_tool, catalog->tools.count);
	status->tools_keys = arena_array(arena, struct str, catalog->tools.count);
	vec_for_each(tool, &catalog->tools) {
		const struct json *json = json_parse(arena, tool->json, NULL);
		struct app_tool *to = &status->tools[status->tools_count];
		if (json && record_decode(&record_app_tool, json, arena, to, NULL) == 0)
			status->tools_keys[status->tools_count++] = tool->name;
	}
}

static const enum app_mcp_auth_status auth_statuses[] = {
	[OAUTH_STATUS_unsupported] = app_mcp_auth_status_unsupported,
	[OAUTH_STATUS_bearer_token] = app_mcp_auth_status_bearer_token,
	[OAUTH_STATUS_o_auth] = app_mcp_auth_status_o_auth,
	[OAUTH_STATUS_not_logged_in] = app_mcp_auth_status_not_logged_in,
	[OAUTH_STATUS_unknown] = app_mcp_auth_status_unknown,
};

static struct app_mcp_server_status describe(const struct mcp_survey_row *row, struct arena *arena)
{
	void *list = NULL;
	struct app_mcp_server_status status = {
		.name = row->server->name,
		.auth_status = auth_statuses[row->auth],
		.has_runtime_status = true,
		.runtime_status = row->catalog ? app_mcp_server_connection_status_connected
	                                       : app_mcp_server_connection_status_failed,
		.tools_error = str_of(row->failure),
	};
	if (!row->catalog)
		return status;
	fill_tools(&status, row->catalog, arena);
	status.resources_count = decode_items(row->resources, &record_app_resource, arena, &list);
	status.resources = list;
	status.resource_templates_count = decode_items(row->templates, &record_app_resource_template, arena, &list);
	status.resource_templates = list;
	status.server_capabilities = row->catalog->capabilities;
	const struct json *info = row->catalog->info.ptr ? json_parse(arena, row->catalog->info, NULL) : NULL;
	status.server_info = arena_new(arena, struct app_mcp_server_info);
	if (!info || record_decode(&record_app_mcp_server_info, info, arena, status.server_info, NULL) != 0)
		status.server_info = NULL;
	return status;
}

static void status_list_destroy(struct status_list *list)
{
	mcp_survey_destroy(list->survey);
	free(list);
}

static void on_list_cancelled(struct rpc_request *request)
{
	status_list_destroy(request->self);
}

static void on_surveyed(void *self)
{
	struct status_list *list = self;
	struct rpc_request *request = list->request;
	const struct app_list_mcp_server_status_params *params = request->params;
	auto_arena struct arena arena = {0};
	struct mcp_survey_row row;
	struct app_mcp_server_status *data = arena_array(&arena, struct app_mcp_server_status, LIMIT_MCP_SERVERS);
	struct app_list_mcp_server_status_response response = {.data = data};
	bool is_small = params->has_limit && params->limit > 0 && params->limit < LIMIT_MCP_SERVERS;
	size_t limit = is_small ? (size_t)params->limit : LIMIT_MCP_SERVERS;
	size_t at = (size_t)list->start;
	while (response.data_count < limit && mcp_survey_row(list->survey, at, &row)) {
		data[response.data_count++] = describe(&row, &arena);
		at++;
	}
	if (mcp_survey_row(list->survey, at, &row))
		response.next_cursor = str_of(arena_printf(&arena, "%zu", at));
	rpc_reply(request, &response);
	status_list_destroy(list);
}

enum rpc_verdict on_rpc_mcp_server_status_list(struct rpc_request *request,
                                               const struct app_list_mcp_server_status_params *params)
{
	struct mcp_place place;
	uint64_t start = 0;
	const struct rpc_error *error = mcp_place_find(request, params->thread_id, &place);
	if (error)
		return rpc_refuse(request, error);
	if (params->cursor.ptr && !str_to_u64(params->cursor, &start))
		return rpc_fail(request, APP_INVALID_REQUEST, "invalid cursor: %.*s", STR_ARG(params->cursor));
	struct status_list *list = xnew(struct status_list);
	*list = (struct status_list){.request = request, .start = start};
	bool is_short = params->has_detail && params->detail == app_mcp_server_status_detail_tools_and_auth_only;
	const struct mcp_survey_options options = {
		.config = place.config,
		.cwd = place.cwd,
		.with_resources = !is_short,
		.only = params->server_name,
		.on_done = on_surveyed,
		.self = list,
	};
	list->survey = mcp_survey_create(services_mcp(request->server->services), request->server->loop, &options);
	return rpc_wait(request, on_list_cancelled, list);
}
