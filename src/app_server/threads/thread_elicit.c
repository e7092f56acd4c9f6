/* Questions that the engine asks by EV_elicitation_request: those of MCP servers, and the one of request_permissions,
 * which clients of the app-server know as a request of its own. */
#include "app_server/threads/thread_elicit.h"

#include "app_server/rpc/rpc_ask.h"
#include "app_server/threads/thread.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "engine/codex/codex.h"
#include "remote/environment.h"

/* ---- answers ---- */

/* Without a usable answer, the server hears that the user does not want to answer. */
static bool answer_elicitation(struct thread *thread, const struct rpc_ask *ask,
                               const struct app_mcp_server_elicitation_request_response *response)
{
	static const enum elicitation_action actions[] = {
		[app_mcp_server_elicitation_action_accept] = elicitation_action_accept,
		[app_mcp_server_elicitation_action_decline] = elicitation_action_decline,
		[app_mcp_server_elicitation_action_cancel] = elicitation_action_cancel,
	};
	auto_buf struct buf id;
	struct op_resolve_elicitation answer = {.decision = elicitation_action_decline};
	buf_init(&id, LIMIT_LINE);
	json_quote(&id, ask->key);
	answer.request_id = buf_str(&id);
	if (response) {
		answer.decision = actions[response->action];
		answer.content = response->content;
		answer._meta = response->_meta;
	}
	return codex_answer(thread->codex, EV_elicitation_request, ask->key, &answer);
}

/* write: a JSON array of texts; the engine ignores other values in it. */
static void write_granted(struct json_writer *w, const struct app_granted_permission_profile *granted)
{
	jw_object(w);
	jw_key(w, "permissions");
	jw_object(w);
	if (granted->file_system && granted->file_system->write.ptr) {
		jw_key(w, "file_system");
		jw_object(w);
		jw_member_raw(w, "write", granted->file_system->write);
		jw_object_end(w);
	}
	if (granted->network && granted->network->has_enabled && granted->network->enabled)
		jw_member_raw(w, "network", STR("{\"enabled\":true}"));
	jw_object_end(w);
	jw_object_end(w);
}

/* The engine grants what was asked for and is named in the answer. */
static bool answer_permissions(struct thread *thread, const struct rpc_ask *ask,
                               const struct app_permissions_request_approval_response *response)
{
	auto_buf struct buf content, id;
	struct op_resolve_elicitation answer = {.decision = elicitation_action_decline};
	buf_init(&content, LIMIT_LINE);
	buf_init(&id, LIMIT_LINE);
	json_quote(&id, ask->key);
	answer.request_id = buf_str(&id);
	if (response) {
		struct json_writer w = json_writer(&content);
		write_granted(&w, response->permissions);
		answer.decision = content.over ? elicitation_action_decline : elicitation_action_accept;
		answer.content = buf_str(&content);
		answer._meta = response->scope == app_permission_grant_scope_session ? STR("{\"persist\":\"session\"}")
		                                                                     : STR_NONE;
	}
	return codex_answer(thread->codex, EV_elicitation_request, ask->key, &answer);
}

bool thread_elicit_is(const struct rpc_ask *ask)
{
	return ask->tag == ASK_mcp_server_elicitation_request || ask->tag == ASK_item_permissions_request_approval;
}

bool thread_elicit_answer(struct thread *thread, const struct rpc_ask *ask, const void *result)
{
	return ask->tag == ASK_item_permissions_request_approval ? answer_permissions(thread, ask, result)
	                                                         : answer_elicitation(thread, ask, result);
}

/* ---- requests ---- */

static void write_elicitation(const struct thread *thread, const struct ev_elicitation_request *event,
                              struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "threadId", thread->id);
	jw_member_str(w, "turnId", event->turn_id.len ? event->turn_id : STR_NONE);
	jw_member_str(w, "serverName", event->server_name);
	jw_member_str(w, "mode", event->mode);
	jw_member_raw(w, "_meta", event->_meta.ptr ? event->_meta : STR("null"));
	jw_member_str(w, "message", event->message);
	if (event->url.ptr) {
		jw_member_str(w, "url", event->url);
		jw_member_str(w, "elicitationId", event->elicitation_id);
	} else {
		jw_member_raw(w, "requestedSchema", event->requested_schema);
	}
	jw_object_end(w);
}

/* Converts the permissions that the model wants. */
static void describe_permissions(const struct thread *thread, const struct ev_elicitation_request *event,
                                 const struct json *meta, struct arena *arena, struct elicit_request *ret)
{
	const struct json *wanted = json_get(meta, "permissions"), *files = json_get(wanted, "file_system");
	struct app_request_permission_profile *profile = arena_new(arena, struct app_request_permission_profile);
	struct str environment = json_get_str(meta, "environment_id");
	struct app_permissions_request_approval_params *params =
		arena_new(arena, struct app_permissions_request_approval_params);
	if (files) {
		profile->file_system = arena_new(arena, struct app_additional_file_system_permissions);
		profile->file_system->write = json_get(files, "write")->span;
	}
	if (json_get(wanted, "network")) {
		profile->network = arena_new(arena, struct app_additional_network_permissions);
		*profile->network = (struct app_additional_network_permissions){.has_enabled = true, .enabled = true};
	}
	*params = (struct app_permissions_request_approval_params){
		.thread_id = str_of(thread->id),
		.cwd = json_get_str(meta, "cwd"),
		.item_id = ret->id,
		.permissions = profile,
		.started_at_ms = clock_unix_ms(),
		.turn_id = event->turn_id,
		.environment_id = environment.len ? environment : STR(ENVIRONMENT_LOCAL),
		.reason = json_get_str(meta, "reason"),
	};
	ret->tag = ASK_item_permissions_request_approval;
	ret->params = params;
}

void thread_elicit_describe(const struct thread *thread, const struct ev_elicitation_request *event,
                            struct arena *arena, struct buf *json, struct elicit_request *ret)
{
	struct json_writer w = json_writer(json);
	const struct json *meta = event->_meta.ptr ? json_parse(arena, event->_meta, NULL) : NULL;
	*ret = (struct elicit_request){.tag = ASK_mcp_server_elicitation_request, .id = STR_NONE};
	json_to_str(json_parse(arena, event->id, NULL), &ret->id);
	/* a server has a name, so this is the session's own question */
	if (!event->server_name.len && str_is(json_get_str(meta, "codex_approval_kind"), "request_permissions")) {
		describe_permissions(thread, event, meta, arena, ret);
		return;
	}
	write_elicitation(thread, event, &w);
	struct app_mcp_server_elicitation_request_params_open *params =
		arena_new(arena, struct app_mcp_server_elicitation_request_params_open);
	*params = (struct app_mcp_server_elicitation_request_params_open){buf_str(json)};
	ret->params = params;
}
