/* account.h — the access token of a ChatGPT login, refreshed when it has expired or was refused, or a personal one.
 *
 * A refresh token can be used once, so all processes that share a CODEX_HOME take turns: the one that holds the lock on
 * $CODEX_HOME/auth.lock rereads auth.json, refreshes the tokens unless another process has done so, and replaces the
 * file before it releases the lock. The file system releases the lock of a killed process. A refresh that was sent is
 * completed and stored even if its call is cancelled, because the old refresh token may be spent.
 *
 * Owns: its calls. Borrows: loop and HTTP client. Thread: loop only. No callback runs inside a call to this module. */
#ifndef ACCOUNT_ACCOUNT_H
#define ACCOUNT_ACCOUNT_H

#include <stdbool.h>

#include "account/account_token.h"
#include "base/error.h"
#include "base/str.h"
#include "config/auth.h"

struct account_call;
struct config_strings;
struct accounts;
struct http_client;
struct loop;
struct token_commands;

struct accounts *accounts_create(struct loop *loop, struct http_client *http);
/* Ends all calls without on_done. A refresh that has been sent continues; its HTTP client must be ended by
 * http_client_leave, which bounds it. NULL is a no-op. */
void accounts_destroy(struct accounts *accounts);

/* Returns the tokens of commands (token_command.h), which end with the accounts. */
struct token_commands *accounts_commands(struct accounts *accounts);

/* Obtains new tokens from the client that supplied the present ones (AUTH_client). The function must answer with
 * accounts_client_answer, at once or later. self is passed through. NULL: no client can. */
typedef void (*account_ask_fn)(struct accounts *accounts, struct str account_id, void *self);
void accounts_set_client(struct accounts *accounts, account_ask_fn ask, void *self);
/* Ends all calls that wait for the client, which has written the new tokens to the store unless err is set. */
void accounts_client_answer(struct accounts *accounts, const struct error *err);

struct account_request {
	struct auth_place place;
	struct str refused;    /* the access token that a server has refused; STR_NONE: none */
	struct str account_id; /* the only acceptable account; STR_NONE: any */
	/* The accounts of which a personal access token may be; NULL or none: any. Borrowed until on_done. */
	const struct config_strings *workspaces;
};

/* Requests a token. Everything is copied. The result is valid until on_done or account_cancel. Never NULL. */
struct account_call *account_get(struct accounts *accounts, const struct account_request *request, account_fn on_done,
                                 void *self);
void account_cancel(struct account_call *call); /* NULL is a no-op */

#endif
