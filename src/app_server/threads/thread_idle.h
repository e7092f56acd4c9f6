/* thread_idle.h — unloads threads that are idle and have no watchers after app_server.idle_thread_timeout_ms; the
 * rollout holds all that a later resume needs. One timer serves all threads and runs only while one has no watcher.
 *
 * Loop thread only. */
#ifndef APP_SERVER_THREAD_IDLE_H
#define APP_SERVER_THREAD_IDLE_H

struct thread;

/* Call after a watcher has left or a turn has ended. */
void thread_idle_review(struct thread *thread);
/* Unloads the thread now: interrupts its turn, sends the status notLoaded, and destroys it. */
void thread_idle_unload(struct thread *thread);

#endif
