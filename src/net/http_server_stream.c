/* The answers of HTTP/2. An answer waits in the queue of its stream until nghttp2 asks for a frame, which it does as
 * far as the windows of the stream and of the connection go. */
#include <ctype.h>

#include "base/limits.h"
#include "base/mem.h"
#include "net/http_server_priv.h"

void http2_stream_release(struct http2_stream *stream)
{
	if (stream->is_open || stream->is_owned)
		return;
	list_remove(&stream->link);
	http_head_finish(&stream->head);
	arena_finish(&stream->arena);
	buf_finish(&stream->body);
	buf_finish(&stream->out);
	buf_finish(&stream->trailers);
	free(stream);
}

static struct http2_stream *stream_of(struct http_exchange *base)
{
	return container_of(base, struct http2_stream, base);
}

void http2_stream_reset(struct http2_stream *stream, uint32_t code)
{
	nghttp2.submit_rst_stream(stream->http2->session, NGHTTP2_FLAG_NONE, stream->id, code);
	loop_defer(&stream->http2->flush);
}

/* ---- answers ---- */

static bool append_nv(nghttp2_nv *nv, struct arena *arena, struct str line)
{
	struct http_header header;
	if (!http_header_parse(line, &header) || str_equal_fold(header.name, STR("connection")))
		return false;
	struct str name = arena_str(arena, header.name);
	for (size_t i = 0; i < name.len; i++)
		((char *)(uintptr_t)name.ptr)[i] = (char)tolower((unsigned char)name.ptr[i]);
	*nv = (nghttp2_nv){(uint8_t *)(uintptr_t)name.ptr, (uint8_t *)(uintptr_t)header.value.ptr, name.len,
	                   header.value.len, NGHTTP2_NV_FLAG_NONE};
	return true;
}

enum { NV_MAX = 32 };

/* Called by nghttp2 when the answer has ended: sends the trailers. */
static void submit_trailers(struct http2_stream *stream, uint32_t *flags)
{
	auto_arena struct arena arena = {0};
	nghttp2_nv nvs[NV_MAX];
	size_t count = 0;
	struct str rest = buf_str(&stream->trailers), line;
	*flags |= NGHTTP2_DATA_FLAG_EOF;
	while (count < NV_MAX && str_next_line(&rest, &line))
		count += append_nv(&nvs[count], &arena, line);
	if (!count)
		return;
	*flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
	nghttp2.submit_trailer(stream->http2->session, stream->id, nvs, count);
}

static ssize_t on_read(nghttp2_session *session, int32_t id, uint8_t *bytes, size_t size, uint32_t *flags,
                       nghttp2_data_source *source, void *self)
{
	struct http2_stream *stream = source->ptr;
	size_t len = stream->out.len - stream->sent;
	(void)session;
	(void)id;
	(void)self;
	if (len > size)
		len = size;
	if (!len && !stream->has_ended) {
		stream->is_deferred = true;
		return NGHTTP2_ERR_DEFERRED;
	}
	if (len)
		memcpy(bytes, stream->out.data + stream->sent, len);
	stream->sent += len;
	stream->http2->moved += (int64_t)len;
	if (stream->sent < stream->out.len)
		return (ssize_t)len;
	buf_reuse(&stream->out);
	stream->sent = 0;
	if (stream->is_full)
		stream->is_writable_due = stream->http2->has_writable = true;
	stream->is_full = false;
	if (stream->has_ended)
		submit_trailers(stream, flags);
	return (ssize_t)len;
}

static void on_head(struct http_exchange *base, int status, const struct str *headers, size_t header_count,
                    int64_t length)
{
	auto_arena struct arena arena = {0};
	struct http2_stream *stream = stream_of(base);
	nghttp2_data_provider provider = {.source.ptr = stream, .read_callback = on_read};
	nghttp2_nv nvs[NV_MAX];
	char code[16], line[48];
	if (!stream->is_open || stream->is_head_sent)
		return;
	snprintf(code, sizeof(code), "%d", status);
	nvs[0] = (nghttp2_nv){(uint8_t *)":status", (uint8_t *)code, 7, strlen(code), NGHTTP2_NV_FLAG_NONE};
	size_t count = 1;
	const struct http_receiver *receiver = stream->http2->receiver;
	for (size_t i = 0; i < receiver->header_count && count < NV_MAX - 1; i++)
		count += append_nv(&nvs[count], &arena, receiver->headers[i]);
	for (size_t i = 0; i < header_count && count < NV_MAX - 1; i++) {
		struct http_header header;
		if (http_header_parse(headers[i], &header) && !http_receiver_has(receiver, header.name))
			count += append_nv(&nvs[count], &arena, headers[i]);
	}
	snprintf(line, sizeof(line), "content-length: %lld", (long long)length);
	if (length >= 0)
		count += append_nv(&nvs[count], &arena, arena_str(&arena, str_of(line)));
	stream->is_head_sent = true;
	stream->has_no_body = length == 0 || length == HTTP_HEAD_ONLY || str_is(stream->head.method, "HEAD");
	nghttp2.submit_response(stream->http2->session, stream->id, nvs, count, stream->has_no_body ? NULL : &provider);
	loop_defer(&stream->http2->flush);
}

static void resume(struct http2_stream *stream)
{
	if (stream->is_deferred)
		nghttp2.session_resume_data(stream->http2->session, stream->id);
	stream->is_deferred = false;
	loop_defer(&stream->http2->flush);
}

static bool on_data(struct http_exchange *base, struct str bytes)
{
	struct http2_stream *stream = stream_of(base);
	if (!stream->is_open || stream->has_no_body || !bytes.len)
		return true;
	buf_append_str(&stream->out, bytes);
	if (stream->out.over)
		http2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR); /* on_gone follows */
	resume(stream);
	stream->is_full = stream->out.len - stream->sent > LIMIT_STREAM_QUEUE / 2;
	return !stream->is_full;
}

static bool on_store(struct http_exchange *base, size_t len)
{
	struct http2_stream *stream = stream_of(base);
	return !stream->is_open || http2_stream_store(stream, len);
}

/* The receiver lets the stream go. */
static void disown(struct http2_stream *stream)
{
	struct http2 *http2 = stream->http2;
	stream->is_owned = false;
	if (!http2->is_over)
		http2->events->on_answered(http2->self);
}

static void on_end(struct http_exchange *base, const struct str *trailers, size_t count)
{
	struct http2_stream *stream = stream_of(base);
	disown(stream);
	stream->has_ended = true;
	on_store(base, 0);
	for (size_t i = 0; i < count; i++) {
		buf_append_str(&stream->trailers, trailers[i]);
		buf_append_char(&stream->trailers, '\n');
	}
	if (stream->is_open && !stream->is_head_sent)
		http2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR);
	else if (stream->is_open)
		resume(stream);
	http2_stream_release(stream);
}

static void on_abort(struct http_exchange *base, enum http_abort how)
{
	struct http2_stream *stream = stream_of(base);
	(void)how;
	disown(stream);
	if (stream->is_open)
		http2_stream_reset(stream, NGHTTP2_INTERNAL_ERROR);
	http2_stream_release(stream);
}

static void on_take(struct http_exchange *base, size_t len)
{
	struct http2_stream *stream = stream_of(base);
	if (!stream->is_open)
		return;
	nghttp2.session_consume_stream(stream->http2->session, stream->id, len);
	loop_defer(&stream->http2->flush);
}

const struct http_exchange_ops http2_ops = {
	.head = on_head,
	.data = on_data,
	.end = on_end,
	.abort = on_abort,
	.take = on_take,
	.store = on_store,
};
