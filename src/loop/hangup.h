/* hangup.h — detects that the reader of a pipe or socket has closed it, without writing to it.
 *
 * Owns: the watch and a duplicate of the descriptor. Borrows: the loop. Loop thread only. on_hangup runs once, and
 * never inside a call to this module. */
#ifndef LOOP_HANGUP_H
#define LOOP_HANGUP_H

#include "loop/loop.h"

struct error;
struct hangup;

/* The peer has closed the connection: the reading end of a pipe, or both directions of a socket. */
struct hangup *hangup_watch(struct loop *loop, int fd, loop_run_fn on_hangup, void *self, struct error *err);
void hangup_destroy(struct hangup *hangup); /* NULL is fine */

#endif
