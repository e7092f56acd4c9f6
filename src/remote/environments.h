/* environments.h — the environments that clients of the app-server have registered, by id.
 *
 * Another environment can be registered under an id later; the old one lives as long as it is referred to. Owns: a
 * reference to each, and a question that each is asked once, to learn its shell. Loop thread only. */
#ifndef REMOTE_ENVIRONMENTS_H
#define REMOTE_ENVIRONMENTS_H

#include "base/error.h"
#include "remote/environment.h"

struct environments;

struct environments *environments_create(struct loop *loop, struct http_client *http);
void environments_destroy(struct environments *all);
/* Sets the watcher of all environments, copied. */
void environments_watch(struct environments *all, struct environment_watcher watcher);

/* Registers an environment, in place of one with the same id. Fails as environment_create does, and with ERR_limit if
 * there are LIMIT_ENVIRONMENTS. */
must_check int environments_add(struct environments *all, const struct environment_words *words, struct error *err);
/* Returns a borrowed environment; NULL: unknown. */
struct environment *environments_find(struct environments *all, struct str id);
/* Returns a reference to that environment or, if the id is unknown, to one of its own that refuses all commands. */
struct environment *environments_get(struct environments *all, struct str id);

#endif
