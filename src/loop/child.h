/* child.h — tells you when a process ends.
 *
 * Owns: the pidfd and the duty to reap. Borrows: the loop. Thread: loop only.
 * on_exit runs once, with the status of waitpid(2); after it the child may be destroyed.
 * Source: house rule "children are always reaped by child". */
#ifndef LOOP_CHILD_H
#define LOOP_CHILD_H

#include <sys/types.h>

struct loop;
struct child;
struct error;

typedef void (*child_exit_fn)(int wait_status, void *self);

/* Watches pid, a direct child of this process. NULL and err when no pidfd can be had. */
struct child *child_create(struct loop *loop, pid_t pid, child_exit_fn on_exit, void *self, struct error *err);
/* The loop need not keep running for this child's sake. */
void child_unref(struct child *child);
/* Stops watching; on_exit will not run. A child still alive is then nobody's: kill it first. NULL is fine. */
void child_destroy(struct child *child);

#endif
