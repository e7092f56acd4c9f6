/* thread_fork.h — a copy of a thread's rollout, up to one of its turns. Private to app_server/.
 * Made on a worker, as a part of a load (thread_load.h). Owns: the copy, until it is kept.
 * Source: app-server-wire 12. */
#ifndef APP_SERVER_THREAD_FORK_H
#define APP_SERVER_THREAD_FORK_H

#include "base/str.h"

struct thread_load;

struct thread_fork {
	/* private */
	char *last_turn_id, *before_turn_id, *running_turn_id; /* or NULL each */
	char *originator;
	bool is_ephemeral;
	char *path; /* the copy, as long as it goes with this; NULL: there is none, or it stays */
};

/* Which turns: up to last_turn_id, up to before before_turn_id, or (both absent) all. running_turn_id: of the source,
 * or NULL; it cannot be the last one. */
struct thread_fork *thread_fork_create(struct str last_turn_id, struct str before_turn_id, const char *running_turn_id,
                                       const char *originator, bool is_ephemeral);
void thread_fork_destroy(struct thread_fork *fork); /* NULL is fine */

/* The copy is a thread's now: unless that is kept nowhere, it stays. */
void thread_fork_keep(struct thread_fork *fork);

/* Copies what was loaded, and loads the copy in its place; load->err says why not. On the load's worker. */
int thread_fork_make(struct thread_load *load);

#endif
