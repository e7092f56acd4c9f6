/* market_priv.h — what the changes of marketplaces and of plugins share. Private to market/. */
#ifndef MARKET_MARKET_PRIV_H
#define MARKET_MARKET_PRIV_H

#include "market/market.h"

/* Waits until no other process changes marketplaces or plugins, and removes what killed ones have left. Returns a
 * descriptor to close. */
must_check int market_lock(const char *home, struct error *err);
/* A new name beside the folder. */
const char *market_beside(const char *path, struct arena *arena);
/* Moves a folder to its place; what was there is removed afterwards. */
must_check int market_move_in(const char *from, const char *to, struct error *err);
must_check int market_make_parent(const char *path, struct error *err);
/* ERR_exists if config.toml as it is now, or else the configuration, has another marketplace of this name. *ret_has: it
 * has this one. With the lock held. */
must_check int market_check_new(const struct config *config, const struct market *market, bool *ret_has,
                                struct error *err);

/* ERR_usage: git would take the source, the branch or a folder for an option, or the folder is not one of the
 * repository. */
must_check int market_source_check(const struct market *market, struct error *err);

struct market_record {
	const char *table, *name;
	const struct market *market; /* NULL: a plugin */
	bool removes;
};
/* Writes it into config.toml, or removes it; ERR_not_found if it is not there. */
must_check int market_record(const char *home, struct market_record *change, struct error *err);

#endif
