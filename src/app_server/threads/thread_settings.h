/* thread_settings.h — what later turns run under, as clients change it. Private to app_server/.
 * Owns: nothing. Loop thread only. Source: app-server-wire 4, 12. */
#ifndef APP_SERVER_THREAD_SETTINGS_H
#define APP_SERVER_THREAD_SETTINGS_H

#include "protocol/message/app.h"

struct error;
struct rpc_request;
struct thread;

/* Takes over the settings in a turn's parameters; only what is different is submitted. */
int thread_settings_change(struct rpc_request *request, struct thread *thread,
                           const struct app_turn_start_params *params, bool *ret_is_changed, struct error *err);
/* thread/settings/updated. */
void thread_settings_tell(struct thread *thread);

#endif
