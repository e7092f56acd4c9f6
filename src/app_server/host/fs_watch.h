/* fs_watch.h — the paths that one client watches (fs/watch).
 *
 * Changes within LIMIT_WATCH_HOLD_MS are reported in one notification, each path once. For a path that does not
 * exist, the deepest existing parent folder is watched. Links are resolved on a worker. Owns: its watches; resources
 * of the client. Loop thread only. */
#ifndef APP_SERVER_FS_WATCH_H
#define APP_SERVER_FS_WATCH_H

#include <stdbool.h>

#include "base/str.h"

struct connection;
struct error;
struct fs_watch;

/* Called once, on the loop: with the resolved path (borrowed), or with an error, after which the watch is freed. */
typedef void (*fs_watch_ready_fn)(struct str path, const struct error *err, void *self);

struct fs_watch *fs_watch_create(struct connection *client, struct str id, struct str path, fs_watch_ready_fn on_ready,
                                 void *self);
void fs_watch_destroy(struct fs_watch *watch); /* NULL is fine */
/* Returns NULL if the client has no watch with this id. */
struct fs_watch *fs_watch_find(struct connection *client, struct str id);
/* True if the client has LIMIT_CLIENT_WATCHES watches. */
bool fs_watch_is_full(struct connection *client);

#endif
