/* notify.h — translates the engine's events to notifications, items and requests: one handler for each row of
 * notify.def (notify_handlers.h). Owns: nothing. Loop thread only. */
#ifndef APP_SERVER_NOTIFY_H
#define APP_SERVER_NOTIFY_H

#include "protocol/message/message.h"

struct thread;

/* Sends the notifications of an event, which is borrowed, to the subscribers of the thread. */
void notify_event(struct thread *thread, const struct event *event);

#endif
