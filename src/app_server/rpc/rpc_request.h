/* rpc_request.h — one request of a client, from its arrival to its one response.
 *
 * A handler is called once, with decoded parameters, and does one of three things:
 *	return rpc_reply(request, &result);                    RPC_DONE: answered
 *	return rpc_fail(request, APP_INVALID_REQUEST, "…");    RPC_FAIL: refused
 *	return rpc_wait(request, on_cancel, self);             RPC_WAIT: rpc_reply or rpc_refuse follows, once, later
 * The code that calls rpc_wait owns the request until it answers; request->self is for its use. If the client
 * disconnects first, on_cancel runs, and the request is freed when on_cancel returns. A response that does not fit the
 * client's queue is replaced by an error.
 *
 * Owns: its parameters, in its arena. Loop thread only. */
#ifndef APP_SERVER_RPC_REQUEST_H
#define APP_SERVER_RPC_REQUEST_H

#include "app_server/rpc/rpc_error.h"
#include "app_server/rpc/rpc_scope.h"
#include "base/arena.h"
#include "base/list.h"
#include "protocol/message/app.h"

struct app_server;
struct buf;
struct connection;
struct rpc_message;
struct rpc_request;
struct server_requests;

enum rpc_verdict { RPC_DONE, RPC_WAIT, RPC_FAIL };

typedef void (*rpc_cancel_fn)(struct rpc_request *request);

struct rpc_request {
	/* read-only */
	struct app_server *server;
	struct connection *connection;
	const struct app_method *method;
	struct str id; /* as JSON text */
	void *params;  /* a struct of method->params */
	struct arena arena;
	/* private */
	struct list link; /* a node of the connection's requests */
	struct rpc_scope_entry entry;
	rpc_cancel_fn on_cancel;
	void *self;
	bool is_waiting;
};

/* Sends the response. result is a struct of method->result. */
enum rpc_verdict rpc_reply(struct rpc_request *request, const void *result);
/* As rpc_reply, for a method whose result has no fields. */
enum rpc_verdict rpc_reply_empty(struct rpc_request *request);
/* As rpc_reply, for a result that is encoded already. */
enum rpc_verdict rpc_reply_json(struct rpc_request *request, struct str json);
/* As rpc_reply, for a result with a large list that was encoded on a worker: items (JSON, separated by commas)
 * becomes the content of the list at `path`, which is empty in result. Takes the memory of items. */
enum rpc_verdict rpc_reply_with_items(struct rpc_request *request, const void *result, const char *path,
                                      struct buf *items);
/* Sends the error response. The error may live in the request's arena. */
enum rpc_verdict rpc_refuse(struct rpc_request *request, const struct rpc_error *error);
/* Calls rpc_refuse with a new error: rpc_error(…), rpc_error_from(err), rpc_error_from_submit(err). */
enum rpc_verdict rpc_fail(struct rpc_request *request, enum app_error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
enum rpc_verdict rpc_fail_with(struct rpc_request *request, const struct error *err);
enum rpc_verdict rpc_fail_submit(struct rpc_request *request, const struct error *err);
enum rpc_verdict rpc_wait(struct rpc_request *request, rpc_cancel_fn on_cancel, void *self);

/* Calls the handler of a waiting request again, because the data that it depends on has changed. The request may be
 * freed on return. */
void rpc_request_run_again(struct rpc_request *request);

/* Passed to server_setup. */
extern const struct server_requests rpc_requests;

/* Declares the handler on_rpc_<tag> of each served method, with the parameters of its row. */
#define METHOD(tag, wire, params_, result, scope, class, flags, doc) \
	enum rpc_verdict on_rpc_##tag(struct rpc_request *request, const struct params_ *params);
#include "protocol/app/app_method_default.h"
#include "protocol/app/app_method.def"
#include "protocol/app/app_method_undef.h"

#endif
