/* model_exchange.h — one request to a model and its response: the body and headers of the request; the events
 * and the outcome of the response, and whether to repeat the request at once.
 *
 * Independent of loops and sockets: the caller sends the request and feeds the received bytes to the exchange. The body
 * is a list of slices: a head and a tail written here, and between them the caller's history, not copied.
 * Owns: head, tail and headers of the request; the parts of the response that it keeps. Borrows: everything that the
 * prompt refers to, until model_request_finish. Thread: any, one at a time. */
#ifndef MODEL_MODEL_EXCHANGE_H
#define MODEL_MODEL_EXCHANGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"
#include "model/model_stream.h"
#include "model/model_wire.h"
#include "model/sse.h"

struct http_head;
struct model_secrets;

/* ---- the request ---- */

/* Initialises request; model_request_finish is required even after a failure. */
must_check int model_request_init(struct model_request *request, const struct model_prompt *prompt, struct error *err);
/* Adds a header, copied. */
void model_request_add_header(struct model_request *request, const char *name, struct str value);
void model_request_finish(struct model_request *request);

/* ---- the response ---- */

enum model_outcome {
	MODEL_OUTCOME_completed,
	MODEL_OUTCOME_failed, /* the response failed, and an immediate retry would not help */
	MODEL_OUTCOME_repeat, /* failed before the response began: the same request may be sent again */
};

/* As the status of an exchange: its events come as messages of a WebSocket. */
enum { MODEL_STATUS_SOCKET = 101 };

struct model_exchange {
	/* read-only */
	struct model_stream stream;
	int status;      /* 0: the head was not received yet */
	uint64_t events; /* number of server-sent events so far */
	/* private */
	response_event_fn on_event;
	void *self;
	const struct model_secrets *secrets;
	const struct model_wire *wire;
	struct sse sse;
	struct buf body; /* the beginning of a response that is not a stream */
	struct arena arena;
	struct str content_type, retry_after, retry_after_ms, request_id, cf_ray;
	bool is_event_stream;
	bool is_stopped;
};

/* Reads the response to this request. The request is borrowed; so are secrets, which are masked where the response is
 * quoted. */
void model_exchange_init(struct model_exchange *exchange, const struct model_request *request,
                         const struct model_secrets *secrets, response_event_fn on_event, void *self);
/* Returns the name of the API that the server should speak; NULL before model_exchange_init. */
const char *model_exchange_api(const struct model_exchange *exchange);
/* Suppresses further events. May be called in on_event. */
void model_exchange_stop(struct model_exchange *exchange);
void model_exchange_head(struct model_exchange *exchange, int status, const struct http_head *head);
/* Feeds received bytes. False and err if the response exceeds a limit; the caller must then end the exchange. */
must_check bool model_exchange_data(struct model_exchange *exchange, struct str bytes, struct error *err);
/* Feeds one event that came as a message. */
void model_exchange_message(struct model_exchange *exchange, struct str text);
/* Ends the response; `cause` is the error if it broke off, else NULL. Events may still be emitted for its last
 * bytes. *ret_error is set unless the response is complete; its text names url. */
enum model_outcome model_exchange_end(struct model_exchange *exchange, const struct error *cause, struct str url,
                                      struct model_error *ret_error);
void model_exchange_finish(struct model_exchange *exchange);

#endif
