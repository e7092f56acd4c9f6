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
/* Sends what waits. NULL is fine. */
void telemetry_destroy(struct telemetry *telemetry);

#endif
