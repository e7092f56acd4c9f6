/* model_client_priv.h — shared by model_client.c (calls and attempts), model_client_headers.c (who sends a request) and
 * model_client_socket.c (attempts on a WebSocket). */
#ifndef MODEL_MODEL_CLIENT_PRIV_H
#define MODEL_MODEL_CLIENT_PRIV_H

#include "base/list.h"
#include "model/model_client.h"
#include "model/model_secrets.h"

struct account_token;
struct account_call;
struct http_call;
struct loop_timer;
struct model_socket;
struct token_request;

struct model_client {
	struct loop *loop;
	struct http_client *http;
	struct accounts *accounts;
	char *account_id; /* the account of the first request, which all further ones must have; NULL: not known yet */
	const struct model_provider *provider;
	const struct model_watch *watch; /* or NULL */
	struct user_agent agent;
	struct str agent_header; /* STR_NONE until the first request */
	struct arena arena;
	struct list calls;
	struct model_secrets secrets;
	struct model_socket *socket; /* NULL: the provider has none */
	struct model_list *list;     /* the request for the account's models; NULL: not made */
	struct model_call *warm_up;  /* that is running, or NULL */
};

enum call_state {
	CALL_REFUSED,   /* the request cannot be sent: `refusal` is delivered in the next round of the loop */
	CALL_SIGNING,   /* waits for a token of the account or of the provider's command */
	CALL_QUEUED,    /* waits for the end of the warm-up; the timer ends the warm-up */
	CALL_TRYING,    /* an attempt is running; the timer detects an idle connection */
	CALL_WAITING,   /* the next attempt is pending; the timer starts it */
	CALL_LINGERING, /* the outcome is known; the timer limits the wait for the end of the response */
};

struct model_call {
	struct list link;
	struct model_client *client;
	const struct model_handler *handler;
	void *self;
	struct model_request request;
	struct buf url;    /* the URL with secrets masked */
	struct str effort; /* the reasoning effort; STR_NONE: none */
	enum call_state state;
	unsigned tries;
	struct http_call *http; /* non-NULL iff an attempt is running */
	struct account_call *account;
	struct token_request *token_request;
	size_t header_count; /* of the headers that all attempts share */
	char *token;         /* of the account or the command, in the last attempt; NULL: none */
	bool is_token_new;   /* the token was refreshed after a server had refused another */
	bool is_refused;     /* a server has refused the token */
	struct model_exchange exchange;
	uint64_t heard_at;    /* loop time of the last byte */
	uint64_t reported_ms; /* time of the last report to the watch */
	int reported_status;  /* of this attempt, to the watch; 0: none */
	bool is_failure_reported;
	struct loop_timer *timer;
	bool is_on_socket;  /* the attempt uses the client's WebSocket */
	bool avoids_socket; /* its handshake was refused */
	bool is_socket_new; /* the request was sent again on a new WebSocket */
	bool is_paused;
	bool is_closed; /* lingering after the end mark of the stream */
	unsigned depth; /* depth of functions that call the handler; the call is freed when the outermost one returns */
	bool is_over;   /* the handler is no longer called */
	struct model_error refusal;
};

/* Defined in model_client.c. */
struct model_call *model_call_start(struct model_client *client, const struct model_prompt *prompt,
                                    const struct model_handler *handler, void *self, bool is_warm_up);
/* Around functions that call the handler. */
void model_call_enter(struct model_call *call);
/* Returns false if the call has ended; it must not be accessed then. */
bool model_call_leave(struct model_call *call);
/* Reports the status of an answer to the watch, once for each attempt. */
void model_call_report_status(struct model_call *call, int status);
/* Starts an attempt, whose token is known. */
void model_call_send(struct model_call *call);
/* Ends an attempt: delivers the outcome or schedules the next attempt. */
void model_call_settle(struct model_call *call, const struct error *cause);
void model_call_fail(struct model_call *call, struct model_error *error);

/* Defined in model_client_headers.c. */
/* Adds the headers that all attempts of a request to this model share. */
void model_call_add_headers(struct model_call *call, struct str slug);
/* Obtains a token, another one if a server has refused it, and then sends the request. */
void model_call_sign(struct model_call *call);
void model_call_forget_token(struct model_call *call);
/* Adds the headers that an attempt has of its own: the signature with an AWS key. */
void model_call_add_signature(struct model_call *call);

/* Defined in model_client_socket.c. */
/* True if the request was sent on the client's WebSocket, or waits for the end of the warm-up. */
bool model_call_use_socket(struct model_call *call);
/* Leaves the WebSocket before the end of the response. No-op without one. */
void model_call_leave_socket(struct model_call *call);
/* Sends a request again, at once and on a new WebSocket, if that may help. False if it was tried before. */
bool model_call_renew_socket(struct model_call *call);
/* Sends what waited for the warm-up, which has ended. */
void model_client_send_queued(struct model_client *client);

#endif
