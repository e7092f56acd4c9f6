/* websocket_upgrade.h — the handshake that turns an HTTP connection into a WebSocket, at both ends.
 *
 * Owns nothing. Any thread. Source: RFC 6455 section 4; the texts of refusals are those of codex 0.169. */
#ifndef NET_WEBSOCKET_UPGRADE_H
#define NET_WEBSOCKET_UPGRADE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

struct buf;
struct http_head;

enum { WEBSOCKET_ACCEPT_SIZE = 29, WEBSOCKET_KEY_SIZE = 25 }; /* base64 of 20 and of 16 bytes, with the NUL */

/* Returns 0 for a request that conforms to the RFC. Otherwise returns the HTTP status to refuse it with and sets
 * *ret_refusal to a static text for the body of the answer. */
must_check int websocket_upgrade_check(const struct http_head *head, const char **ret_refusal);
/* Computes the Sec-WebSocket-Accept value for the key of a request. */
void websocket_upgrade_accept(struct str key, char ret[WEBSOCKET_ACCEPT_SIZE]);

/* Writes the client's request; host as in a Host header. Returns a random key, to check the answer with. extra: further
 * header lines, each with CRLF, or "". */
void websocket_upgrade_request(struct buf *out, const char *host, const char *target, const char *extra,
                               char ret_key[WEBSOCKET_KEY_SIZE]);
/* Returns ERR_transport or ERR_http_status unless the head of the answer, with its empty line, accepts the
 * handshake. */
must_check int websocket_upgrade_answer(struct str head, const char *key, struct error *err);

#endif
