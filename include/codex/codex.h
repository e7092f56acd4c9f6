/* codex.h — the Codex engine as a library: submit Ops, get Events, as JSON text (seed 000).
 *
 * A handle is one Codex: a pair of queues with an engine behind them that runs on a thread of its own.
 * It starts with no Session; submit {"id":"0","op":{"type":"configure_session"}} first. One handle holds one
 * Session with at most one Task; use several handles for parallel work.
 *
 * Threads: every function may be called from any thread, and codex_submit and codex_next_event from
 * different threads at once. codex_destroy must be the last call, with no other one running.
 * Text is UTF-8. Sizes are bytes, times milliseconds. The ABI is stable within a major version. */
#ifndef CODEX_CODEX_H
#define CODEX_CODEX_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CODEX_EXPORT __attribute__((visibility("default")))
#else
#define CODEX_EXPORT
#endif

typedef struct codex_handle codex_t;

/* Starts an engine. options: a JSON object, or NULL for all defaults:
 *   "cwd": folder to work in (default: the process's), "originator": name of your program,
 *   "config": list of "key=value" strings as for `codex exec -c`, "profile": name,
 *   "ephemeral": true to record nothing.
 * NULL on failure, and then *error, unless error is NULL, is a text to pass to codex_free. */
CODEX_EXPORT codex_t *codex_create(const char *options, char **error);

enum codex_status {
	CODEX_OK = 0,
	CODEX_TIMEOUT = 1,   /* no event came in time */
	CODEX_INVALID = -1,  /* not a submission: {"id":…,"op":{"type":…}} */
	CODEX_FULL = -2,     /* 64 submissions wait already: get events, then submit again */
	CODEX_ENDED = -3,    /* after shutdown_complete there are no more events */
};

/* Submits one JSON text of len bytes; it is copied. CODEX_OK, CODEX_INVALID, CODEX_FULL or CODEX_ENDED. */
CODEX_EXPORT int codex_submit(codex_t *codex, const char *submission, size_t len);

/* Takes the oldest event. Waits up to timeout_ms for one (0: not at all, negative: without limit).
 * CODEX_OK and *event, a NUL-terminated JSON text to pass to codex_free; else CODEX_TIMEOUT or CODEX_ENDED. */
CODEX_EXPORT int codex_next_event(codex_t *codex, int timeout_ms, char **event);

/* A descriptor that polls readable while events wait or the engine has ended. Owned by the handle. */
CODEX_EXPORT int codex_event_fd(codex_t *codex);

/* Frees a text that one of these functions gave. NULL is fine. */
CODEX_EXPORT void codex_free(char *text);

/* Ends the engine, its running Task and its commands, and frees everything. NULL is fine. */
CODEX_EXPORT void codex_destroy(codex_t *codex);

/* "0.1.0" */
CODEX_EXPORT const char *codex_version(void);

#ifdef __cplusplus
}
#endif

#endif
