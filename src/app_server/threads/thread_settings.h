/* thread_settings.h — changes the settings that later turns use. Owns: nothing. Loop thread only. */
#ifndef APP_SERVER_THREAD_SETTINGS_H
#define APP_SERVER_THREAD_SETTINGS_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct app_server;
struct rpc_request;
struct thread;

/* Applies the settings in the parameters of a turn and submits the changes. */
must_check int thread_settings_change(struct rpc_request *request, struct thread *thread,
                                      const struct app_turn_start_params *params, bool *ret_is_changed,
                                      struct error *err);
/* Reads the member `environments` of a request, JSON, which must select one environment. *ret is NULL if json is
 * STR_NONE or null: nothing is selected. ERR_invalid: an environment or a folder cannot be used. */
must_check int thread_settings_environment(struct app_server *server, struct str json, struct arena *arena,
                                           struct app_thread_environment **ret, struct error *err);
/* Sends thread/settings/updated. */
void thread_settings_notify(struct thread *thread);

#endif
