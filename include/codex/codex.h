/* codex.h — the Codex engine as a library: submit Ops, receive Events, as JSON text.
 *
 * A handle is an engine on its own thread with a queue of submissions and a queue of events. It starts without a
 * session: submit {"id":"0","op":{"type":"configure_session"}} first. A handle has one session, which runs at most one
 * task; use several handles for parallel work. docs/protocol.md describes every Op and Event.
 *
 * Threads: any thread may call any function, even on a handle that other threads use. Only codex_destroy must be the
 * last call, with no other one in progress. The library never calls back into the program.
 * Texts are UTF-8 and JSON. Arguments are borrowed during the call; returned texts belong to the caller, who frees them
 * with codex_free. Sizes are in bytes, times in milliseconds. The ABI is stable within a major version (see the
 * soname).
 *
 * C99 and C++. examples/ has two programs that use it. Build with $(pkg-config --cflags --libs codex). */
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

/* Owned by its creator, until codex_destroy. */
typedef struct codex_handle codex_t;

enum codex_status {
	CODEX_OK = 0,
	CODEX_TIMEOUT = 1,  /* no event arrived in time */
	CODEX_INVALID = -1, /* not a submission: {"id":…,"op":{"type":…}} */
	CODEX_FULL = -2,    /* 64 submissions are pending: read events, then submit again */
	CODEX_ENDED = -3    /* after shutdown_complete there are no more events */
};

/* Starts an engine and its thread. Reads configuration files, which may take some milliseconds; uses no network.
 * options: a JSON object, borrowed, or NULL for the defaults:
 *   "cwd": folder to work in (default: that of the process), "originator": name of the calling program,
 *   "config": list of "key=value" strings as for `codex exec -c`, "profile": name,
 *   "ephemeral": true to write no rollout.
 * Returns a handle for codex_destroy. On error returns NULL, and sets *error, unless error is NULL, to a text for
 * codex_free. */
CODEX_EXPORT codex_t *codex_create(const char *options, char **error);

/* Submits one JSON text of len bytes, which is copied and need not end with NUL. Never waits.
 * Returns CODEX_OK, CODEX_INVALID, CODEX_FULL or CODEX_ENDED; unless CODEX_OK, the call had no effect. */
CODEX_EXPORT int codex_submit(codex_t *codex, const char *submission, size_t len);

/* Takes the oldest event. Waits for one for up to timeout_ms milliseconds (0: does not wait, negative: no limit).
 * Returns CODEX_OK and sets *event to a NUL-terminated JSON text for codex_free; or returns CODEX_TIMEOUT or
 * CODEX_ENDED and leaves *event unchanged. If several threads wait, each event goes to one of them. Events are never
 * dropped. At 1 MiB of unread events the engine and its commands pause until half of that is read; submissions are
 * still carried out, up to 2 MiB of unread events. */
CODEX_EXPORT int codex_next_event(codex_t *codex, int timeout_ms, char **event);

/* A descriptor that polls readable while events are available, and after the engine has ended; for select, poll, epoll
 * or an event loop. When it is readable, call codex_next_event with timeout 0 until it returns CODEX_TIMEOUT. Owned by
 * the handle: do not read or close it; codex_destroy closes it. Never waits. */
CODEX_EXPORT int codex_event_fd(codex_t *codex);

/* Frees a text that a function of this library returned. NULL is fine. */
CODEX_EXPORT void codex_free(char *text);

/* Ends the engine, its running task and its commands, and frees everything, unread events included. Waits for the
 * engine's thread, until commands are terminated and files are closed. For an orderly end, submit
 * {"op":{"type":"shutdown"},…} first and wait for shutdown_complete. NULL is fine. */
CODEX_EXPORT void codex_destroy(codex_t *codex);

/* "0.1.0"; a static string. */
CODEX_EXPORT const char *codex_version(void);

#ifdef __cplusplus
}
#endif

#endif
