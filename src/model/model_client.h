/* model_client.h — sends requests to the model and passes on the events of the responses.
 *
 * One call is one response. Requests that fail before the response begins are repeated here without notice, at most
 * request_max_retries times; all other failures end the call with an error that says whether the turn may call again
 * (is_retryable) and when (retry_after_ms, else model_backoff_ms).
 *
 * Owns: its calls. Borrows: loop, HTTP client, accounts and provider. Thread: loop only. Functions of this module do
 * not invoke callbacks before they return. */
#ifndef MODEL_MODEL_CLIENT_H
#define MODEL_MODEL_CLIENT_H

#include "model/model_error.h"
#include "model/model_exchange.h"
#include "model/model_stream.h"
#include "net/user_agent.h"

struct accounts;
struct http_client;
struct loop;
struct model_call;
struct model_client;
struct model_provider;

/* An attempt to get a response, when its head or an error has come. */
struct model_attempt {
	const struct model_provider *provider;
	unsigned number;    /* from 0 */
	int status;         /* 0: no answer came */
	struct str failure; /* for status 0 */
	uint64_t duration_ms;
	struct str effort; /* the reasoning effort; STR_NONE: none */
	bool has_key;      /* it was sent with a key or a token */
	bool is_retry;     /* with a new token, because the server has refused another one */
};

/* Observes the requests of a client; the durations are those since the last report. Its functions run before the
 * handler of the call; they must not use the client. */
struct model_watch {
	void (*on_attempt)(const struct model_attempt *attempt, void *self);
	void (*on_event)(const struct response_event *event, uint64_t duration_ms, void *self);
	/* A response has begun and failed. Secrets are masked. */
	void (*on_failure)(const struct model_error *error, uint64_t duration_ms, void *self);
	void *self;
};

struct model_client_options {
	struct loop *loop;
	struct http_client *http; /* may be shared by several model clients */
	const struct model_provider *provider;
	struct user_agent agent;         /* copied */
	struct accounts *accounts;       /* supplies the tokens of a ChatGPT login or a command; may be shared */
	const struct model_watch *watch; /* borrowed; NULL: none */
};

struct model_client *model_client_create(const struct model_client_options *options);
/* Cancels all calls without on_done. Must not be called from a callback of its calls. NULL is a no-op. */
void model_client_destroy(struct model_client *client);

/* Opens a connection to the provider, so that the first request does not have to. If no request is likely, does so only
 * if libcurl is there or about to be. */
void model_client_preconnect(struct model_client *client, bool is_likely);

struct model_handler {
	response_event_fn on_event;
	/* The last callback, called once. With NULL the response is complete. The error is borrowed during the call. */
	void (*on_done)(const struct model_error *error, void *self);
};

/* Requests a response. The prompt is read before this returns, except the bytes of its input and tools, which are
 * borrowed until on_done or model_call_cancel; handler must live as long. The result is valid until on_done returns or
 * model_call_cancel. Never NULL. */
struct model_call *model_client_stream(struct model_client *client, const struct model_prompt *prompt,
                                       const struct model_handler *handler, void *self);
/* Opens the provider's WebSocket, if it has one that is not open yet, and sends instructions and tools ahead of the
 * first request, which waits for the end of this and continues it if they are equal. A failure is not reported. The
 * prompt is read before this returns; it must have no input. */
void model_client_warm_up(struct model_client *client, const struct model_prompt *prompt);
/* Cancels the call; no callback follows. May be called in its callbacks. NULL is a no-op. */
void model_call_cancel(struct model_call *call);
/* Pauses and resumes the events and, by backpressure, the server. Received data is kept, and the idle timeout is
 * suspended. May be called in its callbacks. */
void model_call_pause(struct model_call *call);
void model_call_resume(struct model_call *call);

#endif
