/* auth.h — stored credentials: $CODEX_HOME/auth.json, mode 0600, a keyring, or the memory of the process.
 *
 * Keys and tokens appear in no log and no message. Blocking: reads and writes one small file. Any thread. */
#ifndef CONFIG_AUTH_H
#define CONFIG_AUTH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "config/auth_store.h"

struct config;
struct config_strings;

enum auth_kind {
	AUTH_none,     /* there are no credentials */
	AUTH_api_key,  /* an API key */
	AUTH_chatgpt,  /* the tokens of a ChatGPT login, which this program refreshes */
	AUTH_personal, /* an access token that the user has made: it does not expire soon, and cannot be refreshed */
	AUTH_client,   /* tokens that a client of the app-server supplies and refreshes; in memory only */
	AUTH_unknown,  /* a login of another kind, which this program cannot use */
};

/* Strings are owned; NULL: absent. */
struct auth {
	enum auth_kind kind;
	char *api_key; /* set for AUTH_api_key; for AUTH_chatgpt the key that the login was exchanged for, if any */
	char *id_token, *access_token, *refresh_token;
	char *account_id;     /* AUTH_personal: NULL until the issuer was asked */
	char *plan;           /* AUTH_client: as the client names it; AUTH_personal: as the issuer does */
	char *email;          /* AUTH_personal */
	char *mode;           /* AUTH_unknown: as the file names it */
	int64_t refreshed_ms; /* Unix time; 0: unknown */
};

struct auth_place auth_place_of(const struct config *config);

/* Reads the stored credentials. An absent file yields AUTH_none; an unreadable, empty or malformed one is an error. */
must_check int auth_read(struct auth_place place, struct auth *ret_auth, struct error *err);
/* As auth_read, but a token in CODEX_ACCESS_TOKEN precedes what is stored. */
must_check int auth_find(struct auth_place place, struct auth *ret_auth, struct error *err);
void auth_finish(struct auth *auth); /* wipes keys and tokens; an all-zero struct is fine */
#define auto_auth __attribute__((cleanup(auth_finish)))

/* Replaces the stored credentials; creates the folder if necessary. If they are those of the same account, members of
 * the file that this program does not know are kept. ERR_unsupported without a keyring. AUTH_client is kept in memory.
 */
must_check int auth_write(struct auth_place place, const struct auth *auth, struct error *err);
/* Replaces a login by its refreshed tokens, in one change with the check that it is still stored: if its refresh token
 * is no longer `spent`, after a logout or another login, nothing is written, and ret_is_outdated is set. Tokens that
 * cannot be stored, or not within LIMIT_AUTH_RENEW_MS because of another change, are kept (auth_store_keep). */
must_check int auth_renew(struct auth_place place, const struct auth *auth, const char *spent, bool *ret_is_outdated,
                          struct error *err);
/* Replaces the stored credentials by the key. Leading and trailing blanks are trimmed. ERR_invalid for a key that is
 * empty or contains other blanks or control characters. */
must_check int auth_write_api_key(struct auth_place place, struct str key, struct error *err);
/* Removes the credentials, also those in memory; no-op without any. Returns the refresh token of a ChatGPT login that
 * was removed, which is to be revoked, or NULL. The caller wipes and frees it. */
must_check int auth_remove(struct auth_place place, char **ret_token, bool *ret_was_there, struct error *err);

/* Trims the key; false if a header cannot carry it. */
bool auth_check_key(struct str key, struct str *ret_key);

/* True for a token with the prefix of personal access tokens. */
bool auth_is_personal(struct str token);
/* True if requests are sent in the name of an account. */
static inline bool auth_is_account(const struct auth *auth)
{
	return auth->kind >= AUTH_chatgpt && auth->kind <= AUTH_client;
}

/* The claims of an id token. Signatures are not verified: the token comes from the issuer over TLS, and the claims are
 * only shown and compared. Slices are allocated in the arena. */
struct id_claims {
	struct str email, plan, account_id, user_id; /* STR_NONE: absent */
	struct str organization_id, project_id;
	bool has_onboarded, is_owner;
};

/* False if the token is not a JWT with a JSON object as payload. */
bool auth_read_claims(struct arena *arena, struct str token, struct id_claims *ret);
/* Returns the time of expiry as Unix seconds; -1: the token is not a JWT, or has none. */
int64_t auth_token_expiry(struct str token);

/* Checks the credentials against forced_login_method and forced_chatgpt_workspace_id. Stored ones that the rules
 * forbid are removed, which is an error (ERR_denied), also if they cannot be removed within lock_ms because of another
 * change; 0, on the loop, does not wait for a keyring either. Unreadable ones are not an error here. The workspace of a
 * personal access token is checked when it is known (account/account.h). */
must_check int auth_enforce(const struct config *config, unsigned lock_ms, struct error *err);
/* Checks the account of a login against forced_chatgpt_workspace_id; account may be NULL. False and err (ERR_denied).
 */
must_check bool auth_allows_workspace(const struct config_strings *allowed, const char *account, struct error *err);

#endif
