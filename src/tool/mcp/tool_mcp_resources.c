/* The tools that list and read the resources of MCP servers. Servers are asked one after the other; without a named
 * server, those that fail or have no resources are left out. */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "config/mcp_server.h"
#include "mcp/mcp_catalog.h"
#include "mcp/mcp_client.h"
#include "tool/mcp/mcp_offer.h"
#include "tool/mcp/mcp_output.h"
#include "tool/mcp/mcp_await.h"
#include "tool/tool.h"
#include "tool/tool_impl.h"

/* A list: its method and the member with the items. */
static const struct list_kind {
	const char *method, *member;
} resources = {"resources/list", "resources"}, templates = {"resources/templates/list", "resourceTemplates"};

struct resource_run {
	struct tool_call *call;
	const struct list_kind *kind; /* NULL: a resource is read */
	struct str server, uri;       /* as the model named them */
	const struct mcp_offer_source *sources;
	size_t count, at;
	bool is_one; /* one page of one server */
	struct mcp_request *request;
	char *cursor; /* NULL: the first page */
	size_t pages;
	struct buf out;
	struct json_writer w;
};

/* ---- the end ---- */

static void stop(struct tool_call *call)
{
	struct resource_run *run = call->state;
	mcp_request_cancel(run->request, "the user has interrupted the turn");
	buf_finish(&run->out);
	free(run->cursor);
	free(run);
	call->state = NULL;
}

static struct mcp_invocation invocation_of(const struct resource_run *run)
{
	struct str input = str_trim(run->call->input);
	return (struct mcp_invocation){
		.server = run->server.len ? run->server : STR("codex"),
		.tool = run->call->name,
		.arguments = input.len ? input : STR("{}"),
	};
}

static void fail(struct resource_run *run, const char *text)
{
	struct tool_call *call = run->call;
	struct mcp_invocation invocation = invocation_of(run);
	mcp_output_emit_error(call, &invocation, clock_now_ns() - call->started_ns, str_of(text));
	tool_call_finish(call, false, str_of(text));
	stop(call);
}

static void failf(struct resource_run *run, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void failf(struct resource_run *run, const char *format, ...)
{
	auto_buf struct buf text;
	va_list args;
	buf_init(&text, LIMIT_TOOL_OUTPUT);
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	fail(run, buf_str(&text).ptr);
}

static void succeed(struct resource_run *run)
{
	struct tool_call *call = run->call;
	struct mcp_invocation invocation = invocation_of(run);
	auto_buf struct buf answer = {0};
	if (run->out.over) {
		failf(run, "the answer has more than %d MiB", LIMIT_TOOL_OUTPUT / MIB);
		return;
	}
	buf_init(&answer, LIMIT_TOOL_ITEM);
	buf_append_c(&answer, "{\"content\":[{\"type\":\"text\",\"text\":");
	json_quote(&answer, buf_str(&run->out));
	buf_append_c(&answer, "}]}");
	mcp_output_emit(call, &invocation, clock_now_ns() - call->started_ns, buf_str(&answer));
	tool_call_finish(call, true, buf_str(&run->out));
	stop(call);
}

/* ---- requests ---- */

static void on_listed(const struct mcp_reply *reply, void *self);
static void on_read(const struct mcp_reply *reply, void *self);

static bool ask(struct resource_run *run, const char *method, struct str params,
                void (*on_done)(const struct mcp_reply *, void *), struct error *err)
{
	static const struct mcp_request_events listed = {.on_done = on_listed}, read = {.on_done = on_read};
	const struct mcp_offer_source *source = &run->sources[run->at];
	const struct mcp_request_options options = {
		.method = method,
		.params = params,
		.timeout_ms = source->server->tool_timeout_ms,
		.events = on_done == on_read ? &read : &listed,
		.self = run,
	};
	run->request = mcp_request_create(source->client, &options, err);
	return run->request;
}

static void end_list(struct resource_run *run, struct str next)
{
	jw_array_end(&run->w);
	if (run->is_one && next.ptr)
		jw_member_str(&run->w, "nextCursor", next);
	jw_object_end(&run->w);
	succeed(run);
}

/* Asks for the next page, of the first server from run->at on that can be asked. */
static void ask_page(struct resource_run *run)
{
	struct error err;
	for (; run->at < run->count; run->at++, free(steal(run->cursor))) {
		auto_buf struct buf params = {0};
		buf_init(&params, LIMIT_MCP_MESSAGE);
		struct json_writer w = json_writer(&params);
		if (run->cursor)
			jw_member_cstr(&w, "cursor", run->cursor);
		if (!run->is_one && !run->sources[run->at].catalog->has_resources)
			continue;
		if (ask(run, run->kind->method, buf_str(&params), on_listed, &err))
			return;
		if (run->is_one) {
			fail(run, err.text);
			return;
		}
	}
	end_list(run, STR_NONE);
}

static void write_items(struct resource_run *run, const struct json *items)
{
	json_for_each(it, items) {
		if (it->type != JSON_object)
			continue;
		jw_object(&run->w);
		if (!run->is_one)
			jw_member_str(&run->w, "server", run->sources[run->at].server->name);
		json_for_each(member, it) {
			jw_key_str(&run->w, member->key);
			jw_value(&run->w, member);
		}
		jw_object_end(&run->w);
	}
}

/* True if there is a further page to ask for. */
static bool has_more(struct resource_run *run, struct str next)
{
	bool is_again = next.ptr && run->cursor && str_is(next, run->cursor);
	return next.ptr && !is_again && ++run->pages < LIMIT_MCP_PAGES && !run->out.over;
}

static void on_listed(const struct mcp_reply *reply, void *self)
{
	struct resource_run *run = self;
	run->request = NULL;
	if (reply->err && run->is_one) {
		failf(run, "%s failed: %s failed for `%.*s`: %s", run->kind->method, run->kind->method,
		      STR_ARG(run->server), reply->err->text);
		return;
	}
	struct str next = reply->err ? STR_NONE : json_get_str(reply->result, "nextCursor");
	if (!reply->err)
		write_items(run, json_get(reply->result, run->kind->member));
	if (run->is_one) {
		end_list(run, next);
		return;
	}
	bool is_more = has_more(run, next);
	free(run->cursor);
	run->cursor = is_more ? str_dup(next) : NULL;
	run->at += !is_more;
	ask_page(run);
}

static void on_read(const struct mcp_reply *reply, void *self)
{
	struct resource_run *run = self;
	run->request = NULL;
	if (reply->err) {
		failf(run, "resources/read failed: resources/read failed for `%.*s` (%.*s): %s", STR_ARG(run->server),
		      STR_ARG(run->uri), reply->err->text);
		return;
	}
	const struct json *contents = json_get(reply->result, "contents");
	jw_object(&run->w);
	jw_member_str(&run->w, "server", run->server);
	jw_member_str(&run->w, "uri", run->uri);
	jw_member_raw(&run->w, "contents", json_is(contents, JSON_array) ? contents->span : STR("[]"));
	jw_object_end(&run->w);
	succeed(run);
}

/* ---- the beginning ---- */

static struct resource_run *begin(struct tool_call *call, const struct list_kind *kind, struct str server)
{
	struct resource_run *run = xnew(struct resource_run);
	*run = (struct resource_run){.call = call, .kind = kind, .server = server};
	buf_init(&run->out, LIMIT_TOOL_OUTPUT);
	run->w = json_writer(&run->out);
	const struct mcp_offer *offer = call->host->mcp_offer ? call->host->mcp_offer(call->host) : NULL;
	run->sources = mcp_offer_sources(offer, &run->count);
	call->state = run;
	call->stop = stop;
	struct mcp_invocation invocation = invocation_of(run);
	mcp_output_emit_begin(call, &invocation);
	return run;
}

/* Selects the named server; false, and the call has failed, if it does not exist. */
static bool select_server(struct resource_run *run)
{
	while (run->at < run->count && !str_eq(run->sources[run->at].server->name, run->server))
		run->at++;
	if (run->at < run->count)
		return true;
	failf(run, "unknown MCP server '%.*s'", STR_ARG(run->server));
	return false;
}

static void list(struct tool_call *call, const struct list_kind *kind, struct str server, struct str cursor)
{
	struct resource_run *run = begin(call, kind, server);
	run->is_one = server.len;
	if (cursor.len && !server.len) {
		fail(run, "cursor can only be used when a server is specified");
		return;
	}
	if (run->is_one && !select_server(run))
		return;
	run->cursor = cursor.len ? str_dup(cursor) : NULL;
	jw_object(&run->w);
	if (run->is_one)
		jw_member_str(&run->w, "server", server);
	jw_key(&run->w, kind->member);
	jw_array(&run->w);
	ask_page(run);
}

static void list_resources(struct tool_call *call)
{
	const struct args_list_mcp_resources *args = call->args;
	list(call, &resources, args->server, args->cursor);
}

void tool_list_mcp_resources_start(struct tool_call *call)
{
	const struct args_list_mcp_resources *args = call->args;
	if (!mcp_await_begin(call, args->server.len ? args->server : STR_NONE, list_resources))
		list_resources(call);
}

static void list_templates(struct tool_call *call)
{
	const struct args_list_mcp_resource_templates *args = call->args;
	list(call, &templates, args->server, args->cursor);
}

void tool_list_mcp_resource_templates_start(struct tool_call *call)
{
	const struct args_list_mcp_resource_templates *args = call->args;
	if (!mcp_await_begin(call, args->server.len ? args->server : STR_NONE, list_templates))
		list_templates(call);
}

static void read_resource(struct tool_call *call)
{
	const struct args_read_mcp_resource *args = call->args;
	struct resource_run *run = begin(call, NULL, args->server);
	auto_buf struct buf params = {0};
	struct error err;
	buf_init(&params, LIMIT_MCP_MESSAGE);
	struct json_writer w = json_writer(&params);
	run->uri = args->uri;
	jw_member_str(&w, "uri", args->uri);
	if (select_server(run) && !ask(run, "resources/read", buf_str(&params), on_read, &err))
		fail(run, err.text);
}

void tool_read_mcp_resource_start(struct tool_call *call)
{
	const struct args_read_mcp_resource *args = call->args;
	if (!mcp_await_begin(call, args->server, read_resource))
		read_resource(call);
}
