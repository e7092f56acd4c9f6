/* app_server_proxy.h — standard input and output, carried to the Unix socket of an app-server that runs already.
 *
 * What comes first decides: a client that begins with an HTTP request speaks WebSocket itself and its bytes are passed
 * on as they are; for one that begins with anything else, lines are made messages and messages lines, so that a client
 * made for `codex app-server` can share a server. Waits until either side ends. Source: the reference's proxy. */
#ifndef APP_SERVER_APP_SERVER_PROXY_H
#define APP_SERVER_APP_SERVER_PROXY_H

struct error;

/* path: of the socket. ERR_connect if nobody listens there. */
int app_server_proxy_run(const char *path, struct error *err);

#endif
