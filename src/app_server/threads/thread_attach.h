/* thread_attach.h — terminals that are attached to a thread (attach/attach_point.h).
 *
 * A server that outlives its clients offers them for root threads with a rollout, at most ATTACHABLE_MAX. The first
 * answer to a request counts, from clients and terminals alike. Loop thread only. */
#ifndef APP_SERVER_THREAD_ATTACH_H
#define APP_SERVER_THREAD_ATTACH_H

struct event;
struct thread;

enum { ATTACHABLE_MAX = 256 };

/* To be called with each event of the thread, before its handler. */
void thread_attach_event(struct thread *thread, const struct event *event);

#endif
