/* app_server_proxy.h — connects standard input and output to the Unix socket of a running app-server.
 *
 * The first byte decides: a client that starts with an HTTP request speaks WebSocket itself, and its bytes are copied
 * unchanged. For any other client, lines are converted to WebSocket messages and back, so that a client made for
 * `codex app-server` can share a server. Blocks until either side ends. */
#ifndef APP_SERVER_APP_SERVER_PROXY_H
#define APP_SERVER_APP_SERVER_PROXY_H

#include "base/error.h"
#include "base/str.h"

struct buf;

/* path: the socket. ERR_connect if no server listens on it. */
must_check int app_server_proxy_run(const char *path, struct error *err);

/* A running server. */
struct app_server_peer {
	const char *address; /* the path of its Unix socket, unix://PATH or ws://HOST:PORT */
	const char *token;   /* bearer token for ws://, or NULL */
};

/* Sends one request with these parameters, a JSON object, and appends the answer: {"id":2,"result":…}. A refusal is
 * ERR_invalid. */
must_check int app_server_call(const struct app_server_peer *peer, const char *method, struct str params,
                               struct buf *answer, struct error *err);
/* Opens a thread with thread/start or thread/resume and appends its id. */
must_check int app_server_open_thread(const struct app_server_peer *peer, const char *method, struct str params,
                                      struct buf *id, struct error *err);

#endif
