/* rpc_scope.h — which requests wait for which: those of one thread are answered in the order they came in, those
 * of different threads side by side (the scope column of app_method.def).
 *
 * Only a request that is answered later can keep others waiting; there are as many scopes as such requests, so nothing
 * is kept of a thread that is quiet. Owns: the queues, not the requests. Loop thread only. */
#ifndef APP_SERVER_RPC_SCOPE_H
#define APP_SERVER_RPC_SCOPE_H

#include <stdbool.h>

#include "base/list.h"
#include "loop/loop.h"

struct rpc_request;

/* Runs a request whose turn has come, from the loop. */
typedef void (*rpc_scope_run_fn)(struct rpc_request *request);

struct rpc_scopes {
	/* private */
	struct list all;
	struct loop_deferred wake;
	rpc_scope_run_fn run;
};

void rpc_scopes_init(struct rpc_scopes *scopes, struct loop *loop, rpc_scope_run_fn run);
void rpc_scopes_finish(struct rpc_scopes *scopes); /* no request may be left */

/* True: nothing keeps it from running now. False: it was put in line. */
bool rpc_scope_enter(struct rpc_scopes *scopes, struct rpc_request *request);
/* It runs and will be answered later: who comes from now on waits for that. */
void rpc_scope_hold(struct rpc_scopes *scopes, struct rpc_request *request);
/* It is answered, or gone, whether it ran, held or was in line. */
void rpc_scope_leave(struct rpc_scopes *scopes, struct rpc_request *request);

#endif
