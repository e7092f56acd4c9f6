/* Requests of the model and the events of its responses, as the model client reports them. A response may have
 * thousands of deltas, so equal events in a row are one record that counts them. */
#include "telemetry/telemetry_priv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "config/model_provider.h"
#include "telemetry/telemetry_limits.h"

static void add_error(struct telemetry *t, struct json_writer *w, struct str message)
{
	otlp_text(w, "error.message", t->settings.logs_prompts ? message : STR("[REDACTED]"));
}

/* ---- requests ---- */

/* The part of the address that follows base_url. Query parameters may be keys, so they are left out. */
static struct str endpoint_of(const struct model_provider *provider)
{
	struct str url = str_of(provider->url), base = str_of(provider->base_url);
	if (str_find(url, base) != 0)
		return STR_NONE;
	struct str path = str_skip(url, base.len);
	ptrdiff_t query = str_find(path, STR("?"));
	return query < 0 ? path : str_n(path.ptr, (size_t)query);
}

static void add_status(struct json_writer *w, int status)
{
	char text[32];
	otlp_int(w, "http.response.status_code", status);
	if (status < 400)
		return;
	snprintf(text, sizeof(text), "http %d", status);
	otlp_text(w, "error.message", str_of(text));
}

/* Returns the name of the header with the key. */
static struct str key_header(const struct model_attempt *attempt)
{
	const char *own = attempt->provider->authorization;
	if (!attempt->has_key)
		return STR_NONE;
	return own && str_has_prefix(str_of(own), "x-api-key:") ? STR("x-api-key") : STR("authorization");
}

static void on_attempt(const struct model_attempt *attempt, void *self)
{
	struct telemetry *t = self;
	struct json_writer w = telemetry_begin(t, "codex.api_request");
	otlp_int(&w, "duration_ms", (int64_t)attempt->duration_ms);
	if (attempt->status)
		add_status(&w, attempt->status);
	else
		add_error(t, &w, attempt->failure);
	otlp_bool(&w, "success", attempt->status && attempt->status < 400);
	otlp_int(&w, "attempt", attempt->number);
	otlp_bool(&w, "auth.header_attached", attempt->has_key);
	otlp_text(&w, "auth.header_name", key_header(attempt));
	otlp_bool(&w, "auth.retry_after_unauthorized", attempt->is_retry);
	otlp_text(&w, "endpoint", endpoint_of(attempt->provider));
	telemetry_add_auth(t, &w);
	otlp_end(&w);
	snprintf(t->effort, sizeof(t->effort), "%.*s", STR_ARG(attempt->effort));
	t->waited_ms = t->cache_writes = 0;
	t->ttft_ms = -1;
}

/* ---- events of the response ---- */

void telemetry_end_run(struct telemetry *t)
{
	const char *kind = t->run.kind;
	if (!kind)
		return;
	t->run.kind = NULL; /* telemetry_begin ends a run, too */
	struct json_writer w = telemetry_begin(t, "codex.sse_event");
	otlp_text(&w, "event.kind", str_of(kind));
	otlp_int(&w, "duration_ms", t->run.duration_ms);
	if (t->run.count > 1)
		otlp_int(&w, "count", t->run.count);
	otlp_end(&w);
}

static void count_event(struct telemetry *t, const char *kind, uint64_t duration_ms)
{
	if (t->run.kind != kind) {
		telemetry_end_run(t);
		t->run.kind = kind;
		t->run.count = t->run.duration_ms = 0;
	}
	t->run.count++;
	t->run.duration_ms += (int64_t)duration_ms;
}

static void on_event(const struct response_event *event, uint64_t duration_ms, void *self)
{
	struct telemetry *t = self;
	const char *kind = model_stream_kind(event->type);
	if (kind)
		count_event(t, kind, duration_ms);
	t->waited_ms += (int64_t)duration_ms;
	if (t->ttft_ms < 0 && event->type > RESPONSE_created && event->type < RESPONSE_completed &&
	    event->type != RESPONSE_item_done)
		t->ttft_ms = t->waited_ms;
	t->cache_writes = event->cache_writes;
}

static void on_failure(const struct model_error *error, uint64_t duration_ms, void *self)
{
	struct telemetry *t = self;
	struct json_writer w = telemetry_begin(t, "codex.sse_event");
	otlp_text(&w, "event.kind", STR("response.failed"));
	otlp_int(&w, "duration_ms", (int64_t)duration_ms);
	add_error(t, &w, str_of(error->text));
	otlp_end(&w);
}

const struct model_watch telemetry_watch = {on_attempt, on_event, on_failure, NULL};
