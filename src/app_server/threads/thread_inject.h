/* thread_inject.h — items of the Responses API that a client adds to the history of a thread. Loop thread only. */
#ifndef APP_SERVER_THREAD_INJECT_H
#define APP_SERVER_THREAD_INJECT_H

#include "base/error.h"

struct arena;
struct json;
struct thread;

/* Refuses a list that would make every later request of the thread fail (ERR_invalid). items may be NULL. */
must_check int thread_inject_check(const struct json *items, struct error *err);
/* Adds checked items; those of unknown types are skipped with a warning. ERR_limit: too much is pending. */
must_check int thread_inject(struct thread *thread, const struct json *items, struct arena *arena, struct error *err);

#endif
