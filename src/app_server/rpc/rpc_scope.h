/* rpc_scope.h — the order of requests: those of one thread are answered in order, those of different threads
 * concurrently (the scope column of app_method.def).
 *
 * Only a request that is answered later makes others wait. A scope exists for each such request, so an idle thread has
 * none. Owns: the queues, not the requests. Loop thread only. */
#ifndef APP_SERVER_RPC_SCOPE_H
#define APP_SERVER_RPC_SCOPE_H

#include <stdbool.h>

#include "base/list.h"
#include "loop/loop.h"

struct rpc_request;

/* Runs the next request of a queue, from the loop. */
typedef void (*rpc_scope_run_fn)(struct rpc_request *request);

struct rpc_scopes {
	/* private */
	struct list all;
	struct loop_deferred wake;
	rpc_scope_run_fn run;
};

void rpc_scopes_init(struct rpc_scopes *scopes, struct loop *loop, rpc_scope_run_fn run);
void rpc_scopes_finish(struct rpc_scopes *scopes); /* no request may be left */

/* True: the request may run now. False: it was queued. */
bool rpc_scope_enter(struct rpc_scopes *scopes, struct rpc_request *request);
/* The request is answered later: further requests of its scope are queued until then. */
void rpc_scope_hold(struct rpc_scopes *scopes, struct rpc_request *request);
/* The request was answered or cancelled, whether it ran, held the scope or was queued. */
void rpc_scope_leave(struct rpc_scopes *scopes, struct rpc_request *request);

#endif
