/* thread_config.h — loads the configuration of a new thread.
 *
 * Threads with the same folder and the same options share one as long as its files have not changed, so that a
 * thousand threads cost one configuration. Owns: references to the LIMIT_THREAD_CONFIGS last used ones. Loop thread
 * only. */
#ifndef APP_SERVER_THREAD_CONFIG_H
#define APP_SERVER_THREAD_CONFIG_H

#include "base/error.h"
#include "base/list.h"
#include "protocol/message/app.h"

struct app_server;
struct config;

struct thread_configs {
	/* private */
	struct list kept; /* least recently used first */
	size_t count;
};

void thread_configs_init(struct thread_configs *configs);
void thread_configs_finish(struct thread_configs *configs);

/* Returns a reference, or NULL and err. cwd must be absolute. */
must_check struct config *thread_config_load(struct thread_configs *configs, const struct app_server *server,
                                             const struct app_thread_start_params *params, const char *cwd,
                                             struct error *err);

#endif
