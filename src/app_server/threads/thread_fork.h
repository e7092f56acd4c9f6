/* thread_fork.h — a copy of a thread's rollout, up to one of its turns. Private to app_server/.
 *
 * Made on a worker, as a part of a load (thread_load.h). Owns: the copy, until thread_fork_keep. */
#ifndef APP_SERVER_THREAD_FORK_H
#define APP_SERVER_THREAD_FORK_H

#include "base/str.h"

struct thread_load;

struct thread_fork {
	/* private */
	char *last_turn_id, *before_turn_id, *running_turn_id; /* or NULL each */
	char *originator;
	bool is_ephemeral;
	char *path; /* the copy, removed with this; NULL: not made yet, or kept */
};

/* Copies the turns up to last_turn_id, or those before before_turn_id, or (both absent) all. running_turn_id: the
 * running turn of the source, or NULL; last_turn_id cannot be the running one. */
struct thread_fork *thread_fork_create(struct str last_turn_id, struct str before_turn_id, const char *running_turn_id,
                                       const char *originator, bool is_ephemeral);
void thread_fork_destroy(struct thread_fork *fork); /* NULL is fine */

/* Hands the copy over to the thread: the file stays, unless the thread is ephemeral. */
void thread_fork_keep(struct thread_fork *fork);

/* Copies the loaded rollout and loads the copy in its place; sets load->err on failure. On the load's worker. */
int thread_fork_make(struct thread_load *load);

#endif
