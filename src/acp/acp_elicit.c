/* Approvals of calls to MCP tools, and the questions that a server asks during a call. The engine emits the same event
 * for both; an approval has the id of its call, a question that id, a colon and a number.
 *
 * An approval is a permission request, which every client can show. A question needs a client with forms, or one that
 * opens pages; without, and without a valid answer, the server receives `cancel`. */
#include "acp/acp_event.h"
#include "acp/acp_session.h"
#include "acp/acp_tool.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/mem.h"
#include "engine/codex/codex.h"

static void answer(struct acp_session *session, struct str id, struct op_resolve_elicitation *body)
{
	auto_buf struct buf json;
	buf_init(&json, LIMIT_LINE);
	json_quote(&json, id);
	body->request_id = buf_str(&json);
	codex_answer(session->codex, EV_elicitation_request, id, body);
}

/* ---- approvals ---- */

static const struct {
	const char *id, *name;
	enum acp_permission_kind kind;
	enum elicitation_action action;
	const char *meta; /* for the engine; NULL: the answer is valid for this call only */
} choices[] = {
	{"allow_once", "Allow once", acp_permission_kind_allow_once, elicitation_action_accept, NULL},
	{"allow_session", "Allow for this session", acp_permission_kind_allow_always, elicitation_action_accept,
         "{\"persist\":\"session\"}"},
	{"allow_always", "Always allow", acp_permission_kind_allow_always, elicitation_action_accept,
         "{\"persist\":\"always\"}"},
	{"cancel", "Reject", acp_permission_kind_reject_once, elicitation_action_decline, NULL},
};

static void on_permission(struct acp_ask *ask, const void *result, struct str error)
{
	const struct acp_permission_result *permission = result;
	struct op_resolve_elicitation body = {.decision = elicitation_action_cancel};
	struct acp_tool_call call = {.tool_call_id = str_of(ask->key), .status = acp_tool_status_in_progress};
	bool is_selected = permission && str_is(permission->outcome->outcome, "selected");
	(void)error;
	for (size_t i = 0; i < countof(choices) && is_selected; i++) {
		if (!str_is(permission->outcome->option_id, choices[i].id))
			continue;
		body.decision = choices[i].action;
		body._meta = choices[i].meta ? str_of(choices[i].meta) : STR_NONE;
	}
	if (body.decision == elicitation_action_accept)
		acp_tool_begin(ask->owner, &call);
	answer(ask->owner, call.tool_call_id, &body);
}

static struct str raw_input(struct str server, const struct json *meta, struct arena *arena)
{
	auto_buf struct buf out;
	const struct json *arguments = json_get(meta, "tool_params");
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	jw_object(&w);
	jw_member_str(&w, "server", server);
	jw_member_str(&w, "tool", json_get_str(meta, "tool_name"));
	if (arguments)
		jw_member_raw(&w, "arguments", arguments->span);
	jw_object_end(&w);
	return arena_str(arena, buf_str(&out));
}

static void ask_permission(struct acp_session *session, const struct ev_elicitation_request *event, struct str call_id,
                           const struct json *meta)
{
	auto_arena struct arena arena = {0};
	struct str about = json_get_str(meta, "tool_description");
	const struct json *persist = json_get(meta, "persist");
	bool is_storable = persist && str_find(persist->span, STR("\"always\"")) >= 0;
	struct acp_permission_option options[countof(choices)];
	size_t count = 0;
	struct acp_tool_content content[] = {acp_tool_text(event->message, &arena), acp_tool_text(about, &arena)};
	struct acp_tool_call_change change = {
		.tool_call_id = call_id,
		.title = str_of(arena_printf(&arena, "mcp.%.*s.%.*s", STR_ARG(event->server_name),
	                                     STR_ARG(json_get_str(meta, "tool_name")))),
		.has_kind = true,
		.kind = acp_tool_kind_execute,
		.has_status = true,
		.status = acp_tool_status_pending,
		.content = content,
		.content_count = about.len ? 2 : 1,
		.raw_input = raw_input(event->server_name, meta, &arena),
	};
	for (size_t i = 0; i < countof(choices); i++) {
		if (is_storable || !str_is(STR("allow_always"), choices[i].id))
			options[count++] = (struct acp_permission_option){str_of(choices[i].id),
			                                                  str_of(choices[i].name), choices[i].kind};
	}
	struct acp_permission_params params = {str_of(session->id), &change, options, count,
	                                       STR("{\"is_mcp_tool_approval\":true}")};
	acp_ask_send(&session->server->wire, ACP_ASK_request_permission, &params, session, call_id, on_permission);
}

/* ---- questions ---- */

/* ask->self: the id of the question. */
static void on_elicited(struct acp_ask *ask, const void *result, struct str error)
{
	static const enum elicitation_action actions[] = {
		[acp_elicitation_action_cancel] = elicitation_action_cancel,
		[acp_elicitation_action_decline] = elicitation_action_decline,
		[acp_elicitation_action_accept] = elicitation_action_accept,
	};
	const struct acp_elicitation_result *form = result;
	struct op_resolve_elicitation body = {.decision = form ? actions[form->action] : elicitation_action_cancel};
	(void)error;
	if (body.decision == elicitation_action_accept && form->content.len && form->content.ptr[0] == '{')
		body.content = form->content;
	answer(ask->owner, str_of(ask->self), &body);
}

static struct str call_of(struct str id)
{
	ptrdiff_t colon = str_rfind_char(id, ':');
	return colon > 0 ? str_n(id.ptr, (size_t)colon) : id;
}

static void elicit(struct acp_session *session, const struct ev_elicitation_request *event, struct str id)
{
	bool is_url = str_is(event->mode, "url");
	const struct acp_client *client = &session->server->client;
	struct op_resolve_elicitation cancel = {.decision = elicitation_action_cancel};
	struct str call_id = call_of(id);
	struct acp_elicitation_params params = {
		.session_id = str_of(session->id),
		.tool_call_id = call_id,
		.mode = is_url ? STR("url") : STR("form"),
		.message = event->message,
		.requested_schema = is_url ? STR_NONE : event->requested_schema,
		.url = is_url ? event->url : STR_NONE,
		.elicitation_id = is_url ? event->elicitation_id : STR_NONE,
	};
	if (!(is_url ? client->opens_urls : client->has_forms)) {
		answer(session, id, &cancel);
		return;
	}
	acp_ask_send(&session->server->wire, ACP_ASK_elicitation, &params, session, call_id, on_elicited)->self =
		str_dup(id);
}

/* The metadata of a question is the server's own and may claim to be an approval, but its id is not that of a call. */
void on_acp_event_elicitation_request(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	const struct ev_elicitation_request *body = event->msg.elicitation_request;
	const struct json *meta = body->_meta.ptr ? json_parse(&arena, body->_meta, NULL) : NULL;
	struct str id = STR_NONE;
	json_to_str(json_parse(&arena, body->id, NULL), &id);
	if (str_is(json_get_str(meta, "codex_approval_kind"), "mcp_tool_call") && acp_tool_find(session, id))
		ask_permission(session, body, id, meta);
	else
		elicit(session, body, id);
}

/* Also of requests that are no elicitations. The id of one is JSON. */
void on_acp_event_request_user_input_expired(struct acp_session *session, const struct event *event)
{
	auto_arena struct arena arena = {0};
	struct str id = event->msg.request_user_input_expired->call_id;
	if (str_has_prefix(id, "\"") && json_to_str(json_parse(&arena, id, NULL), &id))
		id = call_of(id);
	acp_asks_withdraw(&session->server->wire, session, id, event->id);
}
