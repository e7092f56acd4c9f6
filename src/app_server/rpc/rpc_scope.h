/* rpc_scope.h — the order of requests: those of one thread are answered in order, those of different threads
 * concurrently (the scope column of app_method.def).
 *
 * Only a request that is answered later makes others wait. A scope exists for each such request, so an idle thread has
 * none. Owns: the queues, not the entries. Loop thread only. */
#ifndef APP_SERVER_RPC_SCOPE_H
#define APP_SERVER_RPC_SCOPE_H

#include <stdbool.h>

#include "base/error.h"
#include "base/list.h"
#include "loop/loop.h"
#include "protocol/message/app.h"

struct rpc_scope;

/* Embedded in each request. */
struct rpc_scope_entry {
	/* Set by the request: */
	const struct app_method *method;
	const void *params;                         /* a struct of method->params */
	void (*run)(struct rpc_scope_entry *entry); /* called on the loop when the queued request may run */
	/* private */
	struct list link;        /* a node of a scope's queue */
	struct rpc_scope *scope; /* the scope that is held or waited for; NULL if there is no scope */
};

struct rpc_scopes {
	/* private */
	struct list all;
	struct loop_deferred wake;
};

void rpc_scopes_init(struct rpc_scopes *scopes, struct loop *loop);
void rpc_scopes_finish(struct rpc_scopes *scopes); /* all entries must have left before */

void rpc_scope_entry_init(struct rpc_scope_entry *entry);
/* Returns true if the request may run now, false if it was queued. */
must_check bool rpc_scope_enter(struct rpc_scopes *scopes, struct rpc_scope_entry *entry);
/* To be called if the request is answered later: further requests of its scope are queued until then. */
void rpc_scope_hold(struct rpc_scopes *scopes, struct rpc_scope_entry *entry);
/* To be called when the request was answered or cancelled, whether it ran, held the scope or was queued. */
void rpc_scope_leave(struct rpc_scopes *scopes, struct rpc_scope_entry *entry);

#endif
