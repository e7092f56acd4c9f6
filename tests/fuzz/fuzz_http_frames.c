/* The frames of HTTP/2 and the messages of gRPC in them: the same requests arrive however the bytes are cut, none
 * exceeds its limit, and every exchange ends. The first four bytes of an input choose the places of the cuts; frames
 * follow, after the client's preface and its settings, which precede every input. */
#include "fuzz.h"

#include <string.h>
#include <uv.h>

#include "base/buf.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http_head.h"
#include "net/http_server_priv.h"
#include "server/grpc_wire.h"

enum { BODY_MAX = 4 * KIB };

static struct loop *loop;

struct connection_seen {
	struct buf requests; /* of those that came as a whole */
	size_t open;
	bool is_over;
};

struct answer {
	struct connection_seen *seen;
	struct http_exchange *exchange;
	struct buf in;
};

static void check_message(struct str message)
{
	struct str text = STR_NONE, bytes = STR_NONE;
	uint64_t number = 0, ms = 0;
	const struct grpc_field fields[] = {
		{1, GRPC_TEXT, &text}, {2, GRPC_NUMBER, &number}, {3, GRPC_MESSAGE, &bytes}};
	if (grpc_read(message, fields, countof(fields)) != GRPC_OK)
		return;
	fuzz_check(!text.ptr || text_is_utf8(text));
	fuzz_check(text.len <= message.len && bytes.len <= message.len);
	if (grpc_read_timeout(text, &ms))
		fuzz_check(ms <= UINT64_C(99999999) * 3600 * 1000);
}

static void finish(struct answer *answer)
{
	answer->seen->open--;
	buf_finish(&answer->in);
	free(answer);
}

static void on_gone(void *self)
{
	struct answer *answer = self;
	http_reply_end(answer->exchange);
	finish(answer);
}

static void on_body(struct str bytes, bool is_end, void *self)
{
	struct answer *answer = self;
	buf_append_str(&answer->in, bytes);
	http_exchange_take(answer->exchange, bytes.len);
	fuzz_check(http_exchange_store(answer->exchange, answer->in.len));
	if (!is_end)
		return;
	check_message(str_skip(buf_str(&answer->in), GRPC_FRAME_HEAD));
	struct str trailers[] = {STR("grpc-status: 0")};
	http_reply_head(answer->exchange, 200, NULL, 0, HTTP_CHUNKED);
	http_reply_data(answer->exchange, buf_str(&answer->in));
	http_reply_end_with(answer->exchange, trailers, countof(trailers));
	finish(answer);
}

static const struct http_exchange_events exchange_events = {.on_gone = on_gone, .on_body = on_body};

static enum http_body_use body_use(const struct http_head *head, void *self)
{
	(void)self;
	return http_head_get(head, "te").ptr              ? HTTP_BODY_STREAM
	       : http_head_get(head, "authorization").ptr ? HTTP_BODY_SKIP
	                                                  : HTTP_BODY_WHOLE;
}

static void on_request(struct http_exchange *exchange, const struct http_head *head, struct str body, void *self)
{
	struct connection_seen *seen = self;
	fuzz_check(head->method.ptr && head->target.ptr && body.len <= BODY_MAX);
	if (body_use(head, NULL) != HTTP_BODY_STREAM) {
		buf_printf(&seen->requests, "%zu %zu %zu ", head->method.len, head->headers.count, body.len);
		buf_append_str(&seen->requests, head->target);
		buf_append_str(&seen->requests, body);
		http_reply(exchange, 200, "text/plain", body);
		return;
	}
	struct answer *answer = xnew(struct answer);
	answer->seen = seen;
	answer->exchange = exchange;
	buf_init(&answer->in, 64 * MIB);
	seen->open++;
	http_exchange_watch(exchange, &exchange_events, answer);
}

static bool on_output(struct str bytes, void *self)
{
	(void)self;
	fuzz_check(bytes.len);
	return true;
}

static void on_over(void *self)
{
	struct connection_seen *seen = self;
	seen->is_over = true;
}

static void on_answered(void *self)
{
	struct connection_seen *seen = self;
	fuzz_check(!seen->is_over);
}

static void run(struct str bytes, size_t longest, uint32_t seed, struct connection_seen *seen)
{
	static const char opening[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0";
	static const struct http2_events events = {on_output, on_over, on_answered};
	const struct http_receiver receiver = {
		.on_request = on_request, .body_use = body_use, .body_max = BODY_MAX, .self = seen};
	*seen = (struct connection_seen){0};
	buf_init(&seen->requests, 64 * MIB);
	struct http2 *http2 = http2_create(loop, &receiver, &events, seen);
	http2_receive(http2, str_n(opening, sizeof(opening) - 1));
	while (bytes.len) {
		seed = seed * 1664525 + 1013904223;
		size_t len = 1 + (seed >> 8) % longest;
		if (len > bytes.len)
			len = bytes.len;
		http2_receive(http2, str_n(bytes.ptr, len));
		bytes = str_skip(bytes, len);
	}
	uv_run(loop_uv(loop), UV_RUN_NOWAIT);
	http2_destroy(http2, true);
	fuzz_check(seen->open == 0);
}

static void end(void)
{
	loop_destroy(loop);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t seed;
	struct connection_seen whole, pieces;
	if (!loop) {
		loop = loop_create(NULL);
		fuzz_check(loop && http2_load(NULL) == 0);
		atexit(end);
	}
	if (size < sizeof(seed))
		return 0;
	memcpy(&seed, data, sizeof(seed));
	struct str bytes = {(const char *)data + sizeof(seed), size - sizeof(seed)};
	check_message(bytes);
	run(bytes, bytes.len + 1, 0, &whole);
	run(bytes, 1 + seed % 13, seed, &pieces);
	if (whole.is_over == pieces.is_over) /* nghttp2 may find an error of an incomplete frame in one of them alone */
		fuzz_check(str_eq(buf_str(&whole.requests), buf_str(&pieces.requests)));
	buf_finish(&whole.requests);
	buf_finish(&pieces.requests);
	return 0;
}
