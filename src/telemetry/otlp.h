/* otlp.h — writes log records and their request in the JSON of OTLP over HTTP. */
#ifndef TELEMETRY_OTLP_H
#define TELEMETRY_OTLP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/str.h"

/* Appends a record to a comma-separated list, up to its first attributes: event.name and event.timestamp. More may be
 * added until otlp_end. */
struct json_writer otlp_begin(struct buf *records, const char *name);
void otlp_end(struct json_writer *w);
/* Add an attribute. A text is cut to LIMIT_TELEMETRY_TEXT; STR_NONE adds none. */
void otlp_text(struct json_writer *w, const char *key, struct str text);
void otlp_int(struct json_writer *w, const char *key, int64_t number);
void otlp_bool(struct json_writer *w, const char *key, bool value);
/* Writes a request with these records. */
void otlp_request(struct buf *out, struct str service, struct str environment, struct str records);

#endif
