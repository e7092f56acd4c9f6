/* thread_queue_send.h — sends the queued messages of a loaded thread. Loop thread only. */
#ifndef APP_SERVER_THREAD_QUEUE_SEND_H
#define APP_SERVER_THREAD_QUEUE_SEND_H

#include "base/error.h"
#include "base/str.h"

struct thread;

/* True if a queued message would start a turn at once. */
bool thread_queue_is_ready(const struct thread *thread);
/* Starts a turn with the message of that id, or with the first (STR_NONE); the thread must be ready. 1: started;
 * 0: the queue is empty; ERR_not_found: no such message. */
must_check int thread_queue_send(struct thread *thread, struct str id, struct error *err);
/* As thread_queue_send for the first message, if the thread is ready; a failure is a warning for the clients. */
void thread_queue_send_next(struct thread *thread);
void thread_queue_notify(struct thread *thread);

#endif
