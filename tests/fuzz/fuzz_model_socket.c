/* Answers of the Responses API over a WebSocket: see fuzz_answer.h. The input is the frames of the server; its second
 * byte chooses into how long pieces they are cut. */
#include "fuzz_answer.h"

#include "net/websocket.h"

static bool on_output(struct str bytes, void *self)
{
	(void)bytes, (void)self;
	return true;
}

/* Returns false at the end of the connection, whose error is set if it has one. */
static bool take_messages(struct websocket *socket, struct model_exchange *exchange, const struct error **cause)
{
	enum websocket_event event;
	struct str message;
	while ((event = websocket_next(socket, &message)) == WEBSOCKET_TEXT)
		model_exchange_message(exchange, message);
	if (event == WEBSOCKET_CLOSED)
		*cause = websocket_error(socket);
	return event == WEBSOCKET_WAIT;
}

static void feed_frames(struct model_exchange *exchange, struct str input, const struct error *cause)
{
	static const struct http_head none;
	bool is_open = input.len > 0;
	size_t longest = is_open ? 1 + (unsigned char)input.ptr[0] : 1;
	struct websocket *socket = websocket_create(WEBSOCKET_CLIENT, on_output, NULL, NULL);
	fuzz_check(socket);
	model_exchange_head(exchange, MODEL_STATUS_SOCKET, &none);
	for (struct str rest = is_open ? str_skip(input, 1) : input; is_open && rest.len;) {
		size_t len = rest.len < longest ? rest.len : longest;
		websocket_receive(socket, str_n(rest.ptr, len));
		is_open = take_messages(socket, exchange, &cause);
		rest = str_skip(rest, len);
	}
	end_answer(exchange, cause);
	websocket_destroy(socket);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	fuzz_answer_by(data, size, wire_api_responses, feed_frames);
	return 0;
}
