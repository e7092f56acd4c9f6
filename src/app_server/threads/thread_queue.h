/* thread_queue.h — the messages that wait for the end of a thread's turn. They are kept in a small file,
 * $CODEX_HOME/thread_queues/<id>.json, so that another program can add to them (`codex queue`) and a later process
 * sends them.
 *
 * Each function reads the file; those that change it exclude other processes meanwhile. Any thread; they block for one
 * small file. Errors: ERR_limit; ERR_busy: another process changes a queue; ERR_invalid: the file is damaged. */
#ifndef APP_SERVER_THREAD_QUEUE_H
#define APP_SERVER_THREAD_QUEUE_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct thread_queue {
	struct app_queued_submission *items; /* in the order in which they are sent */
	size_t count;
};

/* Reads the queue; its items refer to the arena. */
must_check int thread_queue_read(const char *home, struct str thread_id, struct arena *arena, struct thread_queue *ret,
                                 struct error *err);
/* True if the thread has no queue: one look-up, no lock. */
bool thread_queue_is_empty(const char *home, struct str thread_id);
/* Changes the queue that it read: 1: write it, 0: leave the file as it is, -ERR_…: refused. */
typedef int (*thread_queue_change_fn)(struct thread_queue *queue, struct arena *arena, void *self, struct error *err);
/* Reads the queue, calls `change` and writes the result. Returns what `change` returned, or -ERR_…. */
must_check int thread_queue_change(const char *home, struct str thread_id, struct arena *arena,
                                   thread_queue_change_fn change, void *self, struct error *err);
/* Starts what was taken. -ERR_…: it did not start. */
typedef int (*thread_queue_pass_fn)(struct arena *arena, void *self, struct error *err);
/* As thread_queue_change with `take`; then calls `pass`, and if that fails writes the queue as it was before. Other
 * processes are excluded until the end, so that the message is neither lost nor sent twice. */
must_check int thread_queue_pass(const char *home, struct str thread_id, struct arena *arena,
                                 thread_queue_change_fn take, thread_queue_pass_fn pass, void *self, struct error *err);
/* Appends a message under a new id. *ret refers to the arena. */
must_check int thread_queue_add(const char *home, struct str thread_id, const struct app_queued_submission *message,
                                struct arena *arena, struct app_queued_submission *ret, struct error *err);
/* Removes the file; to be called for a deleted thread. */
void thread_queue_remove(const char *home, struct str thread_id);

/* Returns the item with that id, or NULL. */
struct app_queued_submission *thread_queue_find(const struct thread_queue *queue, struct str id);
/* Takes the item out of the list. */
void thread_queue_take(struct thread_queue *queue, const struct app_queued_submission *item);

#endif
