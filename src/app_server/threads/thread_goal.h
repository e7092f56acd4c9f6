/* thread_goal.h — notifies the subscribers of a thread's goal. */
#ifndef APP_SERVER_THREAD_GOAL_H
#define APP_SERVER_THREAD_GOAL_H

#include "base/str.h"

struct thread;

/* Sends thread/goal/updated, or thread/goal/cleared without a goal. turn_id: the turn that changed it, or STR_NONE. */
void thread_notify_goal(struct thread *thread, struct str turn_id);

#endif
