/* The settings of a request (model, instructions, tools, options) must equal those of the response that it continues;
 * they are kept as text and compared. In the slices of a body they stand before and after the history. */
#define LOG_MODULE "model"
#include "model/model_socket.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_wire.h"
#include "net/websocket_client.h"

struct model_socket {
	struct loop *loop;
	struct http_client *http;
	const struct model_provider *provider;
	struct websocket_client *client; /* NULL: not open */
	bool is_open;                    /* the handshake was accepted */
	bool is_refused;                 /* for good */
	bool is_reused;
	/* the last response; no id: the next request cannot continue it */
	struct str response_id;
	bool has_no_input; /* it was a warm-up: the server has only the settings */
	struct buf settings;
	/* the current request; handler is NULL between two */
	const struct model_socket_handler *handler;
	void *self;
	const struct model_request *request;
	bool is_warm_up;
	bool is_paused;
};

/* ---- settings ---- */

static bool is_input(const struct model_request *request, size_t slice)
{
	return slice >= 1 && slice < 1 + request->input_slices;
}

static void write_settings(const struct model_request *request, struct buf *out)
{
	for (size_t i = 0; i < request->body.count; i++) {
		if (!is_input(request, i))
			buf_append_str(out, request->body.items[i]);
	}
}

static bool cut(struct str *rest, struct str prefix)
{
	if (rest->len < prefix.len || !str_eq(str_n(rest->ptr, prefix.len), prefix))
		return false;
	*rest = str_skip(*rest, prefix.len);
	return true;
}

static bool has_settings_of(const struct model_socket *socket, const struct model_request *request)
{
	struct str rest = buf_str(&socket->settings);
	for (size_t i = 0; i < request->body.count; i++) {
		if (!is_input(request, i) && !cut(&rest, request->body.items[i]))
			return false;
	}
	return rest.len == 0;
}

/* ---- frames ---- */

struct frame {
	VEC(struct str) parts;
	struct buf head;
};

static void add_parts(struct frame *frame, const struct str *parts, size_t count)
{
	for (size_t i = 0; i < count; i++)
		vec_push(&frame->parts, parts[i]);
}

static bool is_continued(const struct model_socket *socket, const struct model_request *request)
{
	if (!socket->response_id.len || !has_settings_of(socket, request))
		return false;
	return socket->has_no_input || (request->has_fresh && str_eq(request->fresh_after, socket->response_id));
}

/* Writes {"type":"response.create",…} around the members of the body. */
static void write_frame(const struct model_socket *socket, struct frame *frame)
{
	const struct model_request *request = socket->request;
	bool continues = is_continued(socket, request);
	bool sends_fresh = continues && !socket->has_no_input;
	struct json_writer w = json_writer(&frame->head);
	buf_init(&frame->head, LIMIT_HTTP_HEAD);
	jw_object(&w);
	jw_member_cstr(&w, "type", "response.create");
	if (socket->is_warm_up)
		jw_member_bool(&w, "generate", false);
	if (continues)
		jw_member_str(&w, "previous_response_id", socket->response_id);
	buf_append_char(&frame->head, ',');
	vec_push(&frame->parts, buf_str(&frame->head));
	vec_push(&frame->parts, str_skip(request->body.items[0], 1));
	if (sends_fresh)
		add_parts(frame, request->fresh.items, request->fresh.count);
	else
		add_parts(frame, request->body.items + 1, request->input_slices);
	size_t rest = 1 + request->input_slices;
	add_parts(frame, request->body.items + rest, request->body.count - rest);
}

static void forget_response(struct model_socket *socket)
{
	str_free(&socket->response_id);
	socket->has_no_input = false;
}

static void send_frame(struct model_socket *socket, const struct http_head *head)
{
	struct frame frame = {0};
	write_frame(socket, &frame);
	websocket_client_send(socket->client, frame.parts.items, frame.parts.count);
	vec_finish(&frame.parts);
	buf_finish(&frame.head);
	forget_response(socket);
	socket->handler->on_sent(head, socket->self);
}

/* ---- events of the connection ---- */

static void close_connection(struct model_socket *socket)
{
	websocket_client_close(steal(socket->client));
	socket->is_open = false;
	forget_response(socket);
}

static void on_open(const struct http_head *head, void *self)
{
	struct model_socket *socket = self;
	socket->is_open = true;
	if (socket->handler)
		send_frame(socket, head);
}

static void on_bytes(void *self)
{
	struct model_socket *socket = self;
	if (socket->handler)
		socket->handler->on_bytes(socket->self);
}

static void on_message(struct str text, void *self)
{
	struct model_socket *socket = self;
	if (socket->handler)
		socket->handler->on_message(text, socket->self);
}

static void on_end(int status, const struct error *err, void *self)
{
	struct model_socket *socket = self;
	const struct model_socket_handler *handler = steal(socket->handler);
	bool was_open = socket->is_open;
	struct error regular;
	error_set(&regular, ERR_transport, "the server closed the WebSocket");
	close_connection(socket);
	socket->is_refused = socket->is_refused || (!was_open && status != 401);
	if (!was_open)
		log_debug("no WebSocket: %s", err ? err->text : regular.text);
	if (handler && was_open)
		handler->on_lost(err ? err : &regular, socket->self);
	else if (handler)
		handler->on_refused(status, err ? err : &regular, socket->self);
}

static const struct websocket_client_handler client_handler = {on_open, on_bytes, on_message, on_end};

/* ---- requests ---- */

/* True for a header that describes an HTTP request with a body. */
static bool is_of_body(struct str line)
{
	static const char *const names[] = {"accept:", "content-type:"};
	for (size_t i = 0; i < countof(names); i++) {
		if (str_equal_fold(str_n(line.ptr, line.len < strlen(names[i]) ? line.len : strlen(names[i])),
		                   str_of(names[i])))
			return true;
	}
	return false;
}

static void open_connection(struct model_socket *socket)
{
	VEC(struct str) headers = {0};
	vec_for_each(line, &socket->request->headers) {
		if (!is_of_body(*line))
			vec_push(&headers, *line);
	}
	vec_push(&headers, STR("openai-beta: responses_websockets=2026-02-06"));
	struct websocket_client_request request = {
		.url = socket->provider->url,
		.headers = headers.items,
		.header_count = headers.count,
		.client_certificate = socket->provider->client_certificate,
		.client_key = socket->provider->client_key,
		.timeout_ms = socket->provider->socket_timeout_ms,
	};
	socket->client = websocket_client_open(socket->loop, socket->http, &request, &client_handler, socket);
	vec_finish(&headers);
}

static size_t size_of(const struct model_request *request)
{
	size_t size = 0;
	vec_for_each(slice, &request->body)
		size += slice->len;
	return size;
}

bool model_socket_takes(const struct model_socket *socket, const struct model_request *request)
{
	return !socket->is_refused && !socket->handler && request->may_use_socket &&
	       size_of(request) < LIMIT_HTTP_TUNNEL_QUEUE / 2;
}

void model_socket_send(struct model_socket *socket, const struct model_request *request, bool is_warm_up,
                       const struct model_socket_handler *handler, void *self)
{
	socket->request = request;
	socket->is_warm_up = is_warm_up;
	socket->handler = handler;
	socket->self = self;
	socket->is_reused = socket->is_open;
	if (socket->is_paused)
		model_socket_resume(socket);
	if (socket->is_open)
		send_frame(socket, NULL);
	else if (!socket->client)
		open_connection(socket);
}

void model_socket_release(struct model_socket *socket, struct str response_id)
{
	buf_clear(&socket->settings);
	write_settings(socket->request, &socket->settings);
	str_free(&socket->response_id);
	if (!socket->settings.over)
		socket->response_id = str_copy(response_id);
	socket->has_no_input = socket->is_warm_up;
	socket->handler = NULL;
	socket->request = NULL;
}

void model_socket_drop(struct model_socket *socket)
{
	socket->handler = NULL;
	socket->request = NULL;
	close_connection(socket);
}

void model_socket_pause(struct model_socket *socket)
{
	socket->is_paused = true;
	if (socket->client)
		websocket_client_pause(socket->client);
}

void model_socket_resume(struct model_socket *socket)
{
	socket->is_paused = false;
	if (socket->client)
		websocket_client_resume(socket->client);
}

bool model_socket_is_open(const struct model_socket *socket)
{
	return socket->is_open;
}

bool model_socket_is_reused(const struct model_socket *socket)
{
	return socket->is_reused;
}

struct model_socket *model_socket_create(struct loop *loop, struct http_client *http,
                                         const struct model_provider *provider)
{
	struct model_socket *socket = xnew(struct model_socket);
	socket->loop = loop;
	socket->http = http;
	socket->provider = provider;
	buf_init(&socket->settings, 2 * LIMIT_REQUEST_FRAME);
	return socket;
}

void model_socket_destroy(struct model_socket *socket)
{
	if (!socket)
		return;
	close_connection(socket);
	buf_finish(&socket->settings);
	free(socket);
}
