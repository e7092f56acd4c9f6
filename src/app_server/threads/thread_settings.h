/* thread_settings.h — changes the settings of later turns for clients. Private to app_server/. Owns: nothing. Loop
 * thread only. */
#ifndef APP_SERVER_THREAD_SETTINGS_H
#define APP_SERVER_THREAD_SETTINGS_H

#include "protocol/message/app.h"

struct error;
struct rpc_request;
struct thread;

/* Applies the settings in a turn's parameters; submits only those that differ. */
int thread_settings_change(struct rpc_request *request, struct thread *thread,
                           const struct app_turn_start_params *params, bool *ret_is_changed, struct error *err);
/* Sends thread/settings/updated. */
void thread_settings_tell(struct thread *thread);

#endif
