/* Events become notifications `codex/event` in the wire profile of the configuration, as clients of `codex proto` see
 * them. A request for approval becomes an elicitation without fields: accepting it approves, and everything else
 * denies. */
#include "server/mcp/mcp_serve_thread.h"

#include "base/arena.h"
#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"
#include "config/config.h"
#include "config/toml/toml_text.h"

struct ask {
	struct list link;
	int64_t id; /* of the request to the client; 0: it is denied at once */
	enum event_tag tag;
	struct str call_id; /* owned */
};

/* ---- messages ---- */

static void begin(struct json_writer *w)
{
	jw_object(w);
	jw_member_cstr(w, "jsonrpc", "2.0");
}

static void send_message(struct mcp_thread_host *host, struct json_writer *w)
{
	jw_object_end(w);
	host->send(host, buf_str(w->out));
}

/* thread_id: STR_NONE writes no structured content, which an error does not need. */
static void send_result(struct mcp_thread_host *host, struct str request, struct str text, struct str thread_id,
                        bool is_error)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	begin(&w);
	jw_member_raw(&w, "id", request);
	jw_key(&w, "result");
	jw_object(&w);
	jw_key(&w, "content");
	jw_array(&w);
	jw_object(&w);
	jw_member_cstr(&w, "type", "text");
	jw_member_str(&w, "text", text.ptr ? text : STR(""));
	jw_object_end(&w);
	jw_array_end(&w);
	if (thread_id.ptr) {
		jw_key(&w, "structuredContent");
		jw_object(&w);
		jw_member_str(&w, "threadId", thread_id);
		jw_member_str(&w, "content", text.ptr ? text : STR(""));
		jw_object_end(&w);
	}
	if (is_error)
		jw_member_bool(&w, "isError", true);
	jw_object_end(&w);
	send_message(host, &w);
}

void mcp_thread_send_failure(struct mcp_thread_host *host, struct str request, struct str text)
{
	send_result(host, request, text, STR_NONE, true);
}

/* line: {"id":…,"msg":…}. */
static void send_event_line(struct mcp_thread *thread, struct str line)
{
	auto_buf struct buf out;
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer w = json_writer(&out);
	begin(&w);
	jw_member_cstr(&w, "method", "codex/event");
	jw_key(&w, "params");
	jw_object(&w);
	jw_key(&w, "_meta");
	jw_object(&w);
	if (thread->request.ptr)
		jw_member_raw(&w, "requestId", thread->request);
	jw_member_str(&w, "threadId", thread->id);
	jw_object_end(&w);
	buf_append_char(&out, ',');
	buf_append_str(&out, str_skip(line, 1)); /* the rest of the object, with its closing brace */
	send_message(thread->host, &w);
}

static void send_event(struct mcp_thread *thread, const struct event *event)
{
	auto_buf struct buf lines;
	buf_init(&lines, LIMIT_STREAM_QUEUE_HARD);
	wire_profile_write(&thread->style, event, &lines);
	struct str rest = buf_str(&lines), line;
	while (str_next_line(&rest, &line))
		if (line.len > 1)
			send_event_line(thread, line);
}

/* ---- approvals ---- */

static void ask_destroy(struct ask *ask)
{
	list_remove(&ask->link);
	str_free(&ask->call_id);
	free(ask);
}

static void answer(struct mcp_thread *thread, struct ask *ask, bool is_approved)
{
	const struct review_decision decision = {.tag = is_approved ? review_decision_approved
	                                                            : review_decision_denied};
	enum event_tag tag = ask->tag;
	struct str call_id = ask->call_id;
	ask->call_id = STR_NONE;
	ask_destroy(ask);
	codex_answer(thread->codex, tag, call_id, &decision);
	str_free(&call_id);
}

static void on_deny(void *self)
{
	struct mcp_thread *thread = self;
	struct ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->id)
			continue;
		loop_defer(&thread->deny); /* for the next one, because the answer may add or remove others */
		answer(thread, it, false);
		return;
	}
}

/* Approves if nothing in the answer says otherwise, and something says so. Old clients send `decision`. */
static bool approves(const struct json *result)
{
	struct str action = json_get_str(result, "action"), decision = json_get_str(result, "decision");
	bool is_agreed = str_is(decision, "approved") || str_is(decision, "approved_for_session");
	return (action.ptr || decision.ptr) && (!action.ptr || str_is(action, "accept")) &&
	       (!decision.ptr || is_agreed);
}

bool mcp_thread_answer(struct mcp_thread *thread, int64_t id, const struct json *result)
{
	struct ask *it;
	list_for_each(it, &thread->asks, link) {
		if (it->id != id)
			continue;
		answer(thread, it, approves(result));
		return true;
	}
	return false;
}

/* Copies members of the event's message under other names. */
static void copy_member(struct json_writer *w, const char *name, const struct json *msg, const char *member)
{
	const struct json *value = json_get(msg, member);
	if (!value)
		return;
	jw_key(w, name);
	jw_value(w, value);
}

static void write_question(struct json_writer *w, enum event_tag tag, const struct json *msg)
{
	if (tag == EV_apply_patch_approval_request) {
		jw_member_cstr(w, "message", "Allow Codex to apply proposed code changes?");
		jw_member_cstr(w, "codex_elicitation", "patch-approval");
		copy_member(w, "codex_reason", msg, "reason");
		copy_member(w, "codex_grant_root", msg, "grant_root");
		copy_member(w, "codex_changes", msg, "changes");
		return;
	}
	auto_buf struct buf command;
	buf_init(&command, LIMIT_LINE);
	json_for_each(it, json_get(msg, "command"))
		buf_printf(&command, "%s%.*s", command.len ? " " : "", (int)it->text.len, it->text.ptr);
	jw_key(w, "message");
	jw_strf(w, "Allow Codex to run `%.*s` in `%.*s`?", (int)command.len, buf_str(&command).ptr,
	        STR_ARG(json_get_str(msg, "cwd")));
	jw_member_cstr(w, "codex_elicitation", "exec-approval");
	copy_member(w, "codex_reason", msg, "reason");
	copy_member(w, "codex_command", msg, "command");
	copy_member(w, "codex_cwd", msg, "cwd");
	copy_member(w, "codex_parsed_cmd", msg, "parsed_cmd");
}

static void send_ask(struct mcp_thread *thread, const struct ask *ask, const struct event *event)
{
	auto_arena struct arena arena = {0};
	auto_buf struct buf text, out;
	buf_init(&text, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&out, LIMIT_STREAM_QUEUE_HARD);
	struct json_writer encoded = json_writer(&text), w = json_writer(&out);
	event_encode(event, &encoded);
	const struct json *json = json_parse(&arena, buf_str(&text), NULL);
	begin(&w);
	jw_member_i64(&w, "id", ask->id);
	jw_member_cstr(&w, "method", "elicitation/create");
	jw_key(&w, "params");
	jw_object(&w);
	write_question(&w, ask->tag, json_get(json, "msg"));
	jw_member_raw(&w, "requestedSchema", STR("{\"type\":\"object\",\"properties\":{}}"));
	jw_member_str(&w, "threadId", thread->id);
	if (thread->request.ptr)
		jw_member_raw(&w, "codex_mcp_tool_call_id", thread->request);
	jw_member_str(&w, "codex_event_id", event->id);
	jw_member_str(&w, "codex_call_id", ask->call_id);
	jw_object_end(&w);
	send_message(thread->host, &w);
}

static void on_approval(struct mcp_thread *thread, const struct event *event, struct str call_id)
{
	struct ask *ask = xnew(struct ask);
	ask->tag = event->msg.tag;
	ask->call_id = str_copy(call_id);
	list_append(&thread->asks, &ask->link);
	if (!thread->host->can_elicit) {
		loop_defer(&thread->deny);
		return;
	}
	ask->id = thread->host->take_id(thread->host);
	send_ask(thread, ask, event);
}

/* ---- the call ---- */

static void drop_asks(struct mcp_thread *thread)
{
	struct ask *it;
	list_for_each(it, &thread->asks, link)
		ask_destroy(it);
}

/* Ends the call: the thread is idle afterwards. */
static void end_call(struct mcp_thread *thread, struct str text, bool is_error)
{
	if (thread->request.ptr && !thread->is_cancelled)
		send_result(thread->host, thread->request, text, thread->id, is_error);
	str_free(&thread->request);
	str_free(&thread->failure);
	drop_asks(thread);
	thread->is_cancelled = false;
}

static int submit_prompt(struct mcp_thread *thread, struct error *err)
{
	char id[32];
	int len = snprintf(id, sizeof(id), "%lld", (long long)++thread->turn_count);
	struct input_text text = {.text = thread->prompt};
	struct user_input item = {.tag = user_input_text, .text = &text};
	struct op_user_input body = {.items = &item, .items_count = 1};
	const struct op op = {.tag = OP_user_input, .body = &body};
	int status = codex_submit_op(thread->codex, str_n(id, (size_t)len), &op, err);
	str_free(&thread->prompt);
	return status;
}

static void on_configured(struct mcp_thread *thread)
{
	struct error err;
	if (thread->prompt.ptr && submit_prompt(thread, &err) != 0)
		end_call(thread, str_of(err.text), true);
}

static void on_event(const struct event *event, void *self)
{
	struct mcp_thread *thread = self;
	const struct event_msg *msg = &event->msg;
	if (msg->tag == EV_session_configured)
		thread->id = str_copy(msg->session_configured->session_id);
	send_event(thread, event);
	switch (msg->tag) {
	case EV_session_configured:
		on_configured(thread);
		break;
	case EV_error:
		str_free(&thread->failure);
		thread->failure = str_copy(msg->error->message);
		thread->has_failed = !thread->id.ptr;
		if (!thread->is_running)
			end_call(thread, thread->failure, true);
		break;
	case EV_task_started:
		thread->is_running = true;
		break;
	case EV_exec_approval_request:
		on_approval(thread, event, msg->exec_approval_request->call_id);
		break;
	case EV_apply_patch_approval_request:
		on_approval(thread, event, msg->apply_patch_approval_request->call_id);
		break;
	case EV_task_complete:
		thread->is_running = false;
		end_call(thread, thread->failure.ptr ? thread->failure : msg->task_complete->last_agent_message,
		         thread->failure.ptr != NULL);
		break;
	case EV_turn_aborted:
		thread->is_running = false;
		end_call(thread, STR("The turn was aborted."), true);
		break;
	default:
		break;
	}
}

int mcp_thread_prompt(struct mcp_thread *thread, struct str request, struct str prompt, struct error *err)
{
	thread->prompt = str_copy(prompt);
	thread->request = str_copy(request);
	int status = submit_prompt(thread, err);
	if (status != 0)
		str_free(&thread->request);
	return status;
}

void mcp_thread_cancel(struct mcp_thread *thread)
{
	const struct op op = {.tag = OP_interrupt};
	thread->is_cancelled = true;
	if (thread->prompt.ptr) { /* the session is not configured yet */
		str_free(&thread->prompt);
		end_call(thread, STR_NONE, true);
		return;
	}
	best_effort(codex_submit_op(thread->codex, STR("interrupt"), &op, NULL));
}

/* ---- the settings ---- */

struct settings {
	struct arena arena;
	VEC(struct str) overrides;
	VEC(struct config_flag) flags;
};

static void add_flag(struct settings *settings, const char *key, struct str value)
{
	if (value.ptr)
		vec_push(&settings->flags, (struct config_flag){key, key, value});
}

/* Adds the members of the argument `config` as options of the command line. */
static void add_table(struct settings *settings, const struct json *table)
{
	json_for_each(it, table) {
		auto_buf struct buf text;
		buf_init(&text, LIMIT_LINE);
		buf_printf(&text, "%.*s=", (int)it->key.len, it->key.ptr);
		toml_write_json(&text, it);
		vec_push(&settings->overrides, arena_str(&settings->arena, buf_str(&text)));
	}
}

static struct config *load(const struct mcp_serve_options *options, const struct mcp_serve_arguments *arguments,
                           const char *cwd, struct error *err)
{
	struct settings settings = {0};
	struct str profile = mcp_serve_text(arguments, MCP_SERVE_codex_profile);
	for (size_t i = 0; i < options->override_count; i++)
		vec_push(&settings.overrides, options->overrides[i]);
	add_table(&settings, arguments->values[MCP_SERVE_codex_config]);
	add_flag(&settings, "model", mcp_serve_text(arguments, MCP_SERVE_codex_model));
	add_flag(&settings, "approval_policy", mcp_serve_text(arguments, MCP_SERVE_codex_approval_policy));
	add_flag(&settings, "sandbox_mode", mcp_serve_text(arguments, MCP_SERVE_codex_sandbox));
	add_flag(&settings, "developer_instructions",
	         mcp_serve_text(arguments, MCP_SERVE_codex_developer_instructions));
	add_flag(&settings, "compact_prompt", mcp_serve_text(arguments, MCP_SERVE_codex_compact_prompt));
	const struct config_source source = {
		.cwd = cwd,
		.profile = profile.ptr ? arena_cstr(&settings.arena, profile) : NULL,
		.overrides = settings.overrides.items,
		.override_count = settings.overrides.count,
		.flags = settings.flags.items,
		.flag_count = settings.flags.count,
	};
	struct config *config = config_load(&source, err);
	vec_finish(&settings.overrides);
	vec_finish(&settings.flags);
	arena_finish(&settings.arena);
	if (!config)
		error_wrap(err, "Failed to load Codex configuration from overrides");
	return config;
}

static char *find_cwd(const char *base, struct str cwd, struct error *err)
{
	auto_free char *name = str_dup(cwd.ptr ? cwd : STR("."));
	auto_free char *path = path_join(base, name);
	char *real = realpath(path, NULL);
	if (!real || !dir_exists(real)) {
		error_set(err, ERR_not_found, "cwd: %s is not a folder", path);
		free(real);
		return NULL;
	}
	return real;
}

static void open_codex(struct mcp_thread *thread, struct config *config, const char *cwd, struct str instructions)
{
	const struct codex_options options = {
		.services = thread->host->options->services,
		.config = config,
		.source = session_source_mcp,
		.cwd = cwd,
		.is_interactive = true,
		.is_unattended = true, /* only approvals can be answered */
		.begins_once_allowed = wire_profile_begins_once_allowed(config->wire_profile),
		.on_event = on_event,
		.self = thread,
	};
	struct op_configure_session configure = {.base_instructions = instructions};
	const struct op op = {.tag = OP_configure_session, .body = &configure};
	thread->style = (struct wire_style){.profile = config->wire_profile,
	                                    .shows_raw_reasoning = config->show_raw_agent_reasoning};
	thread->codex = codex_open(&options);
	best_effort(codex_submit_op(thread->codex, STR(""), &op, NULL)); /* the queue of a new engine is empty */
}

struct mcp_thread *mcp_thread_create(struct mcp_thread_host *host, struct str request,
                                     const struct mcp_serve_arguments *arguments, struct error *err)
{
	auto_free char *cwd = find_cwd(host->options->cwd, mcp_serve_text(arguments, MCP_SERVE_codex_cwd), err);
	struct config *config = cwd ? load(host->options, arguments, cwd, err) : NULL;
	if (!config)
		return NULL;
	struct mcp_thread *thread = xnew(struct mcp_thread);
	thread->host = host;
	thread->request = str_copy(request);
	thread->prompt = str_copy(mcp_serve_text(arguments, MCP_SERVE_codex_prompt));
	list_init(&thread->link);
	list_init(&thread->asks);
	loop_deferred_init(&thread->deny, host->options->loop, on_deny, thread);
	open_codex(thread, config, cwd, mcp_serve_text(arguments, MCP_SERVE_codex_base_instructions));
	config_unref(config);
	return thread;
}

void mcp_thread_destroy(struct mcp_thread *thread)
{
	list_remove(&thread->link);
	loop_deferred_finish(&thread->deny);
	codex_close(thread->codex);
	drop_asks(thread);
	str_free(&thread->id);
	str_free(&thread->request);
	str_free(&thread->prompt);
	str_free(&thread->failure);
	free(thread);
}
