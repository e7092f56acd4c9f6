/* oauth_thread.h — a login (oauth_login.h) for a program with a loop: it runs on a thread of its own, because it waits
 * for the user for minutes. Loop thread only; no callback runs inside a call to this module. */
#ifndef OAUTH_OAUTH_THREAD_H
#define OAUTH_OAUTH_THREAD_H

#include "oauth/oauth_login.h"

struct loop;
struct oauth_thread;

struct oauth_thread_events {
	void (*on_url)(const char *url, void *self);
	/* Called once, last. err is NULL if the tokens are stored. */
	void (*on_done)(const struct error *err, void *self);
};

/* options->on_url and self are not used. NULL and err: no thread could be started. */
must_check struct oauth_thread *oauth_thread_start(struct loop *loop, const struct oauth_login_options *options,
                                                   const struct oauth_thread_events *events, void *self,
                                                   struct error *err);
/* Ends the login without a callback, or frees it after on_done. May be called in on_done. NULL is fine. */
void oauth_thread_destroy(struct oauth_thread *thread);

#endif
