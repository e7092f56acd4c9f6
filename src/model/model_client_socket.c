/* An attempt on the client's WebSocket. It differs from one over HTTP in its end: a complete response leaves the socket
 * to the next request, everything else closes it, because what still arrives would belong to no request. */
#include "model/model_client_priv.h"

#include "base/error.h"
#include "base/mem.h"
#include "config/model_provider.h"
#include "loop/loop.h"
#include "model/model_socket.h"
#include "net/http_head.h"

void model_call_leave_socket(struct model_call *call)
{
	if (!call->is_on_socket)
		return;
	call->is_on_socket = false;
	model_socket_drop(call->client->socket);
}

bool model_call_renew_socket(struct model_call *call)
{
	if (!call->is_on_socket || call->is_socket_new || call == call->client->warm_up)
		return false;
	call->is_socket_new = true;
	model_call_leave_socket(call);
	call->tries--;
	model_call_send(call);
	return true;
}

static void on_socket_sent(const struct http_head *head, void *self)
{
	static const struct http_head none;
	struct model_call *call = self;
	model_call_enter(call);
	model_exchange_head(&call->exchange, MODEL_STATUS_SOCKET, head ? head : &none);
	model_call_leave(call);
}

static void on_socket_bytes(void *self)
{
	struct model_call *call = self;
	call->heard_at = uv_now(loop_uv(call->client->loop));
}

static void on_socket_message(struct str text, void *self)
{
	struct model_call *call = self;
	const struct model_stream *stream = &call->exchange.stream;
	model_call_enter(call);
	model_exchange_message(&call->exchange, text);
	if (!model_call_leave(call))
		return;
	model_call_report_status(call, call->exchange.status);
	if (stream->state == MODEL_STREAM_OPEN)
		return;
	if (stream->state == MODEL_STREAM_COMPLETED) {
		call->is_on_socket = false;
		model_socket_release(call->client->socket, stream->response_id);
	}
	model_call_settle(call, NULL);
}

/* A server may close a socket that was idle just when a request is sent. */
static void on_socket_lost(const struct error *err, void *self)
{
	struct model_call *call = self;
	bool was_idle = model_socket_is_reused(call->client->socket) && call->exchange.events == 0;
	if (was_idle && model_call_renew_socket(call))
		return;
	model_call_settle(call, err);
}

/* The request goes over HTTP. A warm-up is given up. */
static void on_socket_refused(int status, const struct error *err, void *self)
{
	struct model_call *call = self;
	(void)status;
	call->is_on_socket = false;
	call->avoids_socket = true;
	if (call == call->client->warm_up) {
		model_call_settle(call, err);
		return;
	}
	call->tries--;
	model_call_send(call);
}

static const struct model_socket_handler socket_handler = {on_socket_sent, on_socket_bytes, on_socket_message,
                                                           on_socket_refused, on_socket_lost};

bool model_call_use_socket(struct model_call *call)
{
	struct model_client *client = call->client;
	if (!client->socket || call->avoids_socket)
		return false;
	if (client->warm_up && client->warm_up != call) {
		call->state = CALL_QUEUED;
		loop_timer_start(call->timer, client->provider->socket_timeout_ms);
		return true;
	}
	if (!model_socket_takes(client->socket, &call->request))
		return false;
	call->is_on_socket = true;
	call->tries++;
	model_socket_send(client->socket, &call->request, client->warm_up == call, &socket_handler, call);
	if (call->is_paused)
		model_socket_pause(client->socket);
	return true;
}

void model_client_send_queued(struct model_client *client)
{
	struct model_call *call;
	client->warm_up = NULL;
	list_for_each(call, &client->calls, link) {
		if (call->state == CALL_QUEUED)
			model_call_send(call);
	}
}

/* ---- the warm-up ---- */

static void on_warm_up_event(const struct response_event *event, void *self)
{
	(void)event, (void)self;
}

static void on_warm_up_done(const struct model_error *error, void *self)
{
	(void)error, (void)self;
}

void model_client_warm_up(struct model_client *client, const struct model_prompt *prompt)
{
	static const struct model_handler handler = {on_warm_up_event, on_warm_up_done};
	bool is_idle = !client->warm_up && list_empty(&client->calls);
	if (is_idle && client->socket && !model_socket_is_open(client->socket))
		model_call_start(client, prompt, &handler, NULL, true);
}
