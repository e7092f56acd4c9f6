/* thread_unload.h — the end of loaded threads: on request, with their Codex, or when they are idle.
 *
 * A thread without subscribers is unloaded after app_server.idle_thread_timeout_ms; its rollout holds all that a later
 * resume needs. One timer serves all threads and runs only while a thread has no subscriber. Loop thread only. */
#ifndef APP_SERVER_THREAD_UNLOAD_H
#define APP_SERVER_THREAD_UNLOAD_H

struct thread;
struct threads;

/* Closes the Codex unless it is a subagent's, withdraws questions, answers interrupts, and frees the thread. NULL is
 * fine. */
void thread_destroy(struct thread *thread);
/* Interrupts the turn, sends the status notLoaded, and destroys the thread. */
void thread_unload(struct thread *thread);
/* Call after a subscriber has left or a turn has ended: starts the timer. */
void thread_unload_when_idle(struct thread *thread);
/* Destroys the threads that are marked dead. */
void thread_unload_dead(struct threads *threads);
/* Destroys all threads, without notifications. */
void thread_unload_all(struct threads *threads);

#endif
