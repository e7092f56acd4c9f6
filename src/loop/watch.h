/* watch.h — reports changes in a folder: inotify through the loop, no polling.
 *
 * Owns: the watch. Borrows: the loop. Loop thread only. on_change never runs inside a call to this module.
 * The watch is not recursive. */
#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H

struct error;
struct loop;
struct watch;

/* name: the entry that changed; NULL or the folder's own name: the folder itself. Borrowed during the call. */
typedef void (*watch_change_fn)(const char *name, void *self);

struct watch *watch_create(struct loop *loop, const char *folder, watch_change_fn on_change, void *self,
                           struct error *err);
void watch_destroy(struct watch *watch); /* NULL is fine */

#endif
