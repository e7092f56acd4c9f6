/* thread_fork.h — copies a thread's rollout up to one of its turns. Owns: the copy, until it is kept. */
#ifndef APP_SERVER_THREAD_FORK_H
#define APP_SERVER_THREAD_FORK_H

#include "base/error.h"
#include "base/str.h"

struct rollout_reader;
struct thread_history;

struct thread_fork {
	/* private */
	char *last_turn_id, *before_turn_id, *running_turn_id; /* each may be NULL */
	char *originator;
	bool is_ephemeral;
	char *path; /* the copy, which is removed with the struct; NULL: not made yet, or kept */
};

/* The copy ends with last_turn_id or before before_turn_id; if both are absent it has all turns. running_turn_id: of
 * the source, or NULL; it cannot be the last one. */
struct thread_fork *thread_fork_create(struct str last_turn_id, struct str before_turn_id, const char *running_turn_id,
                                       const char *originator, bool is_ephemeral);
void thread_fork_destroy(struct thread_fork *fork); /* NULL is fine */

/* Keeps the file of a copy that is not ephemeral. */
void thread_fork_keep(struct thread_fork *fork);

/* Writes a copy of the lines that the reader has read (with ROLLOUT_ALL) to home. Any thread; blocks. */
must_check int thread_fork_make(struct thread_fork *fork, const char *home, const struct rollout_reader *reader,
                                const struct thread_history *history, struct error *err);

#endif
