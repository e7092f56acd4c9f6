/* market_rpc_priv.h — one request, and the methods that answer it. Private to ui/market. */
#ifndef UI_MARKET_RPC_PRIV_H
#define UI_MARKET_RPC_PRIV_H

#include <stdint.h>
#include <stdio.h>

#include "ui/market/market_summary.h"

struct config;

struct market_call {
	const struct config *config;
	struct arena arena;
	int out, err; /* the streams of the process */
	FILE *noise;  /* a file in their place, for git */
	struct market_shelf shelf;
	uint64_t end_ms; /* after which no further clone begins */
};

/* The methods that concern plugins: market_rpc_plugins.c. params and result are structs of the method's records. */
must_check int market_on_list(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_installed(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_search(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_read(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_install(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_uninstall(struct market_call *call, const void *params, void *result, struct error *err);
must_check int market_on_reconcile(struct market_call *call, const void *params, void *result, struct error *err);

#endif
