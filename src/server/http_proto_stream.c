/* POST /v1/stream: a session that lasts as long as the request. Its body is lines of submissions, the answer is lines
 * of events. It is served as a Session of gRPC, with other frames around the messages. */
#include <stdio.h>

#include "base/limits.h"
#include "net/http_server.h"
#include "server/http_proto_priv.h"
#include "server/kept_session.h"

static const struct grpc_method method = {"/v1/stream", on_grpc_session, true, true};

bool lines_find(struct grpc_call *call, struct str rest, struct str *ret_line, size_t *ret_len)
{
	ptrdiff_t at = str_find_char(str_skip(rest, call->scanned), '\n');
	size_t end = at >= 0 ? call->scanned + (size_t)at : rest.len;
	bool is_last = at < 0 && call->is_input_over && rest.len;
	call->scanned = at >= 0 || is_last ? 0 : rest.len;
	*ret_line = str_n(rest.ptr, end);
	*ret_len = end + (at >= 0);
	if (ret_line->len > LIMIT_LINE)
		grpc_call_end(call, GRPC_RESOURCE_EXHAUSTED, "a line is longer than 16 MiB");
	return !call->has_ended && (at >= 0 || is_last);
}

void lines_head(struct grpc_call *call)
{
	char id[80];
	snprintf(id, sizeof(id), "codex-session-id: %s", kept_session_id(call->session->kept));
	const struct str headers[] = {STR("content-type: application/x-ndjson"), STR("cache-control: no-store"),
	                              str_of(id)};
	if (!call->is_head_sent)
		http_reply_head(call->exchange, 200, headers, countof(headers), HTTP_CHUNKED);
	call->is_head_sent = true;
}

void lines_append_event(struct buf *out, struct str line, uint64_t seq)
{
	buf_printf(out, "{\"seq\":%llu,", (unsigned long long)seq);
	buf_append_str(out, str_skip(line, 1));
	buf_append_char(out, '\n');
}

void lines_end(struct grpc_call *call, enum grpc_status status, const char *text)
{
	struct http_request request = {.proto = call->proto, .exchange = call->exchange};
	int refusal = status == GRPC_INVALID_ARGUMENT     ? 400
	              : status == GRPC_NOT_FOUND          ? 404
	              : status == GRPC_OUT_OF_RANGE       ? 410
	              : status == GRPC_RESOURCE_EXHAUSTED ? 503
	                                                  : 500;
	if (!call->is_head_sent)
		http_request_refuse(&request, refusal, text);
	else if (status == GRPC_OK)
		http_reply_end(call->exchange);
	else
		http_exchange_abort(call->exchange, HTTP_ABORT_CLOSE); /* the answer must not look complete */
}

void on_route_stream(struct http_request *request)
{
	if (request->proto->is_draining) {
		http_request_refuse(request, 503, "the server is shutting down");
		return;
	}
	struct grpc_call *call = grpc_call_create(request->proto, request->exchange, &method);
	call->has_lines = true;
	call->device = request->device;
	grpc_session_begin(call, request->head);
}
