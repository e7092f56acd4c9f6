/* The id of a question is that of the call and a UUID: the ids of different servers may be equal, and the model, which
 * chooses the ids of calls, must not be able to give an approval the id of a question. */
#include "tool/mcp/mcp_elicit.h"

#include "base/json.h"
#include "base/limits.h"
#include "base/uuid.h"
#include "mcp/mcp_client.h"
#include "protocol/message/approval.h"
#include "tool/tool.h"

struct elicit {
	struct list link;
	struct mcp_elicitation *elicitation;
	char *id;
};

void mcp_elicits_init(struct mcp_elicits *elicits)
{
	list_init(&elicits->open);
}

static void elicit_destroy(struct elicit *elicit)
{
	list_remove(&elicit->link);
	free(elicit->id);
	free(elicit);
}

void mcp_elicits_finish(struct mcp_elicits *elicits)
{
	struct elicit *it;
	list_for_each(it, &elicits->open, link)
		elicit_destroy(it);
}

/* Fills the event from the params; false if they are not a form or a URL. */
static bool read_params(const struct json *params, struct ev_elicitation_request *event)
{
	const struct json *schema = json_get(params, "requestedSchema"), *meta = json_get(params, "_meta");
	struct str mode = json_get_str(params, "mode");
	event->message = json_get_str(params, "message");
	event->_meta = json_is(meta, JSON_object) ? meta->span : STR_NONE;
	event->mode = mode.ptr ? mode : STR("form");
	if (!event->message.ptr)
		return false;
	if (str_is(event->mode, "form")) {
		event->requested_schema = schema ? schema->span : STR_NONE;
		return json_is(schema, JSON_object);
	}
	event->url = json_get_str(params, "url");
	event->elicitation_id = json_get_str(params, "elicitationId");
	return str_is(event->mode, "url") && event->url.ptr && event->elicitation_id.ptr;
}

void mcp_elicits_ask(struct mcp_elicits *elicits, struct mcp_elicitation *elicitation, struct tool_call *call,
                     struct str server, tool_answer_fn on_answer)
{
	struct ev_elicitation_request event = {.server_name = server, .turn_id = call->turn_id};
	bool may_ask = approval_may_ask(call->host->approval_policy, QUESTION_mcp) && !call->host->is_unattended;
	if (!may_ask || !read_params(mcp_elicitation_params(elicitation), &event)) {
		mcp_elicitation_answer(elicitation, "decline", STR_NONE);
		return;
	}
	struct elicit *elicit = xnew(struct elicit);
	auto_buf struct buf id;
	char uuid[UUID_TEXT_SIZE];
	elicit->elicitation = elicitation;
	uuid_v7(uuid);
	elicit->id = xasprintf("%.*s:%s", STR_ARG(call->call_id), uuid);
	list_init(&elicit->link);
	list_append(&elicits->open, &elicit->link);
	buf_init(&id, LIMIT_CALL_ID * 8);
	json_quote(&id, str_of(elicit->id));
	event.id = buf_str(&id);
	call->host->ask(call->host, call, EV_elicitation_request, &event, on_answer);
}

void mcp_elicits_answer(struct mcp_elicits *elicits, const struct op_resolve_elicitation *answer)
{
	static const char *const actions[] = {
		[elicitation_action_accept] = "accept",
		[elicitation_action_decline] = "decline",
		[elicitation_action_cancel] = "cancel",
	};
	auto_arena struct arena arena = {0};
	struct elicit *it;
	struct str id = STR_NONE;
	json_to_str(json_parse(&arena, answer->request_id, NULL), &id);
	list_for_each(it, &elicits->open, link) {
		if (!str_is(id, it->id))
			continue;
		struct mcp_elicitation *elicitation = it->elicitation;
		elicit_destroy(it);
		mcp_elicitation_answer(elicitation, actions[answer->decision],
		                       answer->content.ptr ? answer->content : STR("{}"));
		return;
	}
}

void mcp_elicits_withdraw(struct mcp_elicits *elicits, struct mcp_elicitation *elicitation, struct tool_call *call)
{
	struct elicit *it;
	list_for_each(it, &elicits->open, link) {
		if (it->elicitation != elicitation)
			continue;
		call->host->withdraw(call->host, str_of(it->id));
		elicit_destroy(it);
		return;
	}
}
