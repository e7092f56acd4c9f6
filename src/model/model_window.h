/* model_window.h — asks a server on this machine for the context window of a model that the catalog does not know.
 *
 * Owns: its requests, one after the other, which together last at most LIMIT_WINDOW_MS. Borrows: loop, HTTP client and
 * provider. Thread: loop only. No callback runs inside a call to this module. */
#ifndef MODEL_MODEL_WINDOW_H
#define MODEL_MODEL_WINDOW_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

struct http_client;
struct loop;
struct model_provider;
struct model_window;

/* True if the provider's address is localhost, or a loopback address. */
bool model_window_is_near(const struct model_provider *provider);

/* Called once, last: the window in tokens; 0: no server said. */
typedef void (*model_window_fn)(int64_t window, void *self);

/* Never NULL. The result is valid until on_done, or model_window_cancel. */
struct model_window *model_window_ask(struct loop *loop, struct http_client *http,
                                      const struct model_provider *provider, struct str model, model_window_fn on_done,
                                      void *self);
void model_window_cancel(struct model_window *window); /* not inside on_done; NULL is a no-op */

#endif
