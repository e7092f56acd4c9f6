/* child.h — reports the end of a child process on the loop, and reaps it.
 *
 * Owns: the pidfd. Borrows: the loop. Thread: loop only. on_exit runs once, with the status of waitpid(2); after it the
 * child may be destroyed. No other module calls waitpid for children of the loop's thread. */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include <sys/types.h>

#include "base/error.h"

struct loop;
struct child;

typedef void (*child_exit_fn)(int wait_status, void *self);

/* Watches pid, a direct child of this process. NULL and err if no pidfd can be opened. */
must_check struct child *child_create(struct loop *loop, pid_t pid, child_exit_fn on_exit, void *self,
                                      struct error *err);
/* Lets the loop end while the child runs. */
void child_unref(struct child *child);
/* Stops watching; on_exit does not run. A child that is still alive is never reaped, so kill it first. NULL is fine. */
void child_destroy(struct child *child);

#endif
