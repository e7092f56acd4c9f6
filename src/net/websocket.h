/* websocket.h — one end of a WebSocket after its handshake: bytes to messages, and messages to bytes.
 *
 * Uses no descriptor and no loop: bytes for the peer are passed to a function of the owner, inside the calls here.
 * Owns: the incomplete message and the last one. Any thread, one at a time. Pings are answered automatically.
 * Violations of RFC 6455, and messages over LIMIT_WEBSOCKET_MESSAGE, close the connection with the code of the RFC.
 * Extensions are not negotiated. Source: RFC 6455. */
#ifndef NET_WEBSOCKET_H
#define NET_WEBSOCKET_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

struct websocket;

enum websocket_role {
	WEBSOCKET_SERVER, /* expects masked frames, sends unmasked ones */
	WEBSOCKET_CLIENT, /* sends masked frames, expects unmasked ones */
};

enum websocket_event {
	WEBSOCKET_WAIT, /* more bytes are needed */
	WEBSOCKET_TEXT, /* valid UTF-8 */
	WEBSOCKET_BINARY,
	WEBSOCKET_CLOSED, /* no further message; websocket_error has the reason */
};

enum websocket_code {
	WEBSOCKET_CODE_NORMAL = 1000,
	WEBSOCKET_CODE_GOING_AWAY = 1001,
	WEBSOCKET_CODE_PROTOCOL = 1002,
	WEBSOCKET_CODE_NONE = 1005, /* close without a code */
	WEBSOCKET_CODE_NOT_UTF8 = 1007,
	WEBSOCKET_CODE_TOO_BIG = 1009,
};

/* Sends bytes, borrowed during the call, to the peer. False: the peer reads too slowly. Until websocket_drained only
 * the newest ping is answered, so that a flood of pings does not grow the queue. */
typedef bool (*websocket_output_fn)(struct str bytes, void *self);

/* Loads wslay, which implements the frames of RFC 6455; ERR_unsupported if it is not installed. The result of the first
 * call is final. Any thread. */
must_check int websocket_load(struct error *err);
/* NULL and err if wslay cannot be loaded. */
must_check struct websocket *websocket_create(enum websocket_role role, websocket_output_fn output, void *self,
                                              struct error *err);
void websocket_destroy(struct websocket *websocket); /* sends nothing; NULL is fine */

/* Copies bytes received from the peer. */
void websocket_receive(struct websocket *websocket, struct str bytes);
/* The next message or event. The message is borrowed until the next call. */
enum websocket_event websocket_next(struct websocket *websocket, struct str *ret_message);
/* Returns the reason of the end; NULL while open, and if the peer closed regularly (normal, going away, no code). */
const struct error *websocket_error(const struct websocket *websocket);

/* Sends a message in one frame; text must be UTF-8. Nothing is sent after a close. Returns the result of output. */
bool websocket_send(struct websocket *websocket, struct str text);
/* As websocket_send, for a text in parts. */
bool websocket_send_parts(struct websocket *websocket, const struct str *parts, size_t count);
/* Sends only the head of a text frame. The owner sends its payload of this length at once, with websocket_send_rest or
 * on its own. False if the frame must be masked, is short, or a close was sent. */
bool websocket_send_head(struct websocket *websocket, size_t length);
bool websocket_send_rest(struct websocket *websocket, struct str bytes);
/* Sends a close frame, once. The peer answers with its own. */
void websocket_close(struct websocket *websocket, enum websocket_code code, const char *reason);
/* To be called when the output can accept bytes again, after it returned false. */
void websocket_drained(struct websocket *websocket);

#endif
