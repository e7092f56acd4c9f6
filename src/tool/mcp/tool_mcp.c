/* A call of an MCP tool: arguments, approval, request, result. The clients get a begin event before the approval and an
 * end event in every case except an interrupt. */
#include "tool/mcp/tool_mcp.h"

#include <stdio.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/text.h"
#include "config/mcp_server.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "tool/mcp/mcp_approval.h"
#include "tool/mcp/mcp_elicit.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/mcp/mcp_output.h"
#include "tool/tool.h"

struct mcp_run {
	struct tool_call *call;
	const struct mcp_offered *offered; /* valid while the turn runs */
	struct mcp_client *client;         /* with a reference */
	struct mcp_request *request;       /* NULL: not made, or answered */
	const struct json *arguments;      /* NULL: none */
	struct mcp_elicits elicits;
	struct tool_wait wait;
};

static struct mcp_invocation invocation_of(const struct mcp_run *run)
{
	return (struct mcp_invocation){
		.server = run->offered->server->name,
		.tool = run->offered->tool->name,
		.arguments = run->arguments ? run->arguments->span : STR_NONE,
	};
}

/* ---- the end ---- */

static void run_destroy(struct mcp_run *run)
{
	list_remove(&run->wait.link);
	mcp_elicits_finish(&run->elicits);
	mcp_request_cancel(run->request, "the user has interrupted the turn");
	mcp_client_unref(run->client);
	free(run);
}

static void stop(struct tool_call *call)
{
	run_destroy(call->state);
	call->state = NULL;
}

static struct mcp_output output_of(struct tool_call *call)
{
	return (struct mcp_output){
		.parts = &call->parts,
		.text = &call->output,
		.budget = call->host->output_budget,
		.wall_ns = clock_now_ns() - call->started_ns,
	};
}

static void fail(struct mcp_run *run, const char *text)
{
	struct tool_call *call = run->call;
	struct mcp_output output = output_of(call);
	struct mcp_invocation invocation = invocation_of(run);
	mcp_output_write_error(&output, str_of(text));
	mcp_output_emit_error(call, &invocation, output.wall_ns, str_of(text));
	stop(call);
	tool_call_finish_output(call, false);
}

static void fail_call(struct mcp_run *run, const char *why)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_printf(&text, "tool call error: tool call failed for `%.*s/%.*s`\n\nCaused by:\n    %s",
	           STR_ARG(run->offered->server->name), STR_ARG(run->offered->tool->name), why);
	fail(run, buf_str(&text).ptr);
}

static void succeed(struct mcp_run *run, const struct json *answer, struct mcp_output *output)
{
	struct tool_call *call = run->call;
	struct mcp_invocation invocation = invocation_of(run);
	auto_buf struct buf item;
	buf_init(&item, LIMIT_TOOL_ITEM);
	struct json_writer w = json_writer(&item);
	mcp_output_write_item(answer, &w);
	if (call->is_nested && !item.over)
		buf_append_str(&call->value, buf_str(&item));
	mcp_output_emit(call, &invocation, output->wall_ns, buf_str(&item));
	bool is_error = json_get_bool(answer, "isError", false);
	stop(call);
	tool_call_finish_output(call, !is_error);
}

/* ---- the request ---- */

static void on_done(const struct mcp_reply *reply, void *self)
{
	struct mcp_run *run = self;
	struct mcp_output output = output_of(run->call);
	run->request = NULL;
	if (reply->err)
		fail_call(run, reply->err->text);
	else if (!mcp_output_write(&output, reply->result))
		fail_call(run, "Unexpected response type");
	else
		succeed(run, reply->result, &output);
}

static void on_progress(struct str message, void *self)
{
	const struct mcp_run *run = self;
	struct tool_call *call = run->call;
	struct ev_mcp_call_progress event = {.call_id = call->call_id, .message = message};
	call->host->emit(call->host, call->turn_id, EV_mcp_tool_call_progress, &event);
}

static void on_elicited(struct tool_call *call, const void *answer)
{
	struct mcp_run *run = call->state;
	mcp_elicits_answer(&run->elicits, answer);
}

static void on_elicit(struct mcp_elicitation *elicitation, void *self)
{
	struct mcp_run *run = self;
	mcp_elicits_ask(&run->elicits, elicitation, run->call, run->offered->server->name, on_elicited);
}

static void on_withdrawn(struct mcp_elicitation *elicitation, void *self)
{
	struct mcp_run *run = self;
	mcp_elicits_withdraw(&run->elicits, elicitation, run->call);
}

static void call_server(struct mcp_run *run)
{
	static const struct mcp_request_events events = {
		.on_done = on_done,
		.on_progress = on_progress,
		.on_elicit = on_elicit,
		.on_withdrawn = on_withdrawn,
	};
	struct tool_call *call = run->call;
	struct error err;
	auto_buf struct buf params, meta;
	buf_init(&params, LIMIT_MCP_MESSAGE);
	buf_init(&meta, 64 * KIB);
	struct json_writer w = json_writer(&params), m = json_writer(&meta);
	jw_member_str(&w, "name", run->offered->tool->name);
	if (run->arguments)
		jw_member_raw(&w, "arguments", run->arguments->span);
	jw_member_str(&m, "callId", call->call_id);
	jw_member_str(&m, "itemId", call->call_id);
	jw_member_cstr(&m, "threadId", call->host->thread_id);
	jw_member_cstr(&m, "sessionId", call->host->thread_id);
	const struct mcp_request_options options = {
		.method = "tools/call",
		.params = buf_str(&params),
		.meta = buf_str(&meta),
		.timeout_ms = run->offered->server->tool_timeout_ms,
		.events = &events,
		.self = run,
	};
	if (params.over || meta.over)
		fail_call(run, "the arguments are too large");
	else if (!(run->request = mcp_request_create(run->client, &options, &err)))
		fail_call(run, err.text);
}

static void on_stored(struct tool_wait *wait)
{
	call_server(container_of(wait, struct mcp_run, wait));
}

static void settle(struct mcp_run *run)
{
	struct tool_host *host = run->call->host;
	run->wait.then = on_stored;
	if (!host->settle(host, &run->wait, run->call->call_id))
		call_server(run);
}

/* ---- approval ---- */

/* Returns the key under which an approval for the session is remembered. */
static struct str approval_key(const struct mcp_run *run)
{
	return str_of(arena_printf(&run->call->arena, "mcp:%.*s/%.*s", STR_ARG(run->offered->server->name),
	                           STR_ARG(run->offered->tool->name)));
}

static void remember(struct mcp_run *run, struct str meta)
{
	auto_arena struct arena arena = {0};
	struct tool_host *host = run->call->host;
	struct str persist = json_get_str(meta.ptr ? json_parse(&arena, meta, NULL) : NULL, "persist");
	if (str_is(persist, "session") || str_is(persist, "always"))
		host->remember(host, approval_key(run));
	if (str_is(persist, "always") && host->stores_mcp(host, run->offered->server->name))
		host->approve_mcp(host, run->offered->server->name, run->offered->tool->name);
}

static void on_approval(struct tool_call *call, const void *body)
{
	const struct op_resolve_elicitation *answer = body;
	struct mcp_run *run = call->state;
	if (answer->decision == elicitation_action_accept) {
		remember(run, answer->_meta);
		settle(run);
	} else if (call->denial.ptr) {
		fail(run, call->denial.ptr);
	} else {
		fail(run, answer->decision == elicitation_action_decline ? "user rejected MCP tool call"
		                                                         : "user cancelled MCP tool call");
	}
}

static void decide(struct mcp_run *run)
{
	struct tool_host *host = run->call->host;
	const char *refusal = NULL;
	bool needs_approval = mcp_approval_is_needed(host, run->offered, &refusal);
	if (!needs_approval || host->is_approved(host, approval_key(run)))
		settle(run);
	else if (refusal)
		fail(run, refusal);
	else
		mcp_approval_ask(run->call, run->offered, run->arguments, on_approval);
}

/* ---- the beginning ---- */

static void refuse_arguments(struct tool_call *call, const struct error *err)
{
	struct mcp_output output = output_of(call);
	char text[ERROR_TEXT_MAX + 8];
	snprintf(text, sizeof(text), "err: %s", err->text);
	mcp_output_write_error(&output, str_of(text));
	tool_call_finish_output(call, false);
}

static void start(struct tool_call *call)
{
	struct error err;
	const struct json *arguments = NULL;
	if (str_trim(call->input).len && !(arguments = json_parse(&call->arena, call->input, &err))) {
		refuse_arguments(call, &err);
		return;
	}
	struct mcp_run *run = xnew(struct mcp_run);
	*run = (struct mcp_run){.call = call, .offered = call->mcp.offered, .arguments = arguments};
	run->client = mcp_client_ref(run->offered->client);
	list_init(&run->wait.link);
	mcp_elicits_init(&run->elicits);
	call->state = run;
	call->stop = stop;
	struct mcp_invocation invocation = invocation_of(run);
	mcp_output_emit_begin(call, &invocation);
	if (!arguments || arguments->type == JSON_object) {
		decide(run);
		return;
	}
	auto_buf struct buf text;
	struct str got = arguments->span;
	got.len = got.len > LIMIT_TOOL_OUTPUT / 2 ? text_floor_boundary(got, LIMIT_TOOL_OUTPUT / 2) : got.len;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	buf_printf(&text, "MCP tool arguments must be a JSON object, got %.*s", STR_ARG(got));
	fail_call(run, buf_str(&text).ptr);
}

void tool_mcp_bind(struct tool_call *call, const struct mcp_offered *offered)
{
	call->mcp.offered = offered;
	call->mcp.start = start;
	call->mcp.is_parallel = offered->tool->is_read_only || offered->server->keys.supports_parallel_tool_calls;
}
