/* model_exchange.h — one request and its answer: what the answer is, and whether asking again at once makes sense.
 *
 * Knows nothing of loops and sockets: whoever moves the bytes tells it what came. Owns: what it keeps of the answer.
 * Thread: any, one at a time. Source: core 1.7 to 1.9. */
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
	MODEL_OUTCOME_failed, /* and asking again at once is of no use */
	MODEL_OUTCOME_repeat, /* failed before an answer began: the same request may be sent again */
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
	struct buf body; /* of an answer that is no stream: its beginning */
	struct arena arena;
	struct str content_type, retry_after, request_id, cf_ray;
	bool is_event_stream;
	bool is_stopped;
};

/* secrets are borrowed, and masked in what of the answer is shown. */
void model_exchange_init(struct model_exchange *exchange, const struct model_secrets *secrets,
			 response_event_fn on_event, void *self);
/* on_event may call it: no more events, whatever still comes. */
void model_exchange_stop(struct model_exchange *exchange);
void model_exchange_head(struct model_exchange *exchange, int status, const struct http_head *head);
/* False and err if the answer breaks a limit; end it then. */
bool model_exchange_data(struct model_exchange *exchange, struct str bytes, struct error *err);
/* The answer is over, or broke off with `cause`. Events may still come out of its last bytes. ret_error is set
 * unless completed; url is the one to name in it. */
enum model_outcome model_exchange_end(struct model_exchange *exchange, const struct error *cause, struct str url,
				      struct model_error *ret_error);
void model_exchange_finish(struct model_exchange *exchange);

#endif
