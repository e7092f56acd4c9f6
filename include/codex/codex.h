/* codex.h — the Codex engine as a library: submit Ops, get Events, as JSON text (seed 000).
 *
 * A handle is one Codex: a pair of queues with an engine behind them that runs on a thread of its own. It starts with
 * no Session; submit {"id":"0","op":{"type":"configure_session"}} first. One handle holds one Session with at most one
 * Task; use several handles for parallel work. Every Op and Event is described in docs/protocol.md.
 *
 * Threads: every function may be called from any thread, and those on one handle from several threads at once, except
 * codex_destroy, which must be the last call with no other one running. None of them calls back into your code.
 * Texts are UTF-8 and JSON. What goes in is borrowed for the call; what comes out is yours, for codex_free.
 * Sizes are bytes, times milliseconds. The ABI is stable within a major version (the soname says which).
 *
 * C99 and C++. Two programs that use it are in examples/. Build with $(pkg-config --cflags --libs codex). */
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

/* Owned by who created it, until codex_destroy. */
typedef struct codex_handle codex_t;

enum codex_status {
	CODEX_OK = 0,
	CODEX_TIMEOUT = 1,  /* no event came in time */
	CODEX_INVALID = -1, /* not a submission: {"id":…,"op":{"type":…}} */
	CODEX_FULL = -2,    /* 64 submissions wait already: get events, then submit again */
	CODEX_ENDED = -3    /* after shutdown_complete there are no more events */
};

/* Starts an engine and its thread. Reads configuration files, so it may take some milliseconds; no network.
 * options: a JSON object, or NULL for all defaults; borrowed:
 *   "cwd": folder to work in (default: the process's), "originator": name of your program,
 *   "config": list of "key=value" strings as for `codex exec -c`, "profile": name,
 *   "ephemeral": true to record nothing.
 * A handle, yours until codex_destroy; or NULL, and then *error, unless error is NULL, is a text for codex_free. */
CODEX_EXPORT codex_t *codex_create(const char *options, char **error);

/* Submits one JSON text of len bytes, which need not end with NUL; it is copied. Never waits.
 * CODEX_OK, CODEX_INVALID, CODEX_FULL or CODEX_ENDED; unless it is CODEX_OK, nothing happened. */
CODEX_EXPORT int codex_submit(codex_t *codex, const char *submission, size_t len);

/* Takes the oldest event. Waits up to timeout_ms milliseconds for one (0: not at all, negative: without limit).
 * CODEX_OK, and *event is a NUL-terminated JSON text for codex_free; or CODEX_TIMEOUT or CODEX_ENDED, and *event is
 * as it was. With several waiting threads each event goes to one of them.
 * Events wait as long as it takes. From 1 MiB of them on the engine stands still, commands with it, until half of that
 * is taken; submissions are carried out meanwhile, up to 2 MiB. */
CODEX_EXPORT int codex_next_event(codex_t *codex, int timeout_ms, char **event);

/* A descriptor that polls readable while events wait or the engine has ended: for select, poll, epoll or any loop.
 * Then call codex_next_event with timeout 0 until it says CODEX_TIMEOUT. The handle's: neither read nor close it;
 * it is gone after codex_destroy. Never waits. */
CODEX_EXPORT int codex_event_fd(codex_t *codex);

/* Frees a text that one of these functions gave. NULL is fine. */
CODEX_EXPORT void codex_free(char *text);

/* Ends the engine, its running Task and its commands, and frees everything, events that nobody took included. Waits
 * for the engine's thread: until commands are killed and files are closed. For an end in order, submit
 * {"op":{"type":"shutdown"},…} before and wait for shutdown_complete. NULL is fine. */
CODEX_EXPORT void codex_destroy(codex_t *codex);

/* "0.1.0"; the library's, and never freed. */
CODEX_EXPORT const char *codex_version(void);

#ifdef __cplusplus
}
#endif

#endif
