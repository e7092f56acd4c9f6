/* personal_token.h — personal access tokens: the issuer says whose they are. Thread: loop only. */
#ifndef ACCOUNT_PERSONAL_TOKEN_H
#define ACCOUNT_PERSONAL_TOKEN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "base/sha.h"
#include "base/str.h"
#include "net/http_fetch.h"

struct auth;
struct http_client;

/* Asks the issuer whose token it is. CODEX_AUTHAPI_BASE_URL replaces the issuer's address. */
struct http_fetch *personal_token_ask(struct http_client *http, struct str token, http_fetch_fn on_done, void *self);
/* Reads the answer: sets account, plan and address of auth. transport: the reason if no answer came, or NULL. */
must_check int personal_token_read(int status, struct str body, const struct error *transport, struct auth *auth,
                                   struct error *err);

/* The account of the token that the issuer was asked for last. */
struct personal_owner {
	/* private */
	uint8_t hash[SHA256_SIZE];
	char *account; /* NULL: not known */
};

/* Sets the account of auth if this is its token. */
void personal_owner_find(const struct personal_owner *owner, struct auth *auth);
void personal_owner_keep(struct personal_owner *owner, const struct auth *auth);
void personal_owner_finish(struct personal_owner *owner);

#endif
