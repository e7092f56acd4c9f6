/* mcp_client.h — one MCP server: its connection, its lifecycle and the requests to it.
 *
 *	idle → starting → ready → idle …      (the connection was lost: the next request starts it again)
 *	            └──→ failed → starting …  (the next request tries again)
 *
 * Shared by the sessions of a process whose configuration of it is the same (mcp_pool.h); reference-counted, and ended
 * with the last reference. A request may be made in every state: it waits for the start. No callback runs inside a call
 * to this module. Loop thread only. */
#ifndef MCP_MCP_CLIENT_H
#define MCP_MCP_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/list.h"
#include "mcp/mcp_link.h"

struct loop;
struct mcp_catalog;
struct mcp_elicitation;
struct mcp_request;
struct mcp_client;

enum mcp_state { MCP_IDLE, MCP_STARTING, MCP_READY, MCP_FAILED };

/* A session that uses the server. Embedded in its owner; mcp_client_watch and mcp_client_unwatch. */
struct mcp_watcher {
	struct list link;
	/* The state, the failure or the catalog has changed. */
	void (*on_change)(struct mcp_watcher *watcher);
};

struct mcp_client_options {
	const char *name; /* copied */
	uint64_t startup_timeout_ms;
	/* Opens the transport. */
	struct mcp_link *(*open)(void *self, const struct mcp_link_events *events, void *events_self,
	                         struct error *err);
	/* A new catalog was received; may be NULL. */
	void (*on_catalog)(void *self, const struct mcp_catalog *catalog);
	/* The last reference was dropped; frees self. */
	void (*on_destroy)(void *self);
	void *self;
};

/* Returns the server with one reference; it is idle. catalog: what it announced in an earlier process, or NULL; takes
 * the reference. */
struct mcp_client *mcp_client_create(struct loop *loop, const struct mcp_client_options *options,
                                     struct mcp_catalog *catalog);
struct mcp_client *mcp_client_ref(struct mcp_client *client);
void mcp_client_unref(struct mcp_client *client); /* NULL is fine */

void mcp_client_watch(struct mcp_client *client, struct mcp_watcher *watcher);
void mcp_client_unwatch(struct mcp_watcher *watcher);

/* Starts the server unless it is starting or ready. */
void mcp_client_start(struct mcp_client *client);
enum mcp_state mcp_client_state(const struct mcp_client *client);
/* Returns the reason of MCP_FAILED as a sentence; needs_login: the user must log in. */
const char *mcp_client_failure(const struct mcp_client *client, bool *ret_needs_login);
/* Returns the latest catalog, or NULL before the first. Borrowed until the next callback. */
struct mcp_catalog *mcp_client_catalog(const struct mcp_client *client);

/* ---- requests ---- */

/* The outcome of a request. err: NULL if there is a result. */
struct mcp_reply {
	const struct json *result; /* borrowed during the callback */
	const struct error *err;   /* "Mcp error: -32602: …", "timed out awaiting tools/call after 1s", … */
	bool is_remote;            /* the server has answered with this error: */
	int64_t code;
	struct str message;
	const struct json *data; /* may be NULL */
};

struct mcp_request_events {
	/* Called once, unless the request is cancelled before; the request is freed afterwards. */
	void (*on_done)(const struct mcp_reply *answer, void *self);
	/* Progress in the server's words; may be NULL. */
	void (*on_progress)(struct str message, void *self);
	/* The server asks the user during the request. The elicitation is valid until it is answered or on_withdrawn.
	 * NULL: such questions are declined. */
	void (*on_elicit)(struct mcp_elicitation *elicitation, void *self);
	/* The server no longer expects the answer. */
	void (*on_withdrawn)(struct mcp_elicitation *elicitation, void *self);
};

struct mcp_request_options {
	const char *method;  /* constant */
	struct str params;   /* members of params, without braces; may be empty */
	struct str meta;     /* further members of params._meta; may be empty */
	uint64_t timeout_ms; /* from the moment it is sent; stops while a question of it is open */
	const struct mcp_request_events *events;
	void *self;
};

/* Makes a request. NULL and err: too many are unanswered, or it is too large. */
must_check struct mcp_request *mcp_request_create(struct mcp_client *client, const struct mcp_request_options *options,
                                                  struct error *err);
/* Cancels the request at the server and frees it, without on_done. NULL is fine. */
void mcp_request_cancel(struct mcp_request *request, const char *reason);

/* ---- questions of the server ---- */

/* Returns the params of elicitation/create. */
const struct json *mcp_elicitation_params(const struct mcp_elicitation *elicitation);
/* Answers and frees the elicitation. action: "accept", "decline" or "cancel". content: an object, sent with accept
 * only, with the defaults of the form for the fields that it lacks. */
void mcp_elicitation_answer(struct mcp_elicitation *elicitation, const char *action, struct str content);

#endif
