/* rollout_watch.h — notices which files of some folders have changed, by inotify.
 *
 * The kernel queues the changes until they are read, so a watch wakes no process. A watch reports every
 * write by this machine to a regular file that has one name. It cannot report writes of other machines to a network
 * file system, so it exists for local file systems only.
 *
 * Owns: a descriptor. Thread: one at a time. Blocking: no. Source: inotify(7). */
#ifndef ROLLOUT_ROLLOUT_WATCH_H
#define ROLLOUT_ROLLOUT_WATCH_H

#include <stdbool.h>
#include <stddef.h>

struct rollout_watch;

/* NULL if the kernel offers no more of them. */
struct rollout_watch *rollout_watch_create(void);
void rollout_watch_destroy(struct rollout_watch *watch); /* NULL is a no-op */

/* Watches a folder; its changes are reported from now on. False if that is impossible: the folder is missing, twice in
 * the list, on a network file system, or there are too many. */
bool rollout_watch_add(struct rollout_watch *watch, const char *folder);

/* Called for each change of a file's content or times. `folder` counts the calls of rollout_watch_add, from 0. */
typedef void (*rollout_watch_fn)(size_t folder, const char *name, void *self);
/* Reads the queued changes. False if the watch is of no more use: a name has appeared or vanished, a folder has moved,
 * or the kernel has dropped changes. */
bool rollout_watch_read(struct rollout_watch *watch, rollout_watch_fn on_change, void *self);

#endif
