/* The life of a call: messages are cut from the stream of bytes, and a call ends with a status, at its deadline or with
 * its client. An ended call is freed in the next round of the loop, so that its handlers may end it anywhere.
 *
 * A client that submits faster than its session takes, or does not read its events, gets no more credit to send. */
#include "base/error.h"
#include "base/limits.h"
#include "base/mem.h"
#include "net/http_head.h"
#include "net/http_server.h"
#include "server/grpc_wire.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"

/* ---- statuses ---- */

static void refuse(struct http_exchange *exchange, enum grpc_status status, const char *text)
{
	auto_buf struct buf message;
	char code[32];
	buf_init(&message, LIMIT_RPC_ERROR);
	grpc_put_status_text(&message, text);
	snprintf(code, sizeof(code), "grpc-status: %d", status);
	struct str headers[] = {STR("content-type: application/grpc"), str_of(code), buf_str(&message),
	                        STR("grpc-accept-encoding: identity")};
	http_reply_head(exchange, 200, headers, countof(headers) - (status != GRPC_UNIMPLEMENTED), HTTP_HEAD_ONLY);
	http_reply_end(exchange);
}

static void end_with(struct grpc_call *call, enum grpc_status status, const char *text)
{
	auto_buf struct buf message;
	char code[32];
	buf_init(&message, LIMIT_RPC_ERROR);
	grpc_put_status_text(&message, text);
	snprintf(code, sizeof(code), "grpc-status: %d", status);
	struct str trailers[] = {str_of(code), buf_str(&message)};
	http_reply_end_with(call->exchange, trailers, 1 + (*text != '\0'));
}

void grpc_call_end(struct grpc_call *call, enum grpc_status status, const char *text)
{
	if (call->has_ended)
		return;
	call->has_ended = true;
	if (call->start)
		loop_timer_stop(call->start);
	kept_watcher_destroy(steal(call->watcher));
	if (call->is_own && call->session && status != GRPC_OK)
		http_session_abandon(steal(call->session));
	if (call->has_lines)
		lines_end(call, status, text);
	else if (call->is_head_sent)
		end_with(call, status, text);
	else
		refuse(call->exchange, status, text);
	loop_defer(&call->finished);
}

static void call_destroy(struct grpc_call *call)
{
	list_remove(&call->link);
	loop_timer_destroy(call->deadline);
	loop_timer_destroy(call->start);
	loop_deferred_finish(&call->finished);
	buf_finish(&call->in);
	buf_finish(&call->out);
	free(call);
}

static void on_finished(void *self)
{
	call_destroy(self);
}

static void on_deadline(void *self)
{
	grpc_call_end(self, GRPC_DEADLINE_EXCEEDED, "the deadline of the call has passed");
}

/* ---- answers ---- */

void grpc_call_head(struct grpc_call *call)
{
	char id[80];
	snprintf(id, sizeof(id), "codex-session-id: %s", call->session ? kept_session_id(call->session->kept) : "");
	const struct str headers[] = {STR("content-type: application/grpc"), str_of(id)};
	if (call->has_lines)
		lines_head(call);
	else if (!call->is_head_sent)
		http_reply_head(call->exchange, 200, headers, call->watcher ? 2 : 1, HTTP_CHUNKED);
	call->is_head_sent = true;
}

void grpc_call_send(struct grpc_call *call)
{
	grpc_call_head(call);
	if (call->out.len && !http_reply_data(call->exchange, buf_str(&call->out)))
		call->is_stalled = true;
	buf_reuse(&call->out);
}

/* ---- requests ---- */

/* Sets *ret_message and *ret_len, its length with the frame. False if it is incomplete, or the call was ended because
 * of it. */
static bool find_message(struct grpc_call *call, struct str rest, struct str *ret_message, size_t *ret_len)
{
	size_t len = 0;
	if (call->has_lines)
		return lines_find(call, rest, ret_message, ret_len);
	if (rest.len < GRPC_FRAME_HEAD)
		return false;
	for (size_t i = 1; i < GRPC_FRAME_HEAD; i++)
		len = len << 8 | (uint8_t)rest.ptr[i];
	if (rest.ptr[0] && call->is_encoded)
		grpc_call_end(call, GRPC_UNIMPLEMENTED, "compressed messages are not accepted");
	else if (rest.ptr[0])
		grpc_call_end(call, GRPC_INTERNAL, "a message is marked as compressed, without grpc-encoding");
	else if (len > LIMIT_LINE)
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, "a message is longer than 16 MiB");
	*ret_len = GRPC_FRAME_HEAD + len;
	*ret_message = str_n(rest.ptr + GRPC_FRAME_HEAD, len);
	return !call->has_ended && rest.len >= *ret_len;
}

static bool is_waiting(const struct grpc_call *call)
{
	if (!call->method->is_stream)
		return false;
	return (call->session && !kept_session_room(call->session->kept)) ||
	       (call->is_stalled && call->unread_count > LIMIT_UNREAD_SUBMISSIONS);
}

static void on_half_close(struct grpc_call *call)
{
	if (call->in.len)
		grpc_call_end(call, GRPC_INTERNAL, "the request ended inside a message");
	else if (call->method->is_stream)
		grpc_session_half_close(call);
	else if (call->message_count != 1)
		grpc_call_end(call, GRPC_INTERNAL, "the request must have one message");
}

static void run_messages(struct grpc_call *call)
{
	struct str message;
	size_t taken = 0, len;
	while (!is_waiting(call) && find_message(call, str_skip(buf_str(&call->in), taken), &message, &len)) {
		taken += len;
		call->message_count++;
		call->unread_count += call->is_stalled;
		if (!call->method->is_stream && taken < call->in.len)
			grpc_call_end(call, GRPC_INTERNAL, "the request must have one message");
		else
			call->method->run(call, message);
		if (call->has_ended)
			return;
	}
	if (taken)
		buf_consume(&call->in, taken);
}

static void give_credit(struct grpc_call *call)
{
	http_exchange_take(call->exchange, call->owed);
	call->owed = 0;
}

void grpc_call_run(struct grpc_call *call)
{
	if (call->has_ended || (!call->method->is_stream && (!call->is_input_over || call->message_count)))
		return;
	run_messages(call);
	if (call->has_ended || is_waiting(call))
		return;
	give_credit(call);
	if (call->is_input_over && !call->is_half_closed) {
		call->is_half_closed = true;
		on_half_close(call);
	}
}

static void on_body(struct str bytes, bool is_end, void *self)
{
	struct grpc_call *call = self;
	struct str message;
	size_t len;
	buf_append_str(&call->in, bytes);
	call->owed += bytes.len;
	call->is_input_over |= is_end;
	if (call->in.over)
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, "a message is longer than 16 MiB");
	else if (call->method->is_stream || is_end)
		grpc_call_run(call);
	else if (find_message(call, buf_str(&call->in), &message, &len) || !call->has_ended)
		give_credit(call);
	if (!call->has_ended && !http_exchange_store(call->exchange, call->in.len))
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED,
		              "the incomplete messages of the connection are longer than 64 MiB");
}

static void on_writable(void *self)
{
	struct grpc_call *call = self;
	call->is_stalled = false;
	call->unread_count = 0;
	if (call->watcher) {
		kept_watcher_go_on(call->watcher);
		grpc_call_on_news(call);
	} else {
		grpc_call_run(call);
	}
}

static void on_gone(void *self)
{
	grpc_call_end(self, GRPC_UNAVAILABLE, "");
}

static const struct http_exchange_events exchange_events = {on_writable, on_gone, on_body};

/* ---- calls ---- */

static const struct grpc_method methods[] = {
#define METHOD(path, handler, ...) {path, on_grpc_##handler, __VA_ARGS__},
#include "server/grpc_methods.def"
#undef METHOD
};

const struct grpc_method *grpc_method_find(struct str path)
{
	for (size_t i = 0; i < countof(methods); i++)
		if (str_is(path, methods[i].path))
			return &methods[i];
	return NULL;
}

bool grpc_is_call(const struct http_head *head)
{
	struct str rest = http_head_get(head, "content-type"), type;
	if (!str_is(head->method, "POST") || !str_next_part(&rest, ';', &type))
		return false;
	type = str_trim(type);
	return str_equal_fold(type, STR("application/grpc")) || str_equal_fold(type, STR("application/grpc+proto"));
}

/* Reads the metadata that every call may have. Returns false after refusing the call. */
static bool read_metadata(struct grpc_call *call, const struct http_head *head)
{
	struct str timeout = http_head_get(head, "grpc-timeout"), encoding = http_head_get(head, "grpc-encoding");
	call->wants_struct = str_is(http_head_get(head, "codex-payload"), "struct");
	uint64_t ms;
	call->is_encoded = encoding.len && !str_is(encoding, "identity");
	if (!timeout.ptr)
		return true;
	if (!grpc_read_timeout(timeout, &ms)) {
		grpc_call_end(call, GRPC_INVALID_ARGUMENT, "grpc-timeout is malformed");
		return false;
	}
	call->deadline = loop_timer_create(call->proto->options.loop, on_deadline, call);
	loop_timer_start(call->deadline, ms);
	return true;
}

struct grpc_call *grpc_call_create(struct http_proto *proto, struct http_exchange *exchange,
                                   const struct grpc_method *method)
{
	struct grpc_call *call = xnew(struct grpc_call);
	call->proto = proto;
	call->exchange = exchange;
	call->method = method;
	buf_init(&call->in, LIMIT_LINE + LIMIT_STREAM_READ + GRPC_FRAME_HEAD);
	buf_init(&call->out, LIMIT_STREAM_QUEUE_HARD);
	loop_deferred_init(&call->finished, proto->options.loop, on_finished, call);
	list_append(&proto->calls, &call->link);
	http_exchange_watch(exchange, &exchange_events, call);
	return call;
}

void grpc_accept(struct http_proto *proto, struct http_exchange *exchange, const struct http_head *head,
                 const struct grpc_method *method, bool is_authorized)
{
	if (!is_authorized)
		refuse(exchange, GRPC_UNAUTHENTICATED,
		       "the metadata `authorization: Bearer TOKEN` is missing or wrong");
	else if (!method)
		refuse(exchange, GRPC_UNIMPLEMENTED, "there is no such method; docs/http.md lists them");
	else if (proto->is_draining && method->needs_token)
		refuse(exchange, GRPC_UNAVAILABLE, "the server is shutting down");
	else {
		struct grpc_call *call = grpc_call_create(proto, exchange, method);
		if (read_metadata(call, head) && method->run == on_grpc_session)
			grpc_session_begin(call, head);
	}
}

void grpc_calls_drain(struct http_proto *proto)
{
	struct grpc_call *it;
	list_for_each(it, &proto->calls, link)
		if (it->is_health)
			grpc_health_report(it);
}

void grpc_calls_cancel(struct http_proto *proto, const struct page_device *device)
{
	struct grpc_call *it;
	list_for_each(it, &proto->calls, link) {
		if (it->device == device)
			grpc_call_end(it, GRPC_UNAUTHENTICATED, "the device was signed out");
	}
}

void grpc_calls_destroy(struct http_proto *proto)
{
	struct grpc_call *it;
	list_for_each(it, &proto->calls, link) {
		it->is_own = false; /* the server ends the sessions */
		grpc_call_end(it, GRPC_UNAVAILABLE, "the server has shut down");
		call_destroy(it);
	}
}
