/* fs_watch.h — the paths that one client watches (fs/watch).
 *
 * What changes within LIMIT_WATCH_HOLD_MS is told at once, each path a single time. A path that is not there yet is
 * waited for in the deepest folder above it that is. Links are resolved on a worker.
 * Owns: its watches; they end with the client. Loop thread only. Source: app-server-wire 16. */
#ifndef APP_SERVER_FS_WATCH_H
#define APP_SERVER_FS_WATCH_H

#include <stdbool.h>

#include "base/str.h"

struct connection;
struct error;
struct fs_watch;

/* Once, not inside the call that asked: err is NULL and path (borrowed) what is watched, or err says why it is not;
 * then the watch is gone. */
typedef void (*fs_watch_ready_fn)(struct str path, const struct error *err, void *self);

struct fs_watch *fs_watch_create(struct connection *client, struct str id, struct str path,
                                 fs_watch_ready_fn on_ready, void *self);
void fs_watch_destroy(struct fs_watch *watch); /* NULL is fine */
/* NULL if the client has none of that id. */
struct fs_watch *fs_watch_find(struct connection *client, struct str id);
/* True if the client has as many as it may. */
bool fs_watch_is_full(struct connection *client);

#endif
