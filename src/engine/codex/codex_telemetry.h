/* codex_telemetry.h — the telemetry of a Codex: what it learns of requests, events and calls. Private to engine/. */
#ifndef ENGINE_CODEX_TELEMETRY_H
#define ENGINE_CODEX_TELEMETRY_H

struct codex;

/* To be called before the session is opened; no-op unless the configuration names a collector. */
void codex_open_telemetry(struct codex *codex);

#endif
