/* Records are made from the events that every front end gets, from what the model client reports (telemetry_model.c),
 * and from decisions about calls and their ends. A collector that does not answer costs a few
 * requests and no memory: beyond LIMIT_TELEMETRY_SENDS batches are dropped, and the next record says how many. Prompts,
 * commands, outputs and keys are left out unless log_user_prompt asks for them. */
#define LOG_MODULE "telemetry"
#include "telemetry/telemetry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "config/config.h"
#include "config/config_env.h"
#include "net/http_fetch.h"
#include "telemetry/telemetry_limits.h"
#include "telemetry/telemetry_priv.h"

/* ---- records ---- */

struct json_writer telemetry_begin(struct telemetry *t, const char *name)
{
	telemetry_end_run(t);
	struct json_writer w = otlp_begin(&t->records, name);
	otlp_text(&w, "conversation.id", str_of(t->session));
	otlp_text(&w, "app.version", STR(CODEX_VERSION));
	otlp_text(&w, "originator", t->originator);
	otlp_text(&w, "model", str_of(t->model));
	otlp_text(&w, "slug", str_of(t->model));
	otlp_text(&w, "terminal.type", str_of(config_env("TERM_PROGRAM") ?: "unknown"));
	if (t->dropped)
		otlp_int(&w, "dropped_batches", (int64_t)t->dropped);
	t->dropped = 0;
	return w;
}

void telemetry_add_auth(const struct telemetry *t, struct json_writer *w)
{
	static const char rows[][2][44] = {
		{"auth.env_openai_api_key_present", "OPENAI_API_KEY"},
		{"auth.env_codex_api_key_present", "CODEX_API_KEY"},
		{"auth.env_refresh_token_url_override_present", "CODEX_REFRESH_TOKEN_URL_OVERRIDE"},
	};
	for (size_t i = 0; i < countof(rows); i++)
		otlp_bool(w, rows[i][0], config_env(rows[i][1]));
	otlp_bool(w, "auth.env_codex_api_key_enabled", true);
	if (!t->env_key.ptr)
		return;
	auto_free char *name = str_dup(t->env_key);
	otlp_text(w, "auth.env_provider_key_name", STR("configured"));
	otlp_bool(w, "auth.env_provider_key_present", config_env(name));
}

/* ---- sending ---- */

static void telemetry_free(struct telemetry *t)
{
	buf_finish(&t->records);
	free(t->model);
	free(t->servers);
	free(t->agent);
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
		.timeout_ms = LIMIT_TELEMETRY_MS,
		.is_farewell = true,
	};
	t->sends++;
	http_fetch_start(t->http, &request, on_sent, t);
}

static void flush(struct telemetry *t)
{
	auto_buf struct buf body;
	buf_init(&body, 2 * LIMIT_TELEMETRY_BATCH);
	telemetry_end_run(t);
	if (!t->records.len)
		return;
	if (t->sends >= LIMIT_TELEMETRY_SENDS || t->records.over) {
		t->dropped++;
	} else {
		otlp_request(&body, t->originator, t->settings.environment, buf_str(&t->records));
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
	auto_free char *provider = str_dup(event->model_provider_id);
	const struct toml *key = toml_get(toml_get(toml_get(t->tree, "model_providers"), provider), "env_key");
	t->env_key = toml_is(key, TOML_string) ? key->text : STR_NONE;
	struct json_writer w = telemetry_begin(t, "codex.conversation_starts");
	otlp_text(&w, "provider_name", event->model_provider_id);
	telemetry_add_auth(t, &w);
	if (event->has_reasoning_effort)
		otlp_text(&w, "reasoning_effort",
		          str_of(enum_wire(&enum_reasoning_effort, (int)event->reasoning_effort)));
	otlp_text(&w, "approval_policy", tag_of(&union_ask_for_approval, (int)event->approval_policy->tag));
	otlp_text(&w, "sandbox_policy", tag_of(&union_sandbox, (int)event->sandbox_policy->tag));
	otlp_text(&w, "reasoning_summary", str_of(t->summary));
	otlp_text(&w, "mcp_servers", str_of(t->servers));
	otlp_end(&w);
	w = telemetry_begin(t, "codex.startup_phase");
	otlp_text(&w, "startup.phase", STR("thread_start_total"));
	otlp_text(&w, "startup.status", STR("ready"));
	otlp_int(&w, "duration_ms", (int64_t)(clock_now_ms() - t->opened_ms));
	otlp_end(&w);
}

static void on_prompt(struct telemetry *t, const struct user_message_item *item)
{
	auto_buf struct buf text;
	buf_init(&text, LIMIT_PROMPT);
	for (size_t i = 0; i < item->content_count; i++) {
		if (item->content[i].tag == user_input_text)
			buf_append_str(&text, item->content[i].text->text);
	}
	struct json_writer w = telemetry_begin(t, "codex.user_prompt");
	otlp_int(&w, "prompt_length", (int64_t)text_char_count(buf_str(&text)));
	otlp_text(&w, "prompt", t->settings.logs_prompts ? buf_str(&text) : STR("[REDACTED]"));
	otlp_end(&w);
}

/* The tokens of a response. The start of the next one repeats them. */
static void on_usage(struct telemetry *t, const struct ev_token_count *event)
{
	if (!event->info || event->info->total_token_usage->total_tokens == t->total)
		return;
	const struct token_usage *usage = event->info->last_token_usage;
	t->total = event->info->total_token_usage->total_tokens;
	struct json_writer w = telemetry_begin(t, "codex.sse_event");
	otlp_text(&w, "event.kind", STR("response.completed"));
	otlp_int(&w, "input_token_count", usage->input_tokens);
	otlp_int(&w, "output_token_count", usage->output_tokens);
	otlp_int(&w, "cached_token_count", usage->cached_input_tokens);
	otlp_int(&w, "cache_write_token_count", t->cache_writes);
	otlp_int(&w, "reasoning_token_count", usage->reasoning_output_tokens);
	otlp_int(&w, "tool_token_count", usage->total_tokens);
	if (t->ttft_ms >= 0)
		otlp_int(&w, "ttft_ms", t->ttft_ms);
	if (t->effort[0])
		otlp_text(&w, "model_reasoning_effort", str_of(t->effort));
	otlp_end(&w);
}

/* ---- calls ---- */

/* Adds the names that the tool has for the model. */
static void add_tool(struct json_writer *w, const struct telemetry_call *call)
{
	otlp_text(w, "tool_name", call->name);
	otlp_text(w, "tool_namespace", call->namespace.ptr ? call->namespace : STR("functions"));
	otlp_text(w, "call_id", call->call_id);
}

/* Adds the scheme and the host of a server's URL, without what may be a password. */
static void add_origin(const struct telemetry *t, struct json_writer *w, struct str server)
{
	auto_free char *name = server.ptr ? str_dup(server) : NULL;
	const struct toml *entry = name ? toml_get(toml_get(toml_get(t->tree, "mcp_servers"), name), "url") : NULL;
	auto_free char *url = toml_is(entry, TOML_string) ? str_dup(entry->text) : NULL;
	char *host = url ? strstr(url, "://") : NULL;
	if (host) {
		host += 3;
		host[strcspn(host, "/?#")] = '\0';
		char *end = strrchr(host, '@');
		memmove(host, end ? end + 1 : host, strlen(end ? end + 1 : host) + 1);
	}
	otlp_text(w, "mcp_server", name ? server : STR(""));
	otlp_text(w, "mcp_server_origin", str_of(host ? url : name ? "stdio" : ""));
}

static bool is_full(const struct telemetry *t)
{
	return t->records.len > LIMIT_TELEMETRY_BATCH / 2;
}

static void send_if_full(struct telemetry *t)
{
	if (is_full(t))
		flush(t);
}

bool telemetry_has_texts(const struct telemetry *t)
{
	return t->settings.logs_prompts;
}

void telemetry_decision(struct telemetry *t, const struct telemetry_call *call, struct str decision, const char *source)
{
	struct json_writer w = telemetry_begin(t, "codex.tool_decision");
	add_tool(&w, call);
	otlp_text(&w, "decision", decision);
	otlp_text(&w, "source", str_of(source));
	otlp_end(&w);
	send_if_full(t);
}

void telemetry_result(struct telemetry *t, const struct telemetry_call *call)
{
	struct json_writer w = telemetry_begin(t, "codex.tool_result");
	otlp_int(&w, "tool_result_seq", ++t->results);
	add_tool(&w, call);
	otlp_text(&w, "agent_name", str_of(t->agent ? t->agent : "/root"));
	add_origin(t, &w, call->server);
	otlp_int(&w, "duration_ms", (int64_t)call->duration_ms);
	otlp_bool(&w, "success", call->is_success);
	if (t->settings.logs_prompts) {
		otlp_text(&w, "arguments", call->arguments);
		otlp_text(&w, "output", call->output);
		otlp_bool(&w, "output_truncated", call->output.len > LIMIT_TELEMETRY_TEXT);
	}
	otlp_end(&w);
	send_if_full(t);
}

/* ---- tasks ---- */

static void on_first_output(struct telemetry *t)
{
	if (!t->started_ms)
		return;
	struct json_writer w = telemetry_begin(t, "codex.turn_ttft");
	otlp_int(&w, "duration_ms", (int64_t)(clock_now_ms() - t->started_ms));
	otlp_end(&w);
	t->started_ms = 0;
}

static void record(struct telemetry *t, const struct event *event)
{
	const struct event_msg *msg = &event->msg;
	switch (msg->tag) {
	case EV_session_configured:
		on_configured(t, msg->session_configured);
		return;
	case EV_task_started:
		t->started_ms = clock_now_ms();
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
	default:
		return;
	}
}

static bool ends_batch(const struct telemetry *t, enum event_tag tag)
{
	return tag == EV_task_complete || tag == EV_turn_aborted || tag == EV_shutdown_complete || is_full(t);
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
	t->watch = telemetry_watch;
	t->watch.self = t;
	t->servers = join_names(config->mcp_servers);
	t->tree = config_tree(config);
	t->summary = enum_wire(&enum_reasoning_summary, (int)config->model_reasoning_summary);
	buf_init(&t->records, LIMIT_TELEMETRY_BATCH);
	return t;
}

void telemetry_name_agent(struct telemetry *t, struct str path)
{
	if (!t)
		return;
	free(t->agent);
	t->agent = str_dup(path);
}

const struct model_watch *telemetry_watcher(const struct telemetry *t)
{
	return t ? &t->watch : NULL;
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
