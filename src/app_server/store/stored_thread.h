/* stored_thread.h — what a client is shown of a thread on disk, and of one that is loaded, too.
 * Owns: nothing; what a view points to lives in the arena it was made in. Source: app-server-wire 3 and 12. */
#ifndef APP_SERVER_STORED_THREAD_H
#define APP_SERVER_STORED_THREAD_H

#include "protocol/message/app.h"
#include "rollout/rollout_summary.h"

struct app_server;

/* As it lies there: not loaded, without turns. name: STR_NONE if it has none. Any thread. */
void stored_thread_view(const struct rollout_summary *summary, struct str name, struct arena *arena,
                        struct app_thread *ret);
/* If the thread is loaded: how it is now, in place of what the disk says. Loop thread only. */
void stored_thread_join(const struct app_server *server, struct arena *arena, struct app_thread *thread);

#endif
