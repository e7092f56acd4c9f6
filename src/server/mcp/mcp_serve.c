/* JSON-RPC for one client. The answers to calls of tools come from the threads; everything else is answered at once. */
#include "server/mcp/mcp_serve.h"

#include "base/arena.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/user_agent.h"
#include "server/mcp/mcp_serve_thread.h"
#include "server/server_limits.h"
#include "transport/transport_stdio.h"

enum {
	PARSE_ERROR = -32700,
	INVALID_REQUEST = -32600,
	METHOD_NOT_FOUND = -32601,
	INVALID_PARAMS = -32602,
};

/* The newest is the answer to a client that asks for one that is not here. */
enum { REVISION_WITH_BATCHES = 2 };
static const char *const revisions[] = {"2025-11-25", "2025-06-18", [REVISION_WITH_BATCHES] = "2025-03-26",
                                        "2024-11-05"};

struct mcp_serve {
	struct mcp_serve_options options;
	struct mcp_thread_host host;
	struct transport *transport;
	struct list threads; /* the one that was used last comes last */
	struct loop_deferred ended;
	int64_t last_id;
	bool is_initialized, has_batches;
	bool is_full; /* the client does not read: all engines are held */
};

static struct mcp_serve *serve_of(struct mcp_thread_host *host)
{
	return container_of(host, struct mcp_serve, host);
}

/* ---- output ---- */

static void hold_threads(struct mcp_serve *serve)
{
	struct mcp_thread *it;
	serve->is_full = true;
	list_for_each(it, &serve->threads, link)
		codex_hold(it->codex);
}

static void on_drain(void *self)
{
	struct mcp_serve *serve = self;
	struct mcp_thread *it;
	serve->is_full = false;
	list_for_each(it, &serve->threads, link)
		codex_release(it->codex);
}

static void send_line(struct mcp_thread_host *host, struct str json)
{
	struct mcp_serve *serve = serve_of(host);
	auto_buf struct buf line;
	buf_init(&line, LIMIT_STREAM_QUEUE_HARD);
	buf_append_str(&line, json);
	buf_append_char(&line, '\n');
	if (!transport_send(serve->transport, buf_str(&line)) && !serve->is_full)
		hold_threads(serve);
}

static int64_t take_id(struct mcp_thread_host *host)
{
	return ++serve_of(host)->last_id;
}

static void begin(struct json_writer *w, struct str id)
{
	jw_object(w);
	jw_member_cstr(w, "jsonrpc", "2.0");
	jw_member_raw(w, "id", id);
}

static void send_error(struct mcp_serve *serve, struct str id, int code, const char *text, struct str method)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	begin(&w, id);
	jw_key(&w, "error");
	jw_object(&w);
	jw_member_i64(&w, "code", code);
	jw_member_cstr(&w, "message", text);
	if (method.ptr) {
		jw_key(&w, "data");
		jw_object(&w);
		jw_member_str(
			&w, "method",
			str_n(method.ptr, method.len < LIMIT_MCP_SERVE_SHOWN ? method.len : LIMIT_MCP_SERVE_SHOWN));
		jw_object_end(&w);
	}
	jw_object_end(&w);
	jw_object_end(&w);
	send_line(&serve->host, buf_str(&out));
}

/* ---- methods ---- */

static struct str choose_revision(struct str asked)
{
	for (size_t i = 0; i < countof(revisions); i++)
		if (str_is(asked, revisions[i]))
			return asked;
	return str_of(revisions[0]);
}

static void write_server_info(struct json_writer *w, const struct json *client)
{
	auto_buf struct buf agent;
	buf_init(&agent, LIMIT_LINE);
	const struct user_agent about = {
		.originator = STR("codex_mcp_server"),
		.version = STR(CODEX_VERSION),
		.client = json_get_str(client, "name"),
		.client_version = json_get_str(client, "version"),
	};
	user_agent_write(&agent, &about);
	jw_key(w, "serverInfo");
	jw_object(w);
	jw_member_cstr(w, "name", "codex-mcp-server");
	jw_member_cstr(w, "title", "Codex");
	jw_member_cstr(w, "version", CODEX_VERSION);
	jw_member_str(w, "user_agent", buf_str(&agent));
	jw_object_end(w);
}

/* A client that lists only other modes of elicitation cannot show a form. */
static bool can_elicit(const struct json *params)
{
	const struct json *elicitation = json_path(params, "capabilities.elicitation");
	return json_is(elicitation, JSON_object) && (!elicitation->count || json_get(elicitation, "form"));
}

static void on_initialize(struct mcp_serve *serve, struct str id, const struct json *params)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_LINE);
	if (serve->is_initialized) {
		send_error(serve, id, INVALID_REQUEST, "initialize called more than once", STR_NONE);
		return;
	}
	struct json_writer w = json_writer(&out);
	struct str revision = choose_revision(json_get_str(params, "protocolVersion"));
	serve->is_initialized = true;
	serve->has_batches = str_is(revision, revisions[REVISION_WITH_BATCHES]);
	serve->host.can_elicit = can_elicit(params);
	begin(&w, id);
	jw_key(&w, "result");
	jw_object(&w);
	jw_member_str(&w, "protocolVersion", revision);
	jw_member_raw(&w, "capabilities", STR("{\"tools\":{\"listChanged\":true}}"));
	write_server_info(&w, json_get(params, "clientInfo"));
	jw_object_end(&w);
	jw_object_end(&w);
	send_line(&serve->host, buf_str(&out));
}

static void on_ping(struct mcp_serve *serve, struct str id, const struct json *params)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	(void)params;
	begin(&w, id);
	jw_member_raw(&w, "result", STR("{}"));
	jw_object_end(&w);
	send_line(&serve->host, buf_str(&out));
}

static void on_tools_list(struct mcp_serve *serve, struct str id, const struct json *params)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_LINE);
	struct json_writer w = json_writer(&out);
	(void)params;
	begin(&w, id);
	jw_key(&w, "result");
	jw_object(&w);
	jw_key(&w, "tools");
	mcp_serve_tools_write(&w);
	jw_object_end(&w);
	jw_object_end(&w);
	send_line(&serve->host, buf_str(&out));
}

/* ---- calls ---- */

/* Makes room for another thread. False: all are busy. */
static bool make_room(struct mcp_serve *serve)
{
	struct mcp_thread *it, *idle = NULL;
	size_t count = 0;
	list_for_each(it, &serve->threads, link) {
		if (it->has_failed) {
			mcp_thread_destroy(it);
			continue;
		}
		count++;
		if (!idle && !it->request.ptr)
			idle = it;
	}
	if (count >= LIMIT_MCP_SERVE_THREADS && idle)
		mcp_thread_destroy(idle);
	return count < LIMIT_MCP_SERVE_THREADS || idle;
}

static int call_codex(struct mcp_serve *serve, struct str id, const struct mcp_serve_arguments *arguments,
                      struct error *err)
{
	if (!make_room(serve))
		return error_set(err, ERR_limit, "%d sessions are running; wait for one of them",
		                 LIMIT_MCP_SERVE_THREADS);
	struct mcp_thread *thread = mcp_thread_create(&serve->host, id, arguments, err);
	if (!thread)
		return -(int)err->code;
	list_append(&serve->threads, &thread->link);
	if (serve->is_full)
		codex_hold(thread->codex);
	return 0;
}

static struct mcp_thread *find_thread(struct mcp_serve *serve, struct str thread_id)
{
	struct mcp_thread *it;
	list_for_each(it, &serve->threads, link) {
		if (it->id.ptr && str_eq(it->id, thread_id))
			return it;
	}
	return NULL;
}

static int call_codex_reply(struct mcp_serve *serve, struct str id, const struct mcp_serve_arguments *arguments,
                            struct error *err)
{
	struct str thread_id = mcp_serve_text(arguments, MCP_SERVE_codex_reply_thread_id);
	if (!thread_id.ptr)
		thread_id = mcp_serve_text(arguments, MCP_SERVE_codex_reply_conversation_id);
	if (!thread_id.ptr)
		return error_set(err, ERR_invalid,
		                 "Failed to parse thread_id: either threadId or conversationId must be provided");
	struct mcp_thread *thread = find_thread(serve, thread_id);
	if (!thread)
		return error_set(err, ERR_not_found, "Session not found for thread_id: %.*s",
		                 (int)(thread_id.len < LIMIT_MCP_SERVE_SHOWN ? thread_id.len : LIMIT_MCP_SERVE_SHOWN),
		                 thread_id.ptr);
	if (thread->request.ptr)
		return error_set(err, ERR_busy, "Session %.*s still works on another call", STR_ARG(thread_id));
	list_remove(&thread->link);
	list_append(&serve->threads, &thread->link);
	return mcp_thread_prompt(thread, id, mcp_serve_text(arguments, MCP_SERVE_codex_reply_prompt), err);
}

static int (*const calls[MCP_SERVE_TOOL_count])(struct mcp_serve *serve, struct str id,
                                                const struct mcp_serve_arguments *arguments, struct error *err) = {
	[MCP_SERVE_TOOL_codex] = call_codex,
	[MCP_SERVE_TOOL_codex_reply] = call_codex_reply,
};

static struct mcp_thread *find_call(struct mcp_serve *serve, struct str request)
{
	struct mcp_thread *it;
	list_for_each(it, &serve->threads, link) {
		if (it->request.ptr && str_eq(it->request, request))
			return it;
	}
	return NULL;
}

static void on_tools_call(struct mcp_serve *serve, struct str id, const struct json *params)
{
	struct error err;
	struct mcp_serve_arguments arguments;
	struct str name = json_get_str(params, "name");
	enum mcp_serve_tool tool = mcp_serve_tool_find(name);
	if (!name.ptr || find_call(serve, id)) {
		send_error(serve, id, name.ptr ? INVALID_REQUEST : INVALID_PARAMS,
		           name.ptr ? "the id of a running call is used again" : "missing field `name`", STR_NONE);
		return;
	}
	if (tool == MCP_SERVE_TOOL_count)
		error_set(&err, ERR_not_found, "Unknown tool '%.*s'",
		          (int)(name.len < LIMIT_MCP_SERVE_SHOWN ? name.len : LIMIT_MCP_SERVE_SHOWN), name.ptr);
	else if (mcp_serve_arguments_read(tool, json_get(params, "arguments"), &arguments, &err) == 0 &&
	         calls[tool](serve, id, &arguments, &err) == 0)
		return;
	mcp_thread_send_failure(&serve->host, id, str_of(err.text));
}

static void on_cancelled(struct mcp_serve *serve, struct str id, const struct json *params)
{
	const struct json *request = json_get(params, "requestId");
	struct mcp_thread *thread = request ? find_call(serve, request->span) : NULL;
	(void)id;
	if (thread)
		mcp_thread_cancel(thread);
}

static const struct {
	const char *name;
	bool is_request;
	void (*run)(struct mcp_serve *serve, struct str id, const struct json *params);
} methods[] = {
	{"initialize", true, on_initialize},
	{"ping", true, on_ping},
	{"tools/list", true, on_tools_list},
	{"tools/call", true, on_tools_call},
	{"notifications/cancelled", false, on_cancelled},
};

/* ---- input ---- */

static void on_answer(struct mcp_serve *serve, const struct json *id, const struct json *result)
{
	struct mcp_thread *it;
	int64_t number;
	if (!json_to_i64(id, &number) || number < 1)
		return;
	list_for_each(it, &serve->threads, link) {
		if (mcp_thread_answer(it, number, result))
			return;
	}
}

static void on_method(struct mcp_serve *serve, struct str method, const struct json *id, const struct json *params)
{
	for (size_t i = 0; i < countof(methods); i++) {
		if (!str_is(method, methods[i].name) || methods[i].is_request != (id != NULL))
			continue;
		methods[i].run(serve, id ? id->span : STR_NONE, params);
		return;
	}
	if (id)
		send_error(serve, id->span, METHOD_NOT_FOUND, "method not found", method);
}

static bool is_id(const struct json *id)
{
	return (id->type == JSON_string || id->type == JSON_number) && id->span.len <= LIMIT_MCP_SERVE_ID;
}

static void on_message(struct mcp_serve *serve, const struct json *json)
{
	const struct json *id = json_get(json, "id"), *method = json_get(json, "method");
	if (id && !is_id(id))
		send_error(serve, STR("null"), INVALID_REQUEST, "id must be a string or a number", STR_NONE);
	else if (json_is(method, JSON_string))
		on_method(serve, method->text, id, json_get(json, "params"));
	else if (id)
		on_answer(serve, id, json_get(json, "result"));
}

/* Each message of a batch is answered on its own. */
static void on_batch(struct mcp_serve *serve, const struct json *batch)
{
	if (!serve->has_batches || !batch->count || batch->count > LIMIT_MCP_BATCH) {
		send_error(serve, STR("null"), INVALID_REQUEST,
		           "a batch needs revision 2025-03-26 and 1 to 256 messages", STR_NONE);
		return;
	}
	json_for_each(it, batch)
		on_message(serve, it);
}

/* Text that is no JSON is ignored, as by codex 0.98: a client may share its output with other programs. */
static void on_frame(struct str frame, void *self)
{
	auto_arena struct arena arena = {0};
	const struct json *json = json_parse(&arena, frame, NULL);
	if (json_is(json, JSON_array))
		on_batch(self, json);
	else
		on_message(self, json);
}

static void on_long_frame(struct str head, void *self)
{
	(void)head;
	send_error(self, STR("null"), PARSE_ERROR, "the message is too long", STR_NONE);
}

static void on_ended(void *self)
{
	struct mcp_serve *serve = self;
	serve->options.on_end(serve->options.self);
}

static void on_end(const struct error *err, void *self)
{
	struct mcp_serve *serve = self;
	(void)err;
	loop_defer(&serve->ended);
}

static const struct transport_events events = {on_frame, on_long_frame, on_end, on_drain};

struct mcp_serve *mcp_serve_create(const struct mcp_serve_options *options, struct error *err)
{
	struct mcp_serve *serve = xnew(struct mcp_serve);
	serve->options = *options;
	serve->host = (struct mcp_thread_host){.options = &serve->options, .send = send_line, .take_id = take_id};
	list_init(&serve->threads);
	loop_deferred_init(&serve->ended, options->loop, on_ended, serve);
	serve->transport = transport_stdio_create(options->loop, options->in, options->out, &events, serve, err);
	if (serve->transport)
		return serve;
	mcp_serve_destroy(serve);
	return NULL;
}

void mcp_serve_destroy(struct mcp_serve *serve)
{
	if (!serve)
		return;
	struct mcp_thread *it;
	list_for_each(it, &serve->threads, link)
		mcp_thread_destroy(it);
	transport_destroy(serve->transport, true);
	loop_deferred_finish(&serve->ended);
	free(serve);
}
