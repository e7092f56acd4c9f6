/* thread_config.h — the configuration that a thread starts from.
 *
 * Threads with the same folder and the same wishes share one, as long as no file that it was made from has changed: a
 * thousand threads cost one configuration. Owns: the configurations it lends out again. Loop thread only. */
#ifndef APP_SERVER_THREAD_CONFIG_H
#define APP_SERVER_THREAD_CONFIG_H

#include "base/list.h"
#include "protocol/message/app.h"

struct app_server;
struct config;
struct error;

struct thread_configs {
	/* private */
	struct list kept; /* the last used ones, newest last */
	size_t count;
};

void thread_configs_init(struct thread_configs *configs);
void thread_configs_finish(struct thread_configs *configs);

/* A reference, or NULL. cwd is absolute. */
struct config *thread_config_load(struct app_server *server, const struct app_thread_start_params *params,
                                  const char *cwd, struct error *err);

#endif
