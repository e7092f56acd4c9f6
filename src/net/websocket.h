/* websocket.h — one end of a WebSocket after its handshake: bytes in, messages out, and the other way round.
 *
 * Knows no descriptor and no loop: bytes for the peer go to a function of the owner's, which runs inside the calls
 * here. Owns: bytes that are no message yet, the last message. Any thread, one at a time.
 * Pings are answered by itself; what breaks RFC 6455, and messages beyond LIMIT_WEBSOCKET_MESSAGE, close it with the
 * code the RFC has for that. Extensions are never agreed on. Source: RFC 6455. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct websocket;

enum websocket_role {
	WEBSOCKET_SERVER, /* wants masked frames, sends bare ones */
	WEBSOCKET_CLIENT, /* the other way round */
};

enum websocket_event {
	WEBSOCKET_WAIT, /* give more bytes */
	WEBSOCKET_TEXT, /* is UTF-8 */
	WEBSOCKET_BINARY,
	WEBSOCKET_CLOSED, /* no more will come; websocket_error says why */
};

enum websocket_code {
	WEBSOCKET_CODE_NORMAL = 1000,
	WEBSOCKET_CODE_GOING_AWAY = 1001,
	WEBSOCKET_CODE_PROTOCOL = 1002,
	WEBSOCKET_CODE_NONE = 1005, /* a close without a code */
	WEBSOCKET_CODE_NOT_UTF8 = 1007,
	WEBSOCKET_CODE_TOO_BIG = 1009,
};

/* Sends bytes to the peer, borrowed until it returns. False: the peer reads too slowly; until websocket_drained only
 * the newest ping is kept to be answered, so that a flood of them costs nothing. */
typedef bool (*websocket_output_fn)(struct str bytes, void *self);

/* Loads wslay, which implements the frames of RFC 6455; ERR_unsupported if it is not installed. The result of the first
 * call is final. Any thread. */
must_check int websocket_load(struct error *err);
/* NULL and err if wslay cannot be loaded. */
struct websocket *websocket_create(enum websocket_role role, websocket_output_fn output, void *self, struct error *err);
void websocket_destroy(struct websocket *websocket); /* sends nothing; NULL is fine */

/* Bytes from the peer, copied. */
void websocket_receive(struct websocket *websocket, struct str bytes);
/* The next thing in them. The message is borrowed until the next call. */
enum websocket_event websocket_next(struct websocket *websocket, struct str *ret_message);
/* What ended it; NULL while it has not, and when the peer closed it in order (normally, going away, without a code). */
const struct error *websocket_error(const struct websocket *websocket);

/* One message in one frame; text must be UTF-8. Nothing is sent after a close. False as output said. */
bool websocket_send(struct websocket *websocket, struct str text);
/* Says that nothing more will be sent; once. The peer answers with a close of its own. */
void websocket_close(struct websocket *websocket, enum websocket_code code, const char *reason);
/* There is room again, after output said false. */
void websocket_drained(struct websocket *websocket);

#endif
