/* websocket_upgrade.h — the handshake that turns an HTTP connection into a WebSocket, at both ends.
 *
 * Owns nothing. Any thread. Source: RFC 6455 section 4; the texts of refusals: app-server-wire 17 and the reference. */
#ifndef NET_WEBSOCKET_UPGRADE_H
#define NET_WEBSOCKET_UPGRADE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct buf;
struct http_head;

enum { WEBSOCKET_ACCEPT_SIZE = 29, WEBSOCKET_KEY_SIZE = 25 }; /* base64 of 20 and 16 bytes, NUL-terminated */

/* A request as the RFC wants it: 0. Else the status to refuse it with, and a text for the body. */
int websocket_upgrade_check(const struct http_head *head, const char **ret_refusal);
/* What a server answers to the key of a request, as Sec-WebSocket-Accept. */
void websocket_upgrade_accept(struct str key, char ret[WEBSOCKET_ACCEPT_SIZE]);

/* The client's request; host as in a Host header. The key is made up and returned, to check the answer with.
 * extra: more header lines, each with CRLF, or "". */
void websocket_upgrade_request(struct buf *out, const char *host, const char *target, const char *extra,
                               char ret_key[WEBSOCKET_KEY_SIZE]);
/* ERR_transport or ERR_http_status unless the answer's head (with its empty line) agrees to it. */
must_check int websocket_upgrade_answer(struct str head, const char *key, struct error *err);

#endif
