/* thread_idle.h — threads that nobody watches and that do nothing are held for a while, then unloaded: their rollout
 * is all there is to them. One timer for all of them, and none while every thread is watched or at work.
 *
 * Owned by the server. Loop thread only. Source: app-server-wire 12. */
#ifndef APP_SERVER_THREAD_IDLE_H
#define APP_SERVER_THREAD_IDLE_H

struct thread;

/* It is watched by one less, or has ended a turn. */
void thread_idle_review(struct thread *thread);
/* Unloads it now: its turn ends, and all are told that it is not loaded any more. */
void thread_idle_unload(struct thread *thread);

#endif
