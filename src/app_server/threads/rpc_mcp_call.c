/* mcpServer/tool/call and mcpServer/resource/read: requests of a client to a server, without the model. Questions of
 * the server reach the client that has called. */
#include "app_server/rpc/rpc_ask.h"
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
#include "mcp/mcp_client.h"
#include "mcp/mcp_pool.h"

const struct rpc_error *mcp_place_find(struct rpc_request *request, struct str id, struct mcp_place *ret)
{
	struct app_server *server = request->server;
	struct thread *thread = id.ptr ? threads_find(server, id) : NULL;
	if (id.ptr && !thread)
		return threads_not_found(request, id);
	*ret = (struct mcp_place){server->config, config_home(server->config)};
	if (thread)
		*ret = (struct mcp_place){thread->config, arena_cstr(&request->arena, thread->settings->cwd)};
	return NULL;
}

struct server_call {
	struct rpc_request *request;
	struct mcp_client *client;
	struct mcp_request *call;
	struct str thread_id;   /* in the request's arena */
	struct str server_name; /* there, or in the client's settings */
	struct list elicits;    /* struct call_elicit */
};

/* ---- questions of the server during a call ---- */

struct call_elicit {
	struct list link;
	struct server_call *call;
	struct mcp_elicitation *elicitation;
	struct rpc_ask *ask;
};

static void elicit_destroy(struct call_elicit *elicit)
{
	list_remove(&elicit->link);
	free(elicit);
}

static void forget_elicits(struct server_call *call)
{
	struct call_elicit *it;
	list_for_each(it, &call->elicits, link) {
		rpc_ask_withdraw(it->ask);
		elicit_destroy(it);
	}
}

/* Without a usable answer, the server hears that the user does not want to answer. */
static bool on_elicit_answer(const struct rpc_ask *ask, enum rpc_ask_outcome outcome, const void *result)
{
	static const char *const actions[] = {
		[app_mcp_server_elicitation_action_accept] = "accept",
		[app_mcp_server_elicitation_action_decline] = "decline",
		[app_mcp_server_elicitation_action_cancel] = "cancel",
	};
	const struct app_mcp_server_elicitation_request_response *response = result;
	struct call_elicit *elicit = ask->owner;
	struct mcp_elicitation *elicitation = elicit->elicitation;
	bool is_answered = outcome == RPC_ASK_ANSWERED && response;
	elicit_destroy(elicit);
	mcp_elicitation_answer(elicitation, is_answered ? actions[response->action] : "decline",
	                       is_answered && response->content.ptr ? response->content : STR("{}"));
	return true;
}

static void copy_member(struct json_writer *w, const struct json *params, const char *key)
{
	const struct json *member = json_get(params, key);
	if (member)
		jw_member_raw(w, key, member->span);
}

static void write_question(const struct server_call *call, const struct json *params, struct json_writer *w)
{
	struct str mode = json_get_str(params, "mode");
	const struct json *meta = json_get(params, "_meta");
	jw_object(w);
	jw_member_str(w, "threadId", call->thread_id);
	jw_member_str(w, "turnId", STR_NONE);
	jw_member_str(w, "serverName", call->server_name);
	jw_member_str(w, "mode", mode.ptr ? mode : STR("form"));
	jw_member_raw(w, "_meta", json_is(meta, JSON_object) ? meta->span : STR("null"));
	copy_member(w, params, "message");
	copy_member(w, params, "requestedSchema");
	copy_member(w, params, "url");
	copy_member(w, params, "elicitationId");
	jw_object_end(w);
}

static void on_elicit(struct mcp_elicitation *elicitation, void *self)
{
	struct server_call *call = self;
	auto_buf struct buf json;
	buf_init(&json, LIMIT_LINE);
	struct json_writer w = json_writer(&json);
	write_question(call, mcp_elicitation_params(elicitation), &w);
	if (json.over || !call->thread_id.ptr) {
		mcp_elicitation_answer(elicitation, "decline", STR_NONE);
		return;
	}
	struct app_mcp_server_elicitation_request_params_open params = {buf_str(&json)};
	struct call_elicit *elicit = xnew(struct call_elicit);
	elicit->call = call;
	elicit->elicitation = elicitation;
	list_append(&call->elicits, &elicit->link);
	const struct rpc_ask_options options = {
		.tag = ASK_mcp_server_elicitation_request,
		.params = &params,
		.owner = elicit,
		.key = call->server_name,
		.on_answer = on_elicit_answer,
	};
	elicit->ask = rpc_ask_open(&call->request->server->asks, &options);
	rpc_ask_send(elicit->ask, call->request->connection);
}

static void on_withdrawn(struct mcp_elicitation *elicitation, void *self)
{
	struct server_call *call = self;
	struct call_elicit *it;
	list_for_each(it, &call->elicits, link) {
		if (it->elicitation != elicitation)
			continue;
		rpc_ask_withdraw(it->ask);
		elicit_destroy(it);
		return;
	}
}

/* ---- calls ---- */

static void call_destroy(struct server_call *call)
{
	mcp_request_cancel(call->call, "the client has disconnected");
	forget_elicits(call);
	mcp_client_unref(call->client);
	free(call);
}

static void on_call_cancelled(struct rpc_request *request)
{
	call_destroy(request->self);
}

/* An error of the server keeps its code. */
static enum rpc_verdict refuse(struct rpc_request *request, const struct mcp_reply *reply)
{
	if (!reply->is_remote)
		return rpc_fail(request, APP_INTERNAL_ERROR, "%s", reply->err->text);
	struct rpc_error *error = arena_new(&request->arena, struct rpc_error);
	*error = (struct rpc_error){(enum app_error_code)reply->code, arena_str(&request->arena, reply->message),
	                            STR_NONE};
	return rpc_refuse(request, error);
}

static struct str span_of(const struct json *json, const char *key)
{
	const struct json *member = json_get(json, key);
	return member && member->type != JSON_null ? member->span : STR_NONE;
}

static void on_called(const struct mcp_reply *reply, void *self)
{
	struct server_call *call = self;
	struct rpc_request *request = call->request;
	call->call = NULL;
	struct app_mcp_server_tool_call_response response = {.content = STR("[]")};
	if (reply->err) {
		refuse(request, reply);
	} else {
		struct str content = span_of(reply->result, "content");
		response.content = content.ptr ? content : response.content;
		response.structured_content = span_of(reply->result, "structuredContent");
		response._meta = span_of(reply->result, "_meta");
		response.has_is_error = json_to_bool(json_get(reply->result, "isError"), &response.is_error);
		rpc_reply(request, &response);
	}
	call_destroy(call);
}

static void on_resource(const struct mcp_reply *reply, void *self)
{
	struct server_call *call = self;
	struct rpc_request *request = call->request;
	const struct app_mcp_resource_read_params *params = request->params;
	call->call = NULL;
	if (reply->err) {
		refuse(request, reply);
	} else {
		struct str contents = span_of(reply->result, "contents");
		struct app_mcp_resource_read_response response = {.contents = contents.ptr ? contents : STR("[]"),
		                                                  .origin_call_id = params->origin_call_id};
		rpc_reply(request, &response);
	}
	call_destroy(call);
}

static const struct mcp_server *find_server(const struct mcp_pool *pool, const struct mcp_place *place, struct str name,
                                            struct arena *arena)
{
	const struct mcp_server *known = mcp_pool_find_settings(pool, place->config, name, place->cwd);
	size_t count = 0;
	if (known)
		return known;
	struct config_binder binder = config_binder(place->config, arena);
	const struct mcp_server *servers = mcp_servers_bind(&binder, place->config->mcp_servers, &count);
	for (size_t i = 0; i < count; i++) {
		if (str_eq(servers[i].name, name) && servers[i].keys.enabled)
			return &servers[i];
	}
	return NULL;
}

static enum rpc_verdict start_call(struct rpc_request *request, struct str thread_id, struct str name,
                                   struct mcp_request_options *options)
{
	struct mcp_place place;
	struct error err;
	const struct rpc_error *error = mcp_place_find(request, thread_id, &place);
	if (error)
		return rpc_refuse(request, error);
	struct mcp_pool *pool = services_mcp(request->server->services);
	const struct mcp_server *server = find_server(pool, &place, name, &request->arena);
	if (!server)
		return rpc_fail(request, APP_INTERNAL_ERROR, "unknown MCP server '%.*s'", STR_ARG(name));
	struct server_call *call = xnew(struct server_call);
	call->request = request;
	call->thread_id = thread_id;
	call->server_name = server->name;
	list_init(&call->elicits);
	options->timeout_ms = server->tool_timeout_ms;
	options->self = call;
	call->client = mcp_pool_get(pool, place.config, server, place.cwd, &err);
	if (call->client)
		call->call = mcp_request_create(call->client, options, &err);
	if (call->call)
		return rpc_wait(request, on_call_cancelled, call);
	call_destroy(call);
	return rpc_fail_with(request, &err);
}

enum rpc_verdict on_rpc_mcp_server_tool_call(struct rpc_request *request,
                                             const struct app_mcp_server_tool_call_params *params)
{
	static const struct mcp_request_events events = {
		.on_done = on_called, .on_elicit = on_elicit, .on_withdrawn = on_withdrawn};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&text);
	jw_member_str(&w, "name", params->tool);
	if (params->arguments.ptr)
		jw_member_raw(&w, "arguments", params->arguments);
	struct mcp_request_options options = {.method = "tools/call", .params = buf_str(&text), .events = &events};
	return start_call(request, params->thread_id, params->server, &options);
}

enum rpc_verdict on_rpc_mcp_server_resource_read(struct rpc_request *request,
                                                 const struct app_mcp_resource_read_params *params)
{
	static const struct mcp_request_events events = {.on_done = on_resource};
	auto_buf struct buf text;
	buf_init(&text, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&text);
	jw_member_str(&w, "uri", params->uri);
	struct mcp_request_options options = {.method = "resources/read", .params = buf_str(&text), .events = &events};
	return start_call(request, params->thread_id, params->server, &options);
}
