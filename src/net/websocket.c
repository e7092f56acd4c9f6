/* Messages are pulled, like lines: a caller under backpressure does not ask for the next one. wslay's event interface
 * pushes messages, so its frame interface is used; fragments, the rules for control frames, UTF-8 (checked per message,
 * which is faster than per byte) and the limit on sizes are implemented here.
 *
 * wslay reads through a buffer of 4 KiB, so frames may have any length, and nothing is allocated for a length that is
 * only announced. */
#include "net/websocket.h"

#include <wslay/wslay.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/host.h"
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- the library ---- */

/* library.frame_recv is wslay_frame_recv, and so on. */
struct wslay {
#define WSLAY(name) __typeof__(&wslay_##name) name;
#include "net/websocket_wslay.def"
#undef WSLAY
};

static struct wslay library;

static const char *const names[] = {
#define WSLAY(name) "wslay_" #name,
#include "net/websocket_wslay.def"
#undef WSLAY
};

LIBRARY(libwslay, library, names, LIBRARY_ROW(wslay), .purpose = "wslay, which implements WebSocket frames");

int websocket_load(struct error *err)
{
	return library_load(&libwslay, err);
}

/* ---- the connection ---- */

enum { CONTROL_MAX = 125 };

struct websocket {
	wslay_frame_context_ptr frames;
	enum websocket_role role;
	websocket_output_fn output;
	void *self;

	struct buf input; /* received; from `taken` on not yet read by wslay */
	size_t taken;
	struct buf message; /* complete iff was_given, otherwise its fragments so far */
	uint8_t opcode;     /* the opcode of the message; 0: none has begun */
	bool was_given;
	struct buf control;            /* payload of a ping or close */
	struct wslay_frame_iocb frame; /* the head of the current frame */
	bool is_in_frame;
	uint64_t left; /* bytes of the frame's payload that were not read yet */

	bool is_over; /* input is ignored */
	bool is_close_sent;
	struct error *failure; /* NULL while open, and after a regular close */
	bool is_full;          /* output returned false, and websocket_drained was not called yet */
	bool is_pong_due;      /* the pong with the payload `pong` is pending */
	struct buf pong;
};

/* ---- callbacks of wslay ---- */

static ssize_t on_wslay_recv(uint8_t *bytes, size_t len, int flags, void *self)
{
	struct websocket *websocket = self;
	(void)flags;
	struct str rest = str_skip(buf_str(&websocket->input), websocket->taken);
	if (rest.len < len)
		len = rest.len;
	if (len)
		memcpy(bytes, rest.ptr, len);
	websocket->taken += len;
	return (ssize_t)len;
}

static ssize_t on_wslay_send(const uint8_t *bytes, size_t len, int flags, void *self)
{
	struct websocket *websocket = self;
	(void)flags;
	if (!websocket->output(str_n((const char *)bytes, len), websocket->self))
		websocket->is_full = true;
	return (ssize_t)len;
}

/* Unpredictable masks prevent a client's text from passing for another protocol in faulty proxies. */
static int on_wslay_mask(uint8_t *bytes, size_t len, void *self)
{
	(void)self;
	host_random(bytes, len);
	return 0;
}

static const struct wslay_frame_callbacks wslay_callbacks = {on_wslay_send, on_wslay_recv, on_wslay_mask};

/* ---- output ---- */

/* Sends one frame whose payload consists of these parts; at least one. */
static void send_frame(struct websocket *websocket, uint8_t opcode, const struct str *parts, size_t count)
{
	struct wslay_frame_iocb frame = {.fin = 1, .opcode = opcode, .mask = websocket->role == WEBSOCKET_CLIENT};
	for (size_t i = 0; i < count; i++)
		frame.payload_length += parts[i].len;
	for (size_t i = 0; i < count; i++) {
		ssize_t sent = 1;
		frame.data = (const uint8_t *)parts[i].ptr;
		frame.data_length = parts[i].len;
		if (frame.data_length == 0 && frame.payload_length)
			continue;
		do { /* masked data is sent in pieces, because masking needs a copy */
			sent = library.frame_send(websocket->frames, &frame);
			if (sent > 0) {
				frame.data += sent;
				frame.data_length -= (size_t)sent;
			}
		} while (sent > 0 && frame.data_length);
	}
}

bool websocket_send(struct websocket *websocket, struct str text)
{
	return websocket_send_parts(websocket, &text, 1);
}

bool websocket_send_parts(struct websocket *websocket, const struct str *parts, size_t count)
{
	if (!websocket->is_close_sent)
		send_frame(websocket, WSLAY_TEXT_FRAME, parts, count);
	return !websocket->is_full;
}

bool websocket_send_head(struct websocket *websocket, size_t length)
{
	enum { FIN = 0x80, LENGTH_64 = 127, HEAD_SIZE = 10 };
	uint8_t head[HEAD_SIZE] = {FIN | WSLAY_TEXT_FRAME, LENGTH_64};
	if (websocket->role != WEBSOCKET_SERVER || websocket->is_close_sent || length <= UINT16_MAX)
		return false;
	for (int i = 0; i < 8; i++)
		head[2 + i] = (uint8_t)((uint64_t)length >> (56 - 8 * i));
	on_wslay_send(head, sizeof(head), 0, websocket);
	return true;
}

bool websocket_send_rest(struct websocket *websocket, struct str bytes)
{
	on_wslay_send((const uint8_t *)bytes.ptr, bytes.len, 0, websocket);
	return !websocket->is_full;
}

static void send_close(struct websocket *websocket, enum websocket_code code, struct str reason)
{
	char payload[CONTROL_MAX] = {(char)(code >> 8), (char)(code & 0xff)};
	if (websocket->is_close_sent)
		return;
	websocket->is_close_sent = true;
	reason.len = text_floor_boundary(reason, reason.len < CONTROL_MAX - 2 ? reason.len : CONTROL_MAX - 2);
	if (reason.len)
		memcpy(payload + 2, reason.ptr, reason.len);
	struct str bytes = code == WEBSOCKET_CODE_NONE ? STR("") : str_n(payload, reason.len + 2);
	send_frame(websocket, WSLAY_CONNECTION_CLOSE, &bytes, 1);
}

void websocket_close(struct websocket *websocket, enum websocket_code code, const char *reason)
{
	send_close(websocket, code, str_of(reason));
}

static void send_pong(struct websocket *websocket, struct str payload)
{
	if (websocket->is_close_sent)
		return;
	websocket->is_pong_due = websocket->is_full;
	if (!websocket->is_full) {
		send_frame(websocket, WSLAY_PONG, &payload, 1);
		return;
	}
	buf_clear(&websocket->pong);
	buf_append_str(&websocket->pong, payload);
}

void websocket_drained(struct websocket *websocket)
{
	websocket->is_full = false;
	if (websocket->is_pong_due)
		send_pong(websocket, buf_str(&websocket->pong));
}

/* ---- input ---- */

/* The peer receives the reason in a close frame, the owner in an error. */
static int fail(struct websocket *websocket, enum websocket_code code, const char *what)
{
	websocket->is_over = true;
	websocket->failure = xnew(struct error);
	error_set(websocket->failure, code == WEBSOCKET_CODE_TOO_BIG ? ERR_limit : ERR_transport,
	          "the WebSocket was closed with code %d: %s", (int)code, what);
	websocket_close(websocket, code, what);
	return -1;
}

/* Close codes that a peer may send; the others are reserved for local use. */
static bool is_close_code(unsigned code)
{
	return (code >= 1000 && code <= 1014 && (code < 1004 || code > 1006)) || (code >= 3000 && code <= 4999);
}

static void note_complaint(struct websocket *websocket, unsigned code, struct str reason)
{
	if (code == WEBSOCKET_CODE_NORMAL || code == WEBSOCKET_CODE_GOING_AWAY)
		return;
	websocket->failure = xnew(struct error);
	error_set(websocket->failure, ERR_transport, "the peer closed the WebSocket with code %u%s%.*s", code,
	          reason.len ? ": " : "", STR_ARG(reason));
}

static int on_close(struct websocket *websocket, struct str payload)
{
	if (payload.len == 1)
		return fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a close frame with an incomplete code");
	websocket->is_over = payload.len == 0;
	if (websocket->is_over) {
		send_close(websocket, WEBSOCKET_CODE_NONE, STR(""));
		return 0;
	}
	unsigned code = (unsigned)(uint8_t)payload.ptr[0] << 8 | (uint8_t)payload.ptr[1];
	struct str reason = str_skip(payload, 2);
	if (!is_close_code(code))
		return fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a close frame with a code that must not be sent");
	if (!text_is_utf8(reason))
		return fail(websocket, WEBSOCKET_CODE_NOT_UTF8, "a close frame whose reason is not UTF-8");
	websocket->is_over = true;
	note_complaint(websocket, code, reason);
	send_close(websocket, (enum websocket_code)code, STR(""));
	return 0;
}

static int check_opcode(struct websocket *websocket, uint8_t opcode)
{
	switch (opcode) {
	case WSLAY_CONTINUATION_FRAME:
		return websocket->opcode
		               ? 0
		               : fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a continuation frame without a message");
	case WSLAY_TEXT_FRAME:
	case WSLAY_BINARY_FRAME:
		return websocket->opcode ? fail(websocket, WEBSOCKET_CODE_PROTOCOL,
		                                "a new message before the end of the last one")
		                         : 0;
	case WSLAY_CONNECTION_CLOSE:
	case WSLAY_PING:
	case WSLAY_PONG:
		return 0;
	default:
		return fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a frame with an unknown opcode");
	}
}

static int begin_frame(struct websocket *websocket, const struct wslay_frame_iocb *frame)
{
	if (frame->rsv)
		return fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a frame with a reserved bit set");
	if (!frame->mask != (websocket->role == WEBSOCKET_CLIENT))
		return fail(websocket, WEBSOCKET_CODE_PROTOCOL,
		            websocket->role == WEBSOCKET_SERVER ? "an unmasked frame" : "a masked frame");
	if (check_opcode(websocket, frame->opcode) != 0)
		return -1;
	websocket->frame = *frame;
	websocket->left = frame->payload_length;
	websocket->is_in_frame = true;
	if (wslay_is_ctrl_frame(frame->opcode)) {
		buf_clear(&websocket->control);
		return 0;
	}
	if (frame->opcode != WSLAY_CONTINUATION_FRAME)
		websocket->opcode = frame->opcode;
	if (frame->payload_length > LIMIT_WEBSOCKET_MESSAGE - websocket->message.len)
		return fail(websocket, WEBSOCKET_CODE_TOO_BIG, "a message of more than 16 MiB");
	return 0;
}

static int end_control(struct websocket *websocket)
{
	if (websocket->frame.opcode == WSLAY_CONNECTION_CLOSE)
		return on_close(websocket, buf_str(&websocket->control));
	if (websocket->frame.opcode == WSLAY_PING)
		send_pong(websocket, buf_str(&websocket->control));
	return 0;
}

/* *ret_event changes only if a message is complete. */
static int end_frame(struct websocket *websocket, enum websocket_event *ret_event)
{
	websocket->is_in_frame = false;
	if (wslay_is_ctrl_frame(websocket->frame.opcode))
		return end_control(websocket);
	if (!websocket->frame.fin)
		return 0;
	if (websocket->opcode == WSLAY_TEXT_FRAME && !text_is_utf8(buf_str(&websocket->message)))
		return fail(websocket, WEBSOCKET_CODE_NOT_UTF8, "a text message that is not UTF-8");
	*ret_event = websocket->opcode == WSLAY_TEXT_FRAME ? WEBSOCKET_TEXT : WEBSOCKET_BINARY;
	websocket->opcode = 0;
	websocket->was_given = true;
	return 0;
}

static int on_piece(struct websocket *websocket, const struct wslay_frame_iocb *piece, enum websocket_event *ret_event)
{
	if (!websocket->is_in_frame && begin_frame(websocket, piece) != 0)
		return -1;
	bool is_control = wslay_is_ctrl_frame(websocket->frame.opcode);
	buf_append(is_control ? &websocket->control : &websocket->message, piece->data, piece->data_length);
	websocket->left -= piece->data_length;
	return websocket->left ? 0 : end_frame(websocket, ret_event);
}

void websocket_receive(struct websocket *websocket, struct str bytes)
{
	if (websocket->is_over)
		return;
	buf_consume(&websocket->input, websocket->taken);
	websocket->taken = 0;
	buf_append_str(&websocket->input, bytes);
	if (websocket->input.over)
		fail(websocket, WEBSOCKET_CODE_TOO_BIG, "more input than the buffer limit");
}

/* Called when all input was read: an idle connection keeps no memory for it. */
static enum websocket_event wait_for_more(struct websocket *websocket)
{
	buf_finish(&websocket->input);
	buf_init(&websocket->input, LIMIT_WEBSOCKET_INPUT);
	websocket->taken = 0;
	return WEBSOCKET_WAIT;
}

static void drop_message(struct websocket *websocket)
{
	if (websocket->was_given)
		buf_reuse(&websocket->message);
	websocket->was_given = false;
}

enum websocket_event websocket_next(struct websocket *websocket, struct str *ret_message)
{
	enum websocket_event event = WEBSOCKET_WAIT;
	drop_message(websocket);
	while (event == WEBSOCKET_WAIT && !websocket->is_over) {
		struct wslay_frame_iocb piece = {0};
		ssize_t got = library.frame_recv(websocket->frames, &piece);
		if (got == WSLAY_ERR_WANT_READ)
			return wait_for_more(websocket);
		if (got < 0)
			fail(websocket, WEBSOCKET_CODE_PROTOCOL, "a frame with an invalid header");
		else
			on_piece(websocket, &piece, &event);
	}
	if (event == WEBSOCKET_WAIT)
		return WEBSOCKET_CLOSED;
	*ret_message = buf_str(&websocket->message);
	return event;
}

const struct error *websocket_error(const struct websocket *websocket)
{
	return websocket->failure;
}

/* ---- life ---- */

struct websocket *websocket_create(enum websocket_role role, websocket_output_fn output, void *self, struct error *err)
{
	if (websocket_load(err) != 0)
		return NULL;
	struct websocket *websocket = xnew(struct websocket);
	websocket->role = role;
	websocket->output = output;
	websocket->self = self;
	buf_init(&websocket->input, LIMIT_WEBSOCKET_INPUT);
	buf_init(&websocket->message, LIMIT_WEBSOCKET_MESSAGE);
	buf_init(&websocket->control, CONTROL_MAX);
	buf_init(&websocket->pong, CONTROL_MAX);
	if (library.frame_context_init(&websocket->frames, &wslay_callbacks, websocket) == 0)
		return websocket;
	error_set(err, ERR_internal, "wslay has no memory");
	websocket_destroy(websocket);
	return NULL;
}

void websocket_destroy(struct websocket *websocket)
{
	if (!websocket)
		return;
	if (websocket->frames)
		library.frame_context_free(websocket->frames);
	buf_finish(&websocket->input);
	buf_finish(&websocket->message);
	buf_finish(&websocket->control);
	buf_finish(&websocket->pong);
	free(websocket->failure);
	free(websocket);
}
