/* rpc.h — reads and writes the envelope of messages: JSON-RPC 2.0 without the member `jsonrpc`, one JSON text per
 * frame.
 *
 * Owns: nothing; a decoded message borrows from the frame and an arena. Any thread. Errors give the position of the
 * mistake in the text. */
#ifndef APP_SERVER_RPC_H
#define APP_SERVER_RPC_H

#include "base/error.h"
#include "base/json.h"
#include "protocol/message/app.h"

struct rpc_error;

enum rpc_kind {
	RPC_REQUEST,
	RPC_NOTIFICATION,
	RPC_RESULT, /* the response to a request of the server */
	RPC_ERROR,  /* the error response to a request of the server */
};

struct rpc_message {
	enum rpc_kind kind;
	struct str id;   /* JSON text as received: a string or an integer */
	bool has_bad_id; /* for RPC_REQUEST: the id is neither, so only an error can be sent */
	struct str method;
	const struct json *body; /* params, result or error; NULL: absent */
};

/* Decodes a message; ERR_invalid if the text is not one. */
must_check int rpc_read(struct str frame, struct arena *arena, struct rpc_message *ret, struct error *err);

/* These append one frame with its newline. id is JSON text; STR_NONE writes null. */
void rpc_write_result(struct buf *out, struct str id, const struct record *record, const void *result);
void rpc_write_result_json(struct buf *out, struct str id, struct str json);
void rpc_write_error(struct buf *out, struct str id, const struct rpc_error *error);
/* Writes the error response to a line longer than LIMIT_LINE; head is its beginning. */
void rpc_write_too_long(struct buf *out, struct str head);
/* Returns false, with a note on standard error, if the frame does not fit. */
must_check bool rpc_write_notification(struct buf *out, const struct app_notification *type, const void *params,
                                       int64_t now_ms);
void rpc_write_request(struct buf *out, const struct app_server_request *type, int64_t id, const void *params);

#endif
