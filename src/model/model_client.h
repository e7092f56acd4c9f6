/* model_client.h — asks the model, and passes on what it answers.
 *
 * One call is one response. Requests that fail before an answer begins are repeated here, silently, up to the
 * provider's request_max_retries; everything else ends the call with an error that says whether the turn may call again
 * (is_retryable) and when (retry_after_ms, else model_retry_backoff_ms).
 *
 * Owns: its calls. Borrows: loop, HTTP client and provider. Thread: loop only. No callback runs inside a call to this
 * module. Source: core 1.1, 1.7, 1.8; app-server-wire 14. */
#ifndef MODEL_MODEL_CLIENT_H
#define MODEL_MODEL_CLIENT_H

#include "model/model_error.h"
#include "model/model_request.h"
#include "model/model_stream.h"
#include "net/user_agent.h"

struct http_client;
struct loop;
struct model_call;
struct model_client;
struct model_provider;

struct model_client_options {
	struct loop *loop;
	struct http_client *http; /* may be shared by many model clients */
	const struct model_provider *provider;
	struct user_agent agent; /* copied */
};

struct model_client *model_client_create(const struct model_client_options *options);
/* Ends all calls without their on_done. Not from inside a callback of its calls. NULL is fine. */
void model_client_destroy(struct model_client *client);
/* Begins to load what the first request needs, beside whatever comes next. */
void model_client_preload(struct model_client *client);

struct model_handler {
	response_event_fn on_event;
	/* Once, last. NULL: the response is complete. The error is borrowed until it returns. */
	void (*on_done)(const struct model_error *error, void *self);
};

/* Asks for a response. The prompt is read before this returns; only the bytes of its input and tools are borrowed until
 * on_done or cancel, and handler must live as long. The result is valid until on_done returns or model_call_cancel.
 * Never NULL. */
struct model_call *model_client_stream(struct model_client *client, const struct model_prompt *prompt,
				       const struct model_handler *handler, void *self);
/* Ends it; nothing of it is called any more. Fine inside its callbacks. NULL is fine. */
void model_call_cancel(struct model_call *call);
/* Stops and restarts the flow of events, and the server's with it. What was already received is kept, and the
 * server's silence does not count as such meanwhile. Fine inside its callbacks. */
void model_call_pause(struct model_call *call);
void model_call_resume(struct model_call *call);

#endif
