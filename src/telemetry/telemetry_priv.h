/* telemetry_priv.h — shared by telemetry.c (events, calls of tools, sending) and telemetry_model.c (requests of the
 * model). */
#ifndef TELEMETRY_TELEMETRY_PRIV_H
#define TELEMETRY_TELEMETRY_PRIV_H

#include "base/uuid.h"
#include "base/vec.h"
#include "config/otel.h"
#include "model/model_client.h"
#include "telemetry/otlp.h"
#include "telemetry/telemetry.h"

struct telemetry {
	struct http_client *http;
	struct str originator;
	struct otel settings;
	struct buf records; /* JSON objects, comma-separated */
	char session[UUID_TEXT_SIZE];
	char *model;
	char *servers;           /* names of the MCP servers */
	char *agent;             /* its path; NULL: the root */
	const char *summary;     /* detail of reasoning summaries */
	const struct toml *tree; /* the configuration */
	struct str env_key;      /* the variable with the provider's key; STR_NONE: it has none */
	int64_t results;         /* calls whose results were recorded */
	int64_t total;           /* tokens of the session, as recorded last */
	uint64_t dropped;        /* batches that were not sent */
	uint64_t opened_ms;      /* when the session was opened */
	uint64_t started_ms;     /* when the running task started; 0: its first output was recorded */
	unsigned sends;          /* requests that have no answer */
	bool is_closed;          /* waits for the last answer, then frees itself */
	/* Used by telemetry_model.c. */
	struct model_watch watch;
	char effort[32];            /* of the last request; "": none */
	int64_t cache_writes;       /* tokens, of the last response */
	int64_t waited_ms, ttft_ms; /* since its head, and to its first output; -1: none yet */
	struct {
		const char *kind; /* equal events in a row, which become one record */
		int64_t count, duration_ms;
	} run;
};

/* Begins a record with the attributes that all have; otlp_end ends it. */
struct json_writer telemetry_begin(struct telemetry *t, const char *name);

/* Adds where keys could come from, without them. */
void telemetry_add_auth(const struct telemetry *t, struct json_writer *w);

/* Defined in telemetry_model.c. */
extern const struct model_watch telemetry_watch; /* without self */
/* Records the events of the stream that were only counted so far. */
void telemetry_end_run(struct telemetry *t);

#endif
