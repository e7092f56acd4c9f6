/* stored_thread.h — the client's view of a thread on disk, loaded or not. Owns: nothing; a view refers to data in
 * the arena it was made in. */
#ifndef APP_SERVER_STORED_THREAD_H
#define APP_SERVER_STORED_THREAD_H

#include "protocol/message/app.h"
#include "rollout/rollout_summary.h"

struct app_server;

/* Makes the view of the file: not loaded, without turns. name: STR_NONE if the thread has no name. Any thread. */
void stored_thread_view(const struct rollout_summary *summary, struct str name, struct arena *arena,
                        struct app_thread *ret);
/* If the thread is loaded, replaces the state read from disk by the current one. Loop thread only. */
void stored_thread_join(const struct app_server *server, struct arena *arena, struct app_thread *thread);

#endif
