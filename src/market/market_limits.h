/* market_limits.h — the limits of the files of marketplaces, which a repository may bring. Sizes in
 * bytes, times in milliseconds. */
#ifndef MARKET_MARKET_LIMITS_H
#define MARKET_MARKET_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_MARKET_MANIFEST = 1 * MIB,         /* marketplace.json */
	LIMIT_MARKET_ADDED = 4 * MIB,            /* those of the folders that a client names, together */
	LIMIT_MARKET_PLUGIN_MANIFEST = 64 * KIB, /* plugin.json */
	LIMIT_MARKET_CLONES_MS = 420 * 1000,     /* after which a request of a client begins no further clone */
	LIMIT_CLONE_PARTS = 16 * KIB,            /* files that are fetched of some folders of a repository */
};

/* The answer must come before the request is ended: after the last clone there are files to copy. */
_Static_assert(LIMIT_MARKET_CLONES_MS + LIMIT_CLONE_MS + 30 * 1000 <= LIMIT_FLEET_JOB_MS, "a request ends too early");

#endif
