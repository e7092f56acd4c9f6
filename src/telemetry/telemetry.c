/* Records are made from the events that every front end gets, so nothing else in the engine knows of them. A collector
 * that does not answer costs a few requests and no memory: beyond LIMIT_TELEMETRY_SENDS batches are dropped, and the
 * next record says how many. Prompts, commands, outputs and keys are left out unless log_user_prompt asks for them. */
#define LOG_MODULE "telemetry"
#include "telemetry/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/uuid.h"
#include "base/vec.h"
#include "config/config.h"
#include "config/config_env.h"
#include "config/otel.h"
#include "net/http_fetch.h"
#include "telemetry/telemetry_limits.h"

enum { SEVERITY_INFO = 9, HOST_SIZE = 256, TIMEOUT_MS = 10 * 1000 };

struct telemetry {
	struct http_client *http;
	struct str originator;
	struct otel settings;
	struct buf records; /* JSON objects, comma-separated */
	char session[UUID_TEXT_SIZE];
	char *model;
	char *servers;                /* names of the MCP servers */
	const char *summary;          /* detail of reasoning summaries */
	int64_t total;                /* tokens of the session, as recorded last */
	uint64_t dropped;             /* batches that were not sent */
	uint64_t opened_ms, asked_ms; /* when the session was opened; when the model's next response began to be due */
	VEC(char *) asked;            /* the calls that the user was asked about */
	uint64_t started_ms;          /* when the running task started; 0: its first output was recorded */
	unsigned sends;               /* requests that have no answer */
	bool is_closed;               /* waits for the last answer, then frees itself */
};

/* ---- attributes ---- */

static void add_value(struct json_writer *w, const char *key, const char *type)
{
	jw_object(w);
	jw_member_cstr(w, "key", key);
	jw_key(w, "value");
	jw_object(w);
	jw_key(w, type);
}

static void add_end(struct json_writer *w)
{
	jw_object_end(w);
	jw_object_end(w);
}

static void add_text(struct json_writer *w, const char *key, struct str text)
{
	if (!text.ptr)
		return;
	size_t len = text.len > LIMIT_TELEMETRY_TEXT ? text_floor_boundary(text, LIMIT_TELEMETRY_TEXT) : text.len;
	add_value(w, key, "stringValue");
	jw_str(w, str_n(text.ptr, len));
	add_end(w);
}

/* OTLP has 64-bit integers as strings. */
static void add_int(struct json_writer *w, const char *key, int64_t number)
{
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)number);
	add_value(w, key, "intValue");
	jw_cstr(w, text);
	add_end(w);
}

static void add_bool(struct json_writer *w, const char *key, bool value)
{
	add_value(w, key, "boolValue");
	jw_bool(w, value);
	add_end(w);
}

/* ---- records ---- */

static void add_time(struct json_writer *w, const char *key, int64_t now_ms)
{
	char text[32];
	snprintf(text, sizeof(text), "%lld000000", (long long)now_ms);
	jw_member_cstr(w, key, text);
}

static struct json_writer begin(struct telemetry *t, const char *name)
{
	char now[CLOCK_RFC3339_SIZE];
	int64_t now_ms = clock_unix_ms();
	clock_rfc3339(now_ms, now);
	buf_append_c(&t->records, t->records.len ? "," : "");
	struct json_writer w = json_writer(&t->records);
	jw_object(&w);
	add_time(&w, "timeUnixNano", now_ms);
	add_time(&w, "observedTimeUnixNano", now_ms);
	jw_member_i64(&w, "severityNumber", SEVERITY_INFO);
	jw_member_cstr(&w, "severityText", "INFO");
	jw_key(&w, "body");
	jw_object(&w);
	jw_member_cstr(&w, "stringValue", name);
	jw_object_end(&w);
	jw_key(&w, "attributes");
	jw_array(&w);
	add_text(&w, "event.name", str_of(name));
	add_text(&w, "event.timestamp", str_of(now));
	add_text(&w, "conversation.id", str_of(t->session));
	add_text(&w, "app.version", STR(CODEX_VERSION));
	add_text(&w, "originator", t->originator);
	add_text(&w, "model", str_of(t->model));
	add_text(&w, "slug", str_of(t->model));
	add_text(&w, "terminal.type", str_of(config_env("TERM_PROGRAM") ?: "unknown"));
	if (t->dropped)
		add_int(&w, "dropped_batches", (int64_t)t->dropped);
	t->dropped = 0;
	return w;
}

static void end(struct json_writer *w)
{
	jw_array_end(w);
	jw_object_end(w);
}

/* ---- sending ---- */

static void telemetry_free(struct telemetry *t)
{
	vec_for_each(id, &t->asked)
		free(*id);
	vec_finish(&t->asked);
	buf_finish(&t->records);
	free(t->model);
	free(t->servers);
	free(t);
}

static void on_sent(int status, struct str body, const struct error *err, void *self)
{
	struct telemetry *t = self;
	(void)body;
	t->sends--;
	if (err || status < 200 || status > 299)
		log_debug("records were not accepted: %s (status %d)", err ? err->text : "refused", status);
	if (t->is_closed && !t->sends)
		telemetry_free(t);
}

static void write_resource(struct telemetry *t, struct json_writer *w)
{
	char host[HOST_SIZE] = "";
	jw_key(w, "resource");
	jw_object(w);
	jw_key(w, "attributes");
	jw_array(w);
	add_text(w, "service.name", t->originator);
	add_text(w, "service.version", STR(CODEX_VERSION));
	add_text(w, "env", t->settings.environment);
	if (gethostname(host, sizeof(host) - 1) == 0)
		add_text(w, "host.name", str_of(host));
	jw_array_end(w);
	jw_object_end(w);
}

static void write_body(struct telemetry *t, struct buf *out)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "resourceLogs");
	jw_array(&w);
	jw_object(&w);
	write_resource(t, &w);
	jw_key(&w, "scopeLogs");
	jw_array(&w);
	jw_object(&w);
	jw_key(&w, "logRecords");
	jw_array(&w);
	jw_raw(&w, buf_str(&t->records));
	jw_array_end(&w);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}

static void post(struct telemetry *t, struct str body)
{
	size_t count = 1;
	auto_arena struct arena arena = {0};
	auto_free char *url = str_dup(t->settings.endpoint);
	struct str *headers =
		arena_array(&arena, struct str, 1 + (t->settings.headers ? t->settings.headers->count : 0));
	headers[0] = STR("Content-Type: application/json");
	toml_for_each(it, t->settings.headers)
		headers[count++] = str_of(arena_printf(&arena, "%.*s: %.*s", STR_ARG(it->key), STR_ARG(it->text)));
	const struct http_fetch_request request = {
		.method = "POST",
		.url = url,
		.headers = headers,
		.header_count = count,
		.body = body,
		.max = LIMIT_TELEMETRY_ANSWER,
		.timeout_ms = TIMEOUT_MS,
		.is_farewell = true,
	};
	t->sends++;
	http_fetch_start(t->http, &request, on_sent, t);
}

static void flush(struct telemetry *t)
{
	auto_buf struct buf body;
	buf_init(&body, 2 * LIMIT_TELEMETRY_BATCH);
	if (!t->records.len)
		return;
	if (t->sends >= LIMIT_TELEMETRY_SENDS || t->records.over) {
		t->dropped++;
	} else {
		write_body(t, &body);
		post(t, buf_str(&body));
	}
	buf_clear(&t->records);
}

/* ---- events ---- */

static struct str tag_of(const struct union_type *type, int tag)
{
	const struct variant *variant = union_find_tag(type, tag);
	return variant ? str_of(variant->wire) : STR_NONE;
}

static void on_configured(struct telemetry *t, const struct ev_session_configured *event)
{
	snprintf(t->session, sizeof(t->session), "%.*s", STR_ARG(event->session_id));
	free(t->model);
	t->model = str_dup(event->model);
	struct json_writer w = begin(t, "codex.conversation_starts");
	add_text(&w, "provider_name", event->model_provider_id);
	add_text(&w, "approval_policy", tag_of(&union_ask_for_approval, (int)event->approval_policy->tag));
	add_text(&w, "sandbox_policy", tag_of(&union_sandbox, (int)event->sandbox_policy->tag));
	add_text(&w, "reasoning_summary", str_of(t->summary));
	add_text(&w, "mcp_servers", str_of(t->servers));
	end(&w);
	w = begin(t, "codex.startup_phase");
	add_text(&w, "phase", STR("session_configured"));
	add_int(&w, "duration_ms", (int64_t)(clock_now_ms() - t->opened_ms));
	end(&w);
}

static void on_prompt(struct telemetry *t, const struct user_message_item *item)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == user_input_text)
			buf_append_str(&text, item->content[i].text->text);
	}
	struct json_writer w = begin(t, "codex.user_prompt");
	add_int(&w, "prompt_length", (int64_t)text_char_count(buf_str(&text)));
	add_text(&w, "prompt", t->settings.logs_prompts ? buf_str(&text) : STR("[REDACTED]"));
	end(&w);
}

static void on_usage(struct telemetry *t, const struct ev_token_count *event)
{
	if (!event->info || event->info->total_token_usage->total_tokens == t->total)
		return; /* the start of a response repeats the last usage */
	const struct token_usage *usage = event->info->last_token_usage;
	t->total = event->info->total_token_usage->total_tokens;
	int64_t duration_ms = (int64_t)(clock_now_ms() - t->asked_ms);
	struct json_writer w = begin(t, "codex.api_request");
	add_int(&w, "duration_ms", duration_ms);
	add_int(&w, "http.response.status_code", 200);
	add_bool(&w, "success", true);
	end(&w);
	t->asked_ms = clock_now_ms();
	w = begin(t, "codex.sse_event");
	add_text(&w, "event.kind", STR("response.completed"));
	add_int(&w, "duration_ms", duration_ms);
	add_int(&w, "input_token_count", usage->input_tokens);
	add_int(&w, "output_token_count", usage->output_tokens);
	add_int(&w, "cached_token_count", usage->cached_input_tokens);
	add_int(&w, "reasoning_token_count", usage->reasoning_output_tokens);
	add_int(&w, "tool_token_count", usage->total_tokens);
	end(&w);
}

/* ---- calls ---- */

/* The end of a tool's call. */
struct tool_end {
	const char *name;
	struct str call_id, output;
	const struct duration *duration;
	bool is_success, has_run;
};

static void on_asked(struct telemetry *t, struct str call_id)
{
	if (t->asked.count < LIMIT_TELEMETRY_ASKED)
		vec_push(&t->asked, str_dup(call_id));
}

/* True if the user was asked about the call, which is forgotten. */
static bool take_asked(struct telemetry *t, struct str call_id)
{
	for (size_t i = 0; i < t->asked.count; i++) {
		if (!str_is(call_id, t->asked.items[i]))
			continue;
		free(t->asked.items[i]);
		t->asked.items[i] = t->asked.items[--t->asked.count];
		return true;
	}
	return false;
}

static void add_decision(struct telemetry *t, const char *name, struct str call_id, bool is_approved, bool is_user)
{
	struct json_writer w = begin(t, "codex.tool_decision");
	add_text(&w, "tool_name", str_of(name));
	add_text(&w, "call_id", call_id);
	add_text(&w, "decision", is_approved ? STR("approved") : STR("denied"));
	add_text(&w, "source", is_user ? STR("user") : STR("config"));
	end(&w);
}

/* A call that was asked about and has no end was denied. */
static void on_task_end(struct telemetry *t)
{
	while (t->asked.count) {
		auto_free char *id = t->asked.items[--t->asked.count];
		add_decision(t, NULL, str_of(id), false, true);
	}
}

/* A refused command ends with the words of the engine in place of its output. */
static bool is_denied(const struct tool_end *call)
{
	return !call->has_run && str_find(call->output, STR("rejected")) >= 0;
}

static void on_tool_end(struct telemetry *t, const struct tool_end *call)
{
	add_decision(t, call->name, call->call_id, !is_denied(call), take_asked(t, call->call_id));
	t->asked_ms = clock_now_ms();
	struct json_writer w = begin(t, "codex.tool_result");
	add_text(&w, "tool_name", str_of(call->name));
	add_text(&w, "call_id", call->call_id);
	if (call->duration)
		add_int(&w, "duration_ms", call->duration->secs * 1000 + call->duration->nanos / 1000000);
	add_bool(&w, "success", call->is_success);
	if (t->settings.logs_prompts)
		add_text(&w, "output", call->output);
	end(&w);
}

static void on_first_output(struct telemetry *t)
{
	if (!t->started_ms)
		return;
	struct json_writer w = begin(t, "codex.turn_ttft");
	add_int(&w, "duration_ms", (int64_t)(clock_now_ms() - t->started_ms));
	end(&w);
	t->started_ms = 0;
}

static void on_failure(struct telemetry *t, struct str message)
{
	struct json_writer w = begin(t, "codex.api_request");
	add_text(&w, "error.message", t->settings.logs_prompts ? message : STR("[REDACTED]"));
	add_bool(&w, "success", false);
	end(&w);
}

static void record(struct telemetry *t, const struct event *event)
{
	const struct event_msg *msg = &event->msg;
	struct tool_end call = {0};
	switch (msg->tag) {
	case EV_session_configured:
		on_configured(t, msg->session_configured);
		return;
	case EV_task_started:
		t->started_ms = t->asked_ms = clock_now_ms();
		return;
	case EV_exec_approval_request:
		on_asked(t, msg->exec_approval_request->call_id);
		return;
	case EV_apply_patch_approval_request:
		on_asked(t, msg->apply_patch_approval_request->call_id);
		return;
	case EV_task_complete:
	case EV_turn_aborted:
		on_task_end(t);
		return;
	case EV_item_started:
		if (msg->item_started->item->tag != turn_item_user_message)
			on_first_output(t);
		return;
	case EV_item_completed:
		if (msg->item_completed->item->tag == turn_item_user_message)
			on_prompt(t, msg->item_completed->item->user_message);
		return;
	case EV_token_count:
		on_usage(t, msg->token_count);
		return;
	case EV_stream_error:
		on_failure(t, msg->stream_error->message);
		return;
	case EV_error:
		on_failure(t, msg->error->message);
		return;
	case EV_exec_command_end:
		call = (struct tool_end){"exec_command",
		                         msg->exec_command_end->call_id,
		                         msg->exec_command_end->aggregated_output,
		                         msg->exec_command_end->duration,
		                         msg->exec_command_end->exit_code == 0,
		                         msg->exec_command_end->exit_code != -1};
		on_tool_end(t, &call);
		return;
	case EV_patch_apply_end:
		call = (struct tool_end){
			"apply_patch", msg->patch_apply_end->call_id, msg->patch_apply_end->standard_output,
			NULL,          msg->patch_apply_end->success, msg->patch_apply_end->success};
		on_tool_end(t, &call);
		return;
	default:
		return;
	}
}

static bool ends_batch(const struct telemetry *t, enum event_tag tag)
{
	return tag == EV_task_complete || tag == EV_turn_aborted || tag == EV_shutdown_complete ||
	       t->records.len > LIMIT_TELEMETRY_BATCH / 2;
}

void telemetry_event(struct telemetry *t, const struct event *event)
{
	if (!t)
		return;
	record(t, event);
	if (ends_batch(t, event->msg.tag))
		flush(t);
}

/* ---- lifecycle ---- */

static char *join_names(const struct toml *servers)
{
	auto_buf struct buf names;
	buf_init(&names, LIMIT_TELEMETRY_TEXT);
	toml_for_each(it, servers)
		buf_printf(&names, "%s%.*s", names.len ? ", " : "", STR_ARG(it->key));
	return str_dup(buf_str(&names));
}

struct telemetry *telemetry_create(const struct config *config, struct http_client *http, struct str originator)
{
	struct otel settings;
	if (otel_read(config->otel, &settings, NULL) != 0 || !settings.endpoint.ptr)
		return NULL;
	struct telemetry *t = xnew(struct telemetry);
	t->http = http;
	t->originator = originator;
	t->opened_ms = clock_now_ms();
	t->settings = settings;
	t->servers = join_names(config->mcp_servers);
	t->summary = enum_wire(&enum_reasoning_summary, (int)config->model_reasoning_summary);
	buf_init(&t->records, LIMIT_TELEMETRY_BATCH);
	return t;
}

/* The answers of the last requests come after the end of the session. */
void telemetry_destroy(struct telemetry *t)
{
	if (!t)
		return;
	flush(t);
	t->is_closed = true;
	if (!t->sends)
		telemetry_free(t);
}
