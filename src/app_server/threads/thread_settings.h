/* thread_settings.h — changes the settings that later turns use. Owns: nothing. Loop thread only. */
#ifndef APP_SERVER_THREAD_SETTINGS_H
#define APP_SERVER_THREAD_SETTINGS_H

#include "base/arena.h"
#include "base/error.h"
#include "protocol/message/app.h"

struct app_server;
struct rpc_request;
struct thread;
struct thread_selection;

/* Applies the settings in the parameters of a turn and submits the changes. */
must_check int thread_settings_change(struct rpc_request *request, struct thread *thread,
                                      const struct app_turn_start_params *params, bool *ret_is_changed,
                                      struct error *err);
/* Reads the member `environments` of a request, JSON. ERR_invalid: one of them or a folder cannot be used. */
must_check int thread_settings_environments(struct app_server *server, struct str json, struct arena *arena,
                                            struct thread_selection *ret, struct error *err);
/* Sets those of the settings, borrowed. */
void thread_settings_take(struct app_thread_settings *settings, const struct thread_selection *selected);
/* Sends thread/settings/updated. */
void thread_settings_notify(struct thread *thread);

#endif
