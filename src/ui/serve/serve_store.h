/* serve_store.h — the stored sessions that codex serve offers to resume.
 *
 * Owns: the listings of the folders. The functions block; serve_store_list runs on workers. */
#ifndef UI_SERVE_STORE_H
#define UI_SERVE_STORE_H

#include <stddef.h>

#include "base/error.h"
#include "base/str.h"

struct buf;
struct serve_store;

struct serve_store *serve_store_create(const char *home, const char *provider);
void serve_store_destroy(struct serve_store *store); /* NULL is fine */
/* As list_threads of struct http_page_options. */
must_check int serve_store_list(struct serve_store *store, size_t limit, struct str cursor, const struct str *open,
                                size_t open_count, struct buf *out, struct error *err);
/* Returns "unix://PATH", the socket of a session that runs in another process, owned by the caller; or NULL. */
char *serve_store_find_attachable(struct serve_store *store, struct str id);
/* Returns the path of a session's rollout, owned by the caller. ERR_busy: a process has it. */
must_check char *serve_store_find(struct serve_store *store, struct str id_or_name, struct error *err);

#endif
