/* mcp_client_priv.h — the data of a client. Private to mcp_client*.c. */
#ifndef MCP_MCP_CLIENT_PRIV_H
#define MCP_MCP_CLIENT_PRIV_H

#include "loop/loop.h"
#include "mcp/mcp_client.h"

struct mcp_client {
	struct mcp_client_options options;
	char *name;
	unsigned refs;
	struct loop *loop;
	struct loop_deferred work; /* starts the client, or sends what waits */
	struct loop_timer *timer;  /* limits the start and each listing, and delays the next listing */
	enum mcp_state state;
	bool is_wanted;             /* a start was requested */
	struct list watchers;       /* struct mcp_watcher */
	struct mcp_link *link;      /* NULL: not connected */
	struct mcp_catalog *latest; /* NULL before the first */
	bool is_stored;             /* latest is from an earlier process, and the server was not ready yet */
	struct mcp_catalog *next;   /* under construction */
	char *failure;
	bool needs_login;
	uint64_t last_id;       /* of a request of the client */
	uint64_t handshake;     /* id of the unanswered initialize, or 0 */
	uint64_t listing;       /* id of the unanswered tools/list, or 0 */
	bool lists_again;       /* list_changed arrived during the listing */
	bool is_pausing;        /* list_changed has arrived; the timer runs until the next listing */
	uint64_t listed_ms;     /* when the latest listing after the start has ended, or 0 */
	size_t pages;           /* of the current listing */
	char *cursor;           /* of its last page */
	struct list waiting;    /* struct mcp_request that is not sent */
	struct list unanswered; /* struct mcp_request that is sent */
	size_t requests;        /* in both lists */
	size_t elicitations;
};

struct mcp_request {
	struct list link;
	struct mcp_client *client; /* the owner of the request holds a reference */
	uint64_t id;
	const char *method;
	struct buf frame; /* empty once it is sent */
	const struct mcp_request_events *events;
	void *self;
	struct list elicitations;
	struct loop_timer *timer;
	uint64_t timeout_ms;
	uint64_t left_ms;  /* of timeout_ms, when the timer was started last */
	uint64_t since_ms; /* when it was started last */
};

struct mcp_elicitation {
	struct list link;
	struct mcp_request *request;
	struct arena arena;
	const struct json *params;
	struct str id; /* the server's id of the question, as JSON */
};

/* ---- mcp_client.c: the lifecycle ---- */

/* Sends a message, and loses the connection if that fails. */
void mcp_client_send(struct mcp_client *client, struct str json);

/* ---- mcp_client_start.c: the handshake and the list of tools ---- */

/* The connection is open: begins the handshake. */
void mcp_start_begin(struct mcp_client *client);
/* Handles the answer to the handshake or to a listing. */
void mcp_start_answered(struct mcp_client *client, uint64_t id, const struct mcp_reply *answer);
/* True if a message of this protocol revision may be an array of messages. */
bool mcp_start_batches(struct str version);
/* The list of tools has changed, or the pause before the next listing is over. */
void mcp_start_list_again(struct mcp_client *client);
/* Ends an attempt, or the connection, with this reason. */
void mcp_start_failed(struct mcp_client *client, const struct error *err);

/* ---- mcp_client_request.c ---- */

/* Sends the waiting requests. */
void mcp_requests_send(struct mcp_client *client);
struct mcp_request *mcp_request_find(struct mcp_client *client, uint64_t id);
/* Ends a request with this answer and frees it. */
void mcp_request_finish(struct mcp_request *request, const struct mcp_reply *answer);
/* Fails the requests; also those that wait if is_all. */
void mcp_requests_fail(struct mcp_client *client, const struct error *err, bool is_all);
/* Handles a question of the server. */
void mcp_elicitation_ask(struct mcp_client *client, const struct json *message);
/* Withdraws the question with this id, as JSON. */
void mcp_elicitation_withdraw(struct mcp_client *client, struct str id);

#endif
