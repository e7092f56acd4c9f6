/* account_view.h — the credentials that requests use, as clients see them. Loop thread only. */
#ifndef APP_SERVER_ACCOUNT_VIEW_H
#define APP_SERVER_ACCOUNT_VIEW_H

#include <stdbool.h>

#include "app_server/rpc/rpc_request.h"
#include "base/arena.h"
#include "base/str.h"
#include "config/auth.h"

struct config;

/* True if the provider in use requires an OpenAI key or a ChatGPT login. */
bool account_is_wanted(const struct config *config);
/* Finds the credentials, in the order in which requests look for them; wipe them with auth_finish. AUTH_none if they
 * cannot be read. */
void account_find(const struct config *config, struct auth *ret);
static inline bool account_is_chatgpt(const struct auth *auth)
{
	return auth_is_account(auth);
}

struct account_view {
	struct str mode; /* of app_auth_mode; STR_NONE without credentials */
	struct str plan; /* of app_plan_type; STR_NONE for a key */
	struct str email, user_id;
};

/* The texts are static or from the arena. */
struct account_view account_view_make(const struct auth *auth, struct arena *arena);
/* True while a worker asks the keyring, if the credentials are there: the handler must return RPC_WAIT, and is called
 * again. */
must_check bool account_must_wait(struct rpc_request *request);
/* Refuses a request that needs a ChatGPT login, or that this version does not carry out with one. */
enum rpc_verdict account_refuse(struct rpc_request *request, const char *what);

#endif
