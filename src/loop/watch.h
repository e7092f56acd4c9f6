/* watch.h — reports changes in a folder, and the hang-up of a pipe or socket: by the loop, without polling.
 *
 * Owns: the watch; a hangup also owns a duplicate of the descriptor. Borrows: the loop. Loop thread only. No callback
 * runs inside a call to this module. The watch of a folder is not recursive. */
#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H

#include "base/error.h"
#include "loop/loop.h"

struct watch;

/* name is the entry that changed, borrowed during the call. NULL or the folder's own name: the folder itself
 * changed. */
typedef void (*watch_change_fn)(const char *name, void *self);

must_check struct watch *watch_create(struct loop *loop, const char *folder, watch_change_fn on_change, void *self,
                                      struct error *err);
void watch_destroy(struct watch *watch); /* NULL is fine */

struct hangup;

/* on_hangup runs once, when the peer has closed the reading end of a pipe, or both directions of a socket. It is
 * detected without writing. */
must_check struct hangup *hangup_watch(struct loop *loop, int fd, loop_run_fn on_hangup, void *self, struct error *err);
void hangup_destroy(struct hangup *hangup); /* NULL is fine */

#endif
