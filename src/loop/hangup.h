/* hangup.h — notices that nobody can read any more what is written to a pipe or a socket, without writing to it.
 *
 * Owns: the watch and a duplicate of the descriptor. Borrows: the loop. Loop thread only. on_hangup runs once, and
 * never inside a call to this module. */
#ifndef LOOP_HANGUP_H
#define LOOP_HANGUP_H

#include "loop/loop.h"

struct error;
struct hangup;

/* The peer has closed both directions: of a pipe its only one, of a socket not just the one that it writes to. */
struct hangup *hangup_watch(struct loop *loop, int fd, loop_run_fn on_hangup, void *self, struct error *err);
void hangup_destroy(struct hangup *hangup); /* NULL is fine */

#endif
