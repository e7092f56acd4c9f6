/* client_search.h — a file search of a client, as a query of the file_finder that all clients share.
 *
 * Owns: the search. on_progress runs from the loop after each slice; is_complete: the last one for this query. No
 * callback runs after client_search_destroy. Loop thread only. */
#ifndef APP_SERVER_CLIENT_SEARCH_H
#define APP_SERVER_CLIENT_SEARCH_H

#include <stdbool.h>

#include "protocol/message/app.h"

struct app_server;
struct arena;
struct client_search;
struct connection;

typedef void (*client_search_progress_fn)(struct client_search *search, bool is_complete, void *self);

/* Starts a search, which is a resource of the client until it is destroyed. id: chosen by the client, or STR_NONE. */
struct client_search *client_search_create(struct connection *client, struct str id, const struct str *roots,
                                           size_t root_count, client_search_progress_fn on_progress, void *self);
void client_search_destroy(struct client_search *search); /* NULL is fine */
struct client_search *client_search_find(struct connection *client, struct str id);
size_t client_search_count(struct connection *client);

struct str client_search_id(const struct client_search *search);
/* Replaces the query. With STR_NONE the search only walks the folders. */
void client_search_ask(struct client_search *search, struct str query);
/* Stops the walk: on_progress is called once more, as complete, with the results so far. */
void client_search_cut(struct client_search *search);
struct str client_search_query(const struct client_search *search);
/* To be called in on_progress: the best results so far as wire records. True if they differ from those of the last
 * call. */
bool client_search_files(struct client_search *search, struct arena *arena, struct app_fuzzy_file_search_result **ret,
                         size_t *ret_count);
/* Ends what searches share, after the clients have gone. */
void client_search_end_all(struct app_server *server);

#endif
