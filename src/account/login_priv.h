/* login_priv.h — a login while it runs, for login.c, login_browser.c and login_device.c. */
#ifndef ACCOUNT_LOGIN_PRIV_H
#define ACCOUNT_LOGIN_PRIV_H

#include "account/account_refresh.h"
#include "account/login.h"
#include "base/arena.h"
#include "base/buf.h"
#include "config/config.h"
#include "net/http_fetch.h"
#include "net/oauth_listener.h"
#include "net/oauth_pkce.h"

struct http_fetch;
struct loop_timer;

struct login {
	struct login_options options;
	const struct login_events *events;
	void *self;
	struct arena arena;
	const char *issuer; /* without a trailing slash */
	const char *client_id;
	struct oauth_pkce pkce;
	struct loop_timer *timer;
	struct http_fetch *fetch;
	struct oauth_listener *listener; /* NULL for a device */
	unsigned tries;                  /* to listen */
	const char *redirect;            /* the redirect_uri */
	const char *device_id, *user_code;
	uint64_t interval_ms, gives_up_at;
	void (*step)(struct login *login); /* what the timer continues with */
	struct auth auth;
	char *replaced; /* the refresh token of the login that this one replaces */
	struct error outcome;
	bool is_storing, is_over;
};

/* Ends the login; err: NULL, or borrowed during the call. */
void login_end(struct login *login, const struct error *err);
/* Calls step in delay_ms. */
void login_wait(struct login *login, uint64_t delay_ms, void (*step)(struct login *login));
/* Sends a body to a path of the issuer. */
void login_post(struct login *login, const char *path, bool is_form, struct str body, http_fetch_fn on_done);
/* Exchanges the code for tokens, checks and stores them, and ends the login. */
void login_redeem(struct login *login, struct str code, struct str verifier);

void login_browser_start(struct login *login);
/* Shows the outcome in the browser, then ends the login. */
void login_browser_show(struct login *login);
void login_device_start(struct login *login);

#endif
