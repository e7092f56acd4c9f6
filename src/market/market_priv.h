/* market_priv.h — what the changes of marketplaces and of plugins share. Private to market/. */
#ifndef MARKET_MARKET_PRIV_H
#define MARKET_MARKET_PRIV_H

#include "config/plugin_git.h"
#include "market/market.h"

/* Waits until no other process changes marketplaces or plugins, and removes what killed ones have left. Returns a
 * descriptor to close. A signal or the time of the clone ends the wait; NULL: a time of its own, as long. */
must_check int market_lock(const char *home, const struct plugin_clone *clone, struct error *err);
/* Clones the source to a new folder of `parent`; sha: a commit of it, or NULL. *lock is not held while git talks to a
 * host, so what was checked is checked again. plugin_clone_close follows in any case. */
must_check int market_clone(const char *home, const char *parent, const struct market *market, const char *sha,
                            struct plugin_clone *clone, int *lock, struct error *err);
/* A new name beside the folder. */
const char *market_beside(const char *path, struct arena *arena);
/* Moves a folder to its place; what was there is removed afterwards. */
must_check int market_move_in(const char *from, const char *to, struct error *err);
must_check int market_make_parent(const char *path, struct error *err);
/* ERR_exists if config.toml as it is now, or else the configuration, has another marketplace of this name. *ret_has: it
 * has this one. With the lock held. */
must_check int market_check_new(const struct config *config, const struct market *market, bool *ret_has,
                                struct error *err);

/* The same with the lock as it is, to the folder of the clone. */
must_check int market_source_clone(const struct market *market, const char *sha, struct plugin_clone *clone,
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
