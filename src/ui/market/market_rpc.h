/* market_rpc.h — `codex plugin --rpc`: answers a request of the app-server about plugins or marketplaces. It reads
 * {"method":…,"params":{…}} on standard input and prints the result as the protocol has it. */
#ifndef UI_MARKET_RPC_H
#define UI_MARKET_RPC_H

#include "base/error.h"

struct config;

/* The output of git is in the error, and nowhere else. */
must_check int market_rpc_serve(const struct config *config, struct error *err);

#endif
