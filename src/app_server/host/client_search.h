/* client_search.h — a search of a client that runs on a worker until all is looked at.
 *
 * Owns: the search. on_progress runs after each slice, from the loop; is_complete: nothing more will come for this
 * query. Destroying it ends it at once for the caller; the worker notices soon after. Loop thread only. */
#ifndef APP_SERVER_CLIENT_SEARCH_H
#define APP_SERVER_CLIENT_SEARCH_H

#include <stdbool.h>

#include "protocol/message/app.h"
#include "workspace/file_search.h"

struct arena;
struct client_search;
struct connection;

typedef void (*client_search_progress_fn)(struct client_search *search, bool is_complete, void *self);

/* id: the client's name of it, or STR_NONE; it is in the client's list until it is destroyed. */
struct client_search *client_search_create(struct connection *client, struct str id, const struct str *roots,
                                           size_t root_count, client_search_progress_fn on_progress, void *self);
void client_search_destroy(struct client_search *search); /* NULL is fine */
struct client_search *client_search_find(struct connection *client, struct str id);
size_t client_search_count(struct connection *client);

struct str client_search_id(const struct client_search *search);
/* Begins to look for it; what was looked for before is dropped. STR_NONE: for nothing yet, folders are walked. */
void client_search_ask(struct client_search *search, struct str query);
/* Looks no further: on_progress follows with what was found, complete. */
void client_search_cut(struct client_search *search);
struct str client_search_query(const struct client_search *search);
/* In on_progress: the best so far, as on the wire. True if they are others than last time. */
bool client_search_files(struct client_search *search, struct arena *arena, struct app_fuzzy_file_search_result **ret,
                         size_t *ret_count);

#endif
