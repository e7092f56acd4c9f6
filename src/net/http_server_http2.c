/* HTTP/2: nghttp2 is a state machine that is fed with bytes and asked for bytes; it checks frames, windows and the
 * grammar of requests, and limits resets, CONTINUATION, SETTINGS and PING by itself.
 *
 * An answer waits in its stream's queue and leaves it as far as the windows of the stream and of the connection go, so
 * one slow stream does not delay the others. Received bodies are credited to the connection at once and to the stream
 * when the receiver takes them. All frames of one iteration of the loop are written together.
 *
 * A stream has two owners, nghttp2 until it is closed and the receiver of the request until it has answered; it is
 * freed when both have let it go. */
#include "base/library.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_server_priv.h"

/* ---- the library ---- */

struct nghttp2 nghttp2;

static const char *const names[] = {
#define NGHTTP2(name) "nghttp2_" #name,
#include "net/http_server_http2.def"
#undef NGHTTP2
};

LIBRARY(libnghttp2, nghttp2, names, LIBRARY_ROW(libnghttp2), .purpose = "libnghttp2, which implements HTTP/2");

int http2_load(struct error *err)
{
	return library_load(&libnghttp2, err);
}

/* ---- requests: what nghttp2 reports ---- */

bool http2_stream_store(struct http2_stream *stream, size_t len)
{
	stream->http2->stored += len - stream->stored;
	stream->stored = len;
	return stream->http2->stored <= LIMIT_HTTP2_BODIES;
}

static void refuse(struct http2_stream *stream, int status)
{
	http2_stream_store(stream, 0);
	buf_finish(&stream->body);
	stream->use = HTTP_BODY_SKIP;
	stream->is_owned = true;
	http_refuse(stream->http2->receiver, &stream->base, status);
}

static void dispatch(struct http2_stream *stream)
{
	const struct http_receiver *receiver = stream->http2->receiver;
	stream->is_owned = true;
	http2_stream_store(stream, 0);
	receiver->on_request(&stream->base, &stream->head, buf_str(&stream->body), receiver->self);
	buf_finish(&stream->body);
}

static void pass_body(struct http2_stream *stream, struct str bytes, bool is_end)
{
	const struct http_exchange_events *events = stream->base.events;
	if (stream->is_owned && events && events->on_body)
		events->on_body(bytes, is_end, stream->base.self);
}

static int on_begin_headers(nghttp2_session *session, const nghttp2_frame *frame, void *self)
{
	struct http2 *http2 = self;
	if (frame->headers.cat != NGHTTP2_HCAT_REQUEST)
		return 0;
	struct http2_stream *stream = xnew(struct http2_stream);
	stream->base.ops = &http2_ops;
	stream->base.peer = http2->peer;
	stream->http2 = http2;
	stream->id = frame->hd.stream_id;
	stream->is_open = true;
	stream->head.target = STR("");
	buf_init(&stream->body, http2->receiver->body_max);
	buf_init(&stream->out, LIMIT_STREAM_QUEUE_HARD);
	buf_init(&stream->trailers, LIMIT_HTTP_HEAD);
	list_append(&http2->streams, &stream->link);
	nghttp2.session_set_stream_user_data(session, stream->id, stream);
	return 0;
}

static void add_header(struct http2_stream *stream, struct str name, struct str value)
{
	struct http_header header = {arena_str(&stream->arena, name), arena_str(&stream->arena, value)};
	if (str_is(name, ":method"))
		stream->head.method = header.value;
	else if (str_is(name, ":path"))
		stream->head.target = header.value;
	else if (str_is(name, "host") && stream->has_host)
		stream->is_bad |= !str_eq(value, http_head_get(&stream->head, "host"));
	else if (str_is(name, ":authority")) {
		stream->has_host = true;
		header.name = STR("host");
		vec_push(&stream->head.headers, header);
	} else if (name.ptr[0] != ':')
		vec_push(&stream->head.headers, header);
}

/* A small block of headers may name an entry of the table again and again, so the text is counted. */
static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name, size_t name_len,
                     const uint8_t *value, size_t value_len, uint8_t flags, void *self)
{
	struct http2_stream *stream = nghttp2.session_get_stream_user_data(session, frame->hd.stream_id);
	(void)flags;
	(void)self;
	if (!stream || stream->has_head)
		return 0; /* trailers have no use */
	stream->head_len += name_len + value_len + 32;
	if (stream->head_len > LIMIT_HTTP_HEAD)
		return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
	add_header(stream, str_n((const char *)name, name_len), str_n((const char *)value, value_len));
	return 0;
}

static void on_request_head(struct http2_stream *stream)
{
	const struct http_receiver *receiver = stream->http2->receiver;
	uint64_t length;
	stream->has_head = stream->http2->has_begun = true;
	stream->use = receiver->body_use ? receiver->body_use(&stream->head, receiver->self) : HTTP_BODY_WHOLE;
	if (stream->is_bad)
		refuse(stream, 400);
	else if (stream->use != HTTP_BODY_WHOLE)
		dispatch(stream);
	else if (str_to_u64(http_head_get(&stream->head, "content-length"), &length) && length > receiver->body_max)
		refuse(stream, 413);
}

static int on_frame_recv(nghttp2_session *session, const nghttp2_frame *frame, void *self)
{
	(void)self;
	if (frame->hd.type != NGHTTP2_HEADERS && frame->hd.type != NGHTTP2_DATA)
		return 0;
	struct http2_stream *stream = nghttp2.session_get_stream_user_data(session, frame->hd.stream_id);
	if (!stream)
		return 0;
	if (!stream->has_head)
		on_request_head(stream);
	if (!(frame->hd.flags & NGHTTP2_FLAG_END_STREAM))
		return 0;
	stream->is_input_over = true;
	if (stream->use == HTTP_BODY_WHOLE)
		dispatch(stream);
	else if (stream->use == HTTP_BODY_STREAM)
		pass_body(stream, STR(""), true);
	return 0;
}

static int on_data_chunk(nghttp2_session *session, uint8_t flags, int32_t id, const uint8_t *data, size_t len,
                         void *self)
{
	struct http2 *http2 = self;
	struct http2_stream *stream = nghttp2.session_get_stream_user_data(session, id);
	struct str bytes = str_n((const char *)data, len);
	(void)flags;
	http2->moved += (int64_t)len;
	nghttp2.session_consume_connection(session, len);
	if (!stream || stream->use == HTTP_BODY_SKIP)
		return 0;
	if (stream->use == HTTP_BODY_STREAM) {
		pass_body(stream, bytes, false);
		return 0;
	}
	if (stream->body.len + len > http2->receiver->body_max) {
		refuse(stream, 413);
		return 0;
	}
	buf_append_str(&stream->body, bytes);
	if (!http2_stream_store(stream, stream->body.len)) {
		refuse(stream, 503);
		return 0;
	}
	nghttp2.session_consume_stream(session, id, len);
	return 0;
}

/* The receiver of an exchange that is still owned learns that its client is gone. */
static void stream_close(struct http2_stream *stream)
{
	const struct http_exchange_events *events = stream->base.events;
	stream->is_open = false;
	http2_stream_store(stream, 0);
	list_remove(&stream->link);
	if (stream->is_owned && events && events->on_gone)
		events->on_gone(stream->base.self);
	else
		http2_stream_release(stream);
}

static int on_stream_close(nghttp2_session *session, int32_t id, uint32_t code, void *self)
{
	struct http2_stream *stream = nghttp2.session_get_stream_user_data(session, id);
	(void)code;
	(void)self;
	if (stream)
		stream_close(stream);
	return 0;
}

/* Resets the client's side of a stream whose answer ended early; ends a connection whose streams are all errors. */
static int on_frame_send(nghttp2_session *session, const nghttp2_frame *frame, void *self)
{
	struct http2 *http2 = self;
	struct http2_stream *stream = nghttp2.session_get_stream_user_data(session, frame->hd.stream_id);
	bool is_answer = frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA;
	if (is_answer && frame->hd.flags & NGHTTP2_FLAG_END_STREAM && stream && !stream->is_input_over)
		http2_stream_reset(stream, NGHTTP2_NO_ERROR);
	if (frame->hd.type == NGHTTP2_RST_STREAM && frame->rst_stream.error_code != NGHTTP2_NO_ERROR &&
	    ++http2->reset_count == LIMIT_HTTP2_RESETS)
		nghttp2.session_terminate_session(session, NGHTTP2_ENHANCE_YOUR_CALM);
	return 0;
}

/* ---- the connection ---- */

static void send_frames(struct http2 *http2)
{
	const uint8_t *bytes;
	while (!http2->is_blocked && !http2->is_over) {
		ssize_t len = nghttp2.session_mem_send(http2->session, &bytes);
		if (len <= 0)
			return;
		http2->is_blocked = !http2->events->on_output(str_n((const char *)bytes, (size_t)len), http2->self);
	}
}

static void report_writable(struct http2 *http2)
{
	struct http2_stream *it;
	if (!http2->has_writable)
		return;
	http2->has_writable = false;
	list_for_each(it, &http2->streams, link) {
		const struct http_exchange_events *events = it->base.events;
		if (!it->is_writable_due)
			continue;
		it->is_writable_due = false;
		if (it->is_owned && events && events->on_writable)
			events->on_writable(it->base.self);
	}
}

static void on_flush(void *self)
{
	struct http2 *http2 = self;
	send_frames(http2);
	report_writable(http2);
	if (http2->is_over || nghttp2.session_want_read(http2->session) || nghttp2.session_want_write(http2->session))
		return;
	http2->is_over = true;
	http2->events->on_over(http2->self);
}

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

bool http2_is_preface(struct str bytes)
{
	return bytes.len && strncmp(bytes.ptr, preface, bytes.len < HTTP2_PREFACE ? bytes.len : HTTP2_PREFACE) == 0;
}

static void set_callbacks(nghttp2_session_callbacks *callbacks)
{
	nghttp2.session_callbacks_set_on_begin_headers_callback(callbacks, on_begin_headers);
	nghttp2.session_callbacks_set_on_header_callback(callbacks, on_header);
	nghttp2.session_callbacks_set_on_frame_recv_callback(callbacks, on_frame_recv);
	nghttp2.session_callbacks_set_on_data_chunk_recv_callback(callbacks, on_data_chunk);
	nghttp2.session_callbacks_set_on_stream_close_callback(callbacks, on_stream_close);
	nghttp2.session_callbacks_set_on_frame_send_callback(callbacks, on_frame_send);
}

static void open_session(struct http2 *http2)
{
	static const nghttp2_settings_entry settings[] = {
		{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, LIMIT_HTTP2_STREAMS},
		{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, LIMIT_HTTP_HEAD},
	};
	nghttp2_session_callbacks *callbacks;
	nghttp2_option *option;
	nghttp2.session_callbacks_new(&callbacks);
	set_callbacks(callbacks);
	nghttp2.option_new(&option);
	nghttp2.option_set_no_auto_window_update(option, 1);
	nghttp2.session_server_new2(&http2->session, callbacks, http2, option);
	nghttp2.option_del(option);
	nghttp2.session_callbacks_del(callbacks);
	nghttp2.submit_settings(http2->session, NGHTTP2_FLAG_NONE, settings, countof(settings));
	nghttp2.session_set_local_window_size(http2->session, NGHTTP2_FLAG_NONE, 0, LIMIT_HTTP2_WINDOW);
}

struct http2 *http2_create(struct loop *loop, const struct http_receiver *receiver, const struct http2_events *events,
                           void *self)
{
	struct http2 *http2 = xnew(struct http2);
	http2->receiver = receiver;
	http2->events = events;
	http2->self = self;
	list_init(&http2->streams);
	loop_deferred_init(&http2->flush, loop, on_flush, http2);
	open_session(http2);
	return http2;
}

void http2_receive(struct http2 *http2, struct str bytes)
{
	if (http2->is_over)
		return;
	if (nghttp2.session_mem_recv(http2->session, (const uint8_t *)bytes.ptr, bytes.len) < 0)
		nghttp2.session_terminate_session(http2->session, NGHTTP2_PROTOCOL_ERROR);
	loop_defer(&http2->flush);
}

void http2_drained(struct http2 *http2)
{
	http2->is_blocked = false;
	on_flush(http2);
}

void http2_go_away(struct http2 *http2)
{
	nghttp2.submit_goaway(http2->session, NGHTTP2_FLAG_NONE,
	                      nghttp2.session_get_last_proc_stream_id(http2->session), NGHTTP2_NO_ERROR, NULL, 0);
	loop_defer(&http2->flush);
}

bool http2_has_begun(const struct http2 *http2)
{
	return http2->has_begun;
}

bool http2_is_busy(const struct http2 *http2)
{
	const struct http2_stream *it;
	list_for_each(it, &http2->streams, link) {
		if (it->is_owned)
			return true;
	}
	return false;
}

bool http2_has_pending(const struct http2 *http2)
{
	const struct http2_stream *it;
	list_for_each(it, &http2->streams, link) {
		if (it->has_ended || (it->has_head && it->use == HTTP_BODY_WHOLE && !it->is_input_over))
			return true;
	}
	return false;
}

void http2_destroy(struct http2 *http2, bool is_gone)
{
	struct http2_stream *it;
	if (!http2)
		return;
	if (!is_gone) {
		http2_go_away(http2);
		send_frames(http2);
	}
	http2->is_over = true;
	while ((it = list_first(&http2->streams, struct http2_stream, link))) {
		it->is_owned &= is_gone;
		stream_close(it);
	}
	nghttp2.session_del(http2->session);
	loop_deferred_finish(&http2->flush);
	free(http2);
}
