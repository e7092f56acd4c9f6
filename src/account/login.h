/* login.h — a ChatGPT login, by a browser on this machine or by a code that is entered on another one.
 *
 * The tokens are stored, and those that they replace are revoked. Owns: the server that the browser returns to.
 * Borrows: loop, HTTP client, and the strings of the options. Thread: loop only. No callback runs inside a call to this
 * module. */
#ifndef ACCOUNT_LOGIN_H
#define ACCOUNT_LOGIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"
#include "config/auth.h"
#include "net/http_fetch.h"

struct config;
struct http_client;
struct login;
struct loop;

struct login_options {
	struct loop *loop;
	struct http_client *http;
	struct auth_place place;
	const struct config *config; /* the permitted workspaces; NULL: any */
	const char *issuer;          /* NULL: OpenAI's */
	const char *client_id;       /* NULL: that of Codex */
	const char *originator;
	bool is_device;
};

struct login_prompt {
	const char *url;
	const char *user_code; /* NULL for a browser */
	uint16_t port;         /* of the server that the browser returns to */
};

struct login_events {
	void (*on_prompt)(const struct login_prompt *prompt, void *self); /* borrowed during the call */
	/* The last event: the login is stored (NULL), or has failed. The login is destroyed after it. */
	void (*on_done)(const struct error *err, void *self);
};

/* Never NULL. The result is valid until on_done, or login_cancel. */
struct login *login_start(const struct login_options *options, const struct login_events *events, void *self);
void login_cancel(struct login *login); /* on_done is not called; not inside it; NULL is a no-op */

/* Revokes a refresh token, also while the program ends. */
struct http_fetch *login_revoke(struct http_client *http, const char *client_id, struct str refresh_token,
                                http_fetch_fn on_done, void *self);

#endif
