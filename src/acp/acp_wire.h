/* acp_wire.h — JSON-RPC 2.0 with one client: requests in, responses and updates out, requests to the client and their
 * answers.
 *
 * Owns: the transport, the unanswered requests of both sides. Borrows: the owner, the loop. Loop thread only.
 * More than LIMIT_RPC_PENDING unanswered requests are refused, and not left unread: they may wait for an answer of the
 * client, or for its cancellation. A client that does not read its output is slow: its
 * owner is notified, and after LIMIT_UNREAD_SUBMISSIONS more messages it is not read until it has caught up. */
#ifndef ACP_ACP_WIRE_H
#define ACP_ACP_WIRE_H

#include <stdbool.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/list.h"
#include "protocol/message/acp.h"
#include "transport/transport.h"

struct acp_ask;
struct acp_request;
struct acp_wire;
struct loop;

struct acp_wire_owner {
	/* A request or notification whose parameters are valid. A request must be answered now or later. */
	void (*on_request)(struct acp_request *request, void *self);
	/* The client has become slow, or has caught up. */
	void (*on_pace)(bool is_slow, void *self);
	/* The client sends and receives nothing more. The owner must end the wire outside of this call. */
	void (*on_end)(void *self);
};

struct acp_wire {
	/* read-only */
	struct list requests; /* struct acp_request without an answer, oldest first */
	bool is_initialized;  /* set by the owner: other methods than initialize are accepted */
	bool is_slow;
	struct str task; /* set by the owner while it handles an event: new questions belong to this Task */
	/* private */
	const struct acp_wire_owner *owner;
	void *self;
	struct transport *transport;
	struct list asks; /* struct acp_ask without an answer */
	struct buf out;
	int64_t last_ask;
	size_t request_count, unread_count;
	bool has_ended;
};

struct acp_request {
	/* read-only */
	struct acp_wire *wire;
	const struct acp_method *method;
	struct str id;      /* JSON text; STR_NONE for a notification */
	const void *params; /* the record of the method */
	struct str meta;    /* `_meta` of the parameters as JSON, or STR_NONE */
	struct arena arena; /* for data that the handler keeps */
	void *self;         /* for the handler */
	bool is_withdrawn;  /* the client has sent $/cancel_request for it */
	/* private */
	struct list link;
};

must_check int acp_wire_init(struct acp_wire *wire, struct loop *loop, int in, int out,
                             const struct acp_wire_owner *owner, void *self, struct error *err);
/* Frees the requests without a response, and the questions without calling back. An all-zero struct is fine. */
void acp_wire_finish(struct acp_wire *wire);

/* ---- responses; each frees the request ---- */

/* result: the record of the method, or NULL for an empty one. */
void acp_reply(struct acp_request *request, const void *result);
void acp_fail(struct acp_request *request, enum acp_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* As acp_fail, with a member of `data`. */
void acp_fail_data(struct acp_request *request, enum acp_error_code code, struct str message, const char *key,
                   struct str value);
/* Error -32002. */
void acp_fail_no_session(struct acp_request *request, struct str session_id);
/* Returns the unanswered request with this id (JSON text), or NULL. */
struct acp_request *acp_request_find(struct acp_wire *wire, struct str id);

/* ---- updates ---- */

void acp_send_update(struct acp_wire *wire, struct str session_id, const struct acp_update *update);
/* Sends frames and, after them, the response. Takes the memory of frames. */
void acp_reply_after(struct acp_request *request, struct buf *frames, const void *result);

/* ---- questions to the client ---- */

/* Called once, with the decoded result, or with NULL if the client failed or its answer is invalid (error then has its
 * message, or is empty). Not called after the question was withdrawn. */
typedef void (*acp_answer_fn)(struct acp_ask *ask, const void *result, struct str error);

struct acp_ask {
	/* read-only */
	enum acp_ask_tag tag;
	void *owner; /* whom the question belongs to */
	char *key;   /* a call id */
	char *task;  /* of the call, or NULL: agents may use the same ids */
	void *self;  /* for the function that asked; freed with the question unless NULL */
	/* private */
	struct list link;
	struct acp_wire *wire;
	int64_t id;
	acp_answer_fn on_answer;
};

struct acp_ask *acp_ask_send(struct acp_wire *wire, enum acp_ask_tag tag, const void *params, void *owner,
                             struct str key, acp_answer_fn on_answer);
/* Withdraws the questions of an owner that have this key and Task, of which STR_NONE stands for any; the client is
 * notified with $/cancel_request. */
void acp_asks_withdraw(struct acp_wire *wire, const void *owner, struct str key, struct str task);

#endif
