/* model_exchange.h — one request and its response: the events, the outcome, and whether to repeat the request at once.
 *
 * Independent of loops and sockets: the caller feeds it the received bytes. Owns: the parts of the response that it
 * keeps. Thread: any, one at a time. */
#ifndef MODEL_MODEL_EXCHANGE_H
#define MODEL_MODEL_EXCHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"
#include "model/model_stream.h"
#include "net/sse.h"

struct error;
struct http_head;
struct model_secrets;

enum model_outcome {
	MODEL_OUTCOME_completed,
	MODEL_OUTCOME_failed, /* an immediate retry is of no use */
	MODEL_OUTCOME_repeat, /* failed before the response began: the same request may be sent again */
};

struct model_exchange {
	/* read-only */
	struct model_stream stream;
	int status;      /* 0: no head yet */
	uint64_t events; /* server-sent events so far */
	/* private */
	response_event_fn on_event;
	void *self;
	const struct model_secrets *secrets;
	struct sse sse;
	struct buf body; /* the beginning of a response that is not a stream */
	struct arena arena;
	struct str content_type, retry_after, request_id, cf_ray;
	bool is_event_stream;
	bool is_stopped;
};

/* secrets are borrowed; they are masked in quotations of the response. */
void model_exchange_init(struct model_exchange *exchange, const struct model_secrets *secrets,
                         response_event_fn on_event, void *self);
/* Suppresses further events. on_event may call it. */
void model_exchange_stop(struct model_exchange *exchange);
void model_exchange_head(struct model_exchange *exchange, int status, const struct http_head *head);
/* False and err if the response exceeds a limit; the caller must end the exchange then. */
bool model_exchange_data(struct model_exchange *exchange, struct str bytes, struct error *err);
/* Ends the response; with `cause` if it broke off. Events may still be emitted for its last bytes. ret_error is set
 * unless the response is complete; its text names url. */
enum model_outcome model_exchange_end(struct model_exchange *exchange, const struct error *cause, struct str url,
                                      struct model_error *ret_error);
void model_exchange_finish(struct model_exchange *exchange);

#endif
