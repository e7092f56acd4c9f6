/* market_limits.h — the limits of the files of marketplaces, which a repository may bring. Sizes in
 * bytes, times in milliseconds. */
#ifndef MARKET_MARKET_LIMITS_H
#define MARKET_MARKET_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_MARKET_MANIFEST = 1 * MIB,         /* marketplace.json */
	LIMIT_MARKET_ADDED = 4 * MIB,            /* those of the folders that a client names, together */
	LIMIT_MARKET_PLUGIN_MANIFEST = 64 * KIB, /* plugin.json */
	LIMIT_MARKET_RECONCILE_MS = 480 * 1000,  /* after which plugin/reconcile begins no further installation */
	LIMIT_CLONE_PARTS = 16 * KIB,            /* files that are fetched of some folders of a repository */
};

#endif
