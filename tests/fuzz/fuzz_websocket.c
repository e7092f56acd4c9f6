/* A WebSocket means the same however its bytes are cut, and what an end sends is what a peer may send. The first four
 * bytes of an input choose the places of the cuts; what follows is a request with its frames, or frames alone. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/limits.h"
#include "base/sha.h"
#include "base/text.h"
#include "net/http_head.h"
#include "net/websocket.h"
#include "net/websocket_upgrade.h"

struct outcome {
	struct buf got; /* kind and length of each message, and the message */
	struct buf sent;
	bool is_closed, is_failed;
};

static bool on_output(struct str bytes, void *self)
{
	struct outcome *outcome = self;
	buf_append_str(&outcome->sent, bytes);
	return true;
}

static void take_messages(struct websocket *end, struct outcome *ret)
{
	enum websocket_event event;
	struct str message;
	while (!ret->is_closed && (event = websocket_next(end, &message)) != WEBSOCKET_WAIT) {
		ret->is_closed = event == WEBSOCKET_CLOSED;
		if (ret->is_closed)
			return;
		fuzz_check(message.len <= LIMIT_WEBSOCKET_MESSAGE);
		fuzz_check(event != WEBSOCKET_TEXT || text_is_utf8(message));
		buf_printf(&ret->got, "%d %zu ", (int)event, message.len);
		buf_append_str(&ret->got, message);
	}
}

static void run(enum websocket_role role, struct str bytes, size_t longest, uint32_t seed, struct outcome *ret)
{
	*ret = (struct outcome){0};
	buf_init(&ret->got, 64 * MIB);
	buf_init(&ret->sent, 64 * MIB);
	struct websocket *end = websocket_create(role, on_output, ret, NULL);
	fuzz_check(end);
	while (bytes.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > bytes.len)
			len = bytes.len;
		websocket_receive(end, str_n(bytes.ptr, len));
		take_messages(end, ret);
		bytes = str_skip(bytes, len);
	}
	ret->is_failed = websocket_error(end) != NULL;
	websocket_destroy(end);
}

static void finish(struct outcome *outcome)
{
	buf_finish(&outcome->got);
	buf_finish(&outcome->sent);
}

/* A server's reply to arbitrary bytes is valid for a client: pongs, and at most one close. */
static void check_answer(const struct outcome *server)
{
	struct outcome client;
	run(WEBSOCKET_CLIENT, buf_str(&server->sent), LIMIT_STREAM_READ, 0, &client);
	fuzz_check(client.got.len == 0);
	fuzz_check(client.is_closed == server->is_closed);
	finish(&client);
}

static void check_frames(enum websocket_role role, struct str bytes, uint32_t seed)
{
	struct outcome whole, pieces;
	run(role, bytes, bytes.len + 1, 0, &whole);
	run(role, bytes, 1 + seed % 13, seed, &pieces);
	fuzz_check(str_eq(buf_str(&whole.got), buf_str(&pieces.got)));
	fuzz_check(whole.is_closed == pieces.is_closed && whole.is_failed == pieces.is_failed);
	if (role == WEBSOCKET_SERVER) {
		fuzz_check(str_eq(buf_str(&whole.sent), buf_str(&pieces.sent)));
		check_answer(&whole);
	}
	finish(&whole);
	finish(&pieces);
}

/* How much of the bytes is a request that may become a WebSocket. */
static size_t check_upgrade(struct str bytes)
{
	struct http_head head;
	char accept[WEBSOCKET_ACCEPT_SIZE];
	const char *refusal = NULL;
	ptrdiff_t end = str_find(bytes, STR("\r\n\r\n"));
	size_t len = end < 0 ? bytes.len : (size_t)end + 4;
	int status = http_head_parse_request(&head, str_n(bytes.ptr, len));
	if (status == 0) {
		status = websocket_upgrade_check(&head, &refusal);
		fuzz_check((status == 0) == (refusal == NULL));
	}
	if (status == 0) {
		websocket_upgrade_accept(http_head_get(&head, "sec-websocket-key"), accept);
		fuzz_check(strlen(accept) == WEBSOCKET_ACCEPT_SIZE - 1);
	}
	http_head_finish(&head);
	best_effort(websocket_upgrade_answer(str_n(bytes.ptr, len), "dGhlIHNhbXBsZSBub25jZQ==", NULL));
	return status == 0 ? len : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	struct str bytes = {(const char *)data + sizeof(seed), size - sizeof(seed)};
	bytes = str_skip(bytes, check_upgrade(bytes));
	check_frames(WEBSOCKET_SERVER, bytes, seed);
	check_frames(WEBSOCKET_CLIENT, bytes, seed);
	return 0;
}
