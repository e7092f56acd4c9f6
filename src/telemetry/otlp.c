/* OTLP's own types of values: each attribute is an object with the value under the name of its type. */
#include "telemetry/otlp.h"

#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/text.h"
#include "telemetry/telemetry_limits.h"

enum { SEVERITY_INFO = 9, HOST_SIZE = 256 };

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

void otlp_text(struct json_writer *w, const char *key, struct str text)
{
	if (!text.ptr)
		return;
	size_t len = text.len > LIMIT_TELEMETRY_TEXT ? text_floor_boundary(text, LIMIT_TELEMETRY_TEXT) : text.len;
	add_value(w, key, "stringValue");
	jw_str(w, str_n(text.ptr, len));
	add_end(w);
}

/* OTLP has 64-bit integers as strings. */
void otlp_int(struct json_writer *w, const char *key, int64_t number)
{
	char text[32];
	snprintf(text, sizeof(text), "%lld", (long long)number);
	add_value(w, key, "intValue");
	jw_cstr(w, text);
	add_end(w);
}

void otlp_bool(struct json_writer *w, const char *key, bool value)
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

struct json_writer otlp_begin(struct buf *records, const char *name)
{
	char now[CLOCK_RFC3339_SIZE];
	int64_t now_ms = clock_unix_ms();
	clock_rfc3339(now_ms, now);
	buf_append_c(records, records->len ? "," : "");
	struct json_writer w = json_writer(records);
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
	otlp_text(&w, "event.name", str_of(name));
	otlp_text(&w, "event.timestamp", str_of(now));
	return w;
}

void otlp_end(struct json_writer *w)
{
	jw_array_end(w);
	jw_object_end(w);
}

/* ---- the request ---- */

static void write_resource(struct json_writer *w, struct str service, struct str environment)
{
	char host[HOST_SIZE] = "";
	jw_key(w, "resource");
	jw_object(w);
	jw_key(w, "attributes");
	jw_array(w);
	otlp_text(w, "service.name", service);
	otlp_text(w, "service.version", STR(CODEX_VERSION));
	otlp_text(w, "env", environment);
	if (gethostname(host, sizeof(host) - 1) == 0)
		otlp_text(w, "host.name", str_of(host));
	jw_array_end(w);
	jw_object_end(w);
}

void otlp_request(struct buf *out, struct str service, struct str environment, struct str records)
{
	struct json_writer w = json_writer(out);
	jw_object(&w);
	jw_key(&w, "resourceLogs");
	jw_array(&w);
	jw_object(&w);
	write_resource(&w, service, environment);
	jw_key(&w, "scopeLogs");
	jw_array(&w);
	jw_object(&w);
	jw_key(&w, "logRecords");
	jw_array(&w);
	jw_raw(&w, records);
	jw_array_end(&w);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
	jw_array_end(&w);
	jw_object_end(&w);
}
