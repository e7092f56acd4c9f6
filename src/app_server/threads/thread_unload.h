/* thread_unload.h — manages the subscribers of loaded threads, and ends threads: on request, with their Codex, or
 * when they are idle and the last subscriber has left.
 *
 * A thread without subscribers is unloaded after app_server.idle_thread_timeout_ms; its rollout holds all that a
 * later resume needs. One timer serves all threads and runs only while a thread has no subscriber. Loop thread only. */
#ifndef APP_SERVER_THREAD_UNLOAD_H
#define APP_SERVER_THREAD_UNLOAD_H

#include <stdbool.h>

struct connection;
struct thread;
struct threads;

/* Closes the Codex unless it belongs to a subagent, withdraws requests, answers interrupts, and frees the thread.
 * NULL is fine. */
void thread_destroy(struct thread *thread);
/* Interrupts the turn, sends the status notLoaded, and destroys the thread. */
void thread_unload(struct thread *thread);
/* To be called after a subscriber has left or a turn has ended: starts the timer. */
void thread_unload_when_idle(struct thread *thread);
/* Destroys the threads that are marked dead. */
void thread_unload_dead(struct threads *threads);
/* Destroys all threads, without notifications. */
void thread_unload_all(struct threads *threads);

/* ---- subscribers: the clients that receive a thread's notifications and questions ---- */

/* A slow subscriber holds the thread's Codex until it catches up: as long as it takes if it is the only one, else for
 * at most LIMIT_WATCHER_HOLD_MS. When the last subscriber leaves, calls of clients' tools fail, out-of-band
 * elicitations end, and the thread may be unloaded once it is idle. Borrows: the connections. */

/* Adds a subscriber and sends it the thread's pending requests. No-op for an existing one. */
void subscribers_add(struct thread *thread, struct connection *connection);
/* Removes a subscriber; false if the client was not one. */
bool subscribers_remove(struct thread *thread, const struct connection *connection);
/* Removes the client from all threads. */
void subscribers_forget_client(struct threads *threads, const struct connection *client);
/* Holds or releases each Codex; to be called after the pace of a client has changed. */
void subscribers_review_holds(struct threads *threads);

#endif
