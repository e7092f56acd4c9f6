/* telemetry.h — log records about a session, sent to an OpenTelemetry collector (docs/telemetry.md). Off unless
 * [otel] names one.
 *
 * Records are collected and sent at the end of each task, and when LIMIT_TELEMETRY_BATCH is reached; nothing waits for
 * the collector. Owns: the records that wait. Borrows: the HTTP client. Loop thread only. */
#ifndef TELEMETRY_TELEMETRY_H
#define TELEMETRY_TELEMETRY_H

#include "protocol/message/message.h"

struct config;
struct http_client;
struct model_watch;
struct telemetry;

/* NULL: [otel] names no collector. originator is borrowed. */
struct telemetry *telemetry_create(const struct config *config, struct http_client *http, struct str originator);
/* Returns what records the requests of a model client; it must not outlive telemetry. NULL if telemetry is. */
const struct model_watch *telemetry_watcher(const struct telemetry *telemetry);
/* Sets the path of the agent whose session this is; "/root" until then. telemetry may be NULL. */
void telemetry_name_agent(struct telemetry *telemetry, struct str path);
/* Records an event. telemetry may be NULL. */
void telemetry_event(struct telemetry *telemetry, const struct event *event);
/* A call of the model. Texts are borrowed. */
struct telemetry_call {
	struct str name, namespace, call_id;
	struct str server; /* the MCP server that has the tool; STR_NONE: none */
	uint64_t duration_ms;
	bool is_success;
	struct str arguments, output; /* left out unless telemetry_has_texts */
};

/* True if arguments and outputs are recorded. */
bool telemetry_has_texts(const struct telemetry *telemetry);
/* Records who has decided about a command or patch, and how. */
void telemetry_decision(struct telemetry *telemetry, const struct telemetry_call *call, struct str decision,
                        const char *source);
/* Records the end of a call. */
void telemetry_result(struct telemetry *telemetry, const struct telemetry_call *call);
/* Sends what waits. NULL is fine. */
void telemetry_destroy(struct telemetry *telemetry);

#endif
