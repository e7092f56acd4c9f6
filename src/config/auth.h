/* auth.h — stored credentials: $CODEX_HOME/auth.json, mode 0600.
 *
 * Keys appear in no log and no message. Blocking, for start-up and the login commands. */
#ifndef CONFIG_AUTH_H
#define CONFIG_AUTH_H

#include <stdbool.h>

#include "base/error.h"
#include "base/str.h"

enum auth_kind {
	AUTH_none,    /* the file does not exist or contains no credentials */
	AUTH_api_key, /* an API key */
	AUTH_chatgpt, /* a ChatGPT login, which this engine cannot use for requests */
};

struct auth {
	enum auth_kind kind;
	char *api_key; /* set for AUTH_api_key */
};

/* Reads the stored credentials. An absent file yields AUTH_none; an unreadable, empty or malformed
 * one is an error. */
must_check int auth_read(const char *codex_home, struct auth *ret_auth, struct error *err);
void auth_finish(struct auth *auth); /* wipes the key; an all-zero struct is fine */
#define auto_auth __attribute__((cleanup(auth_finish)))

/* Replaces the stored credentials by the key and creates the folder if necessary. Leading and trailing blanks are
 * trimmed. ERR_invalid for a key that is empty or contains other blanks or control characters. */
must_check int auth_write_api_key(const char *codex_home, struct str key, struct error *err);
/* Removes the credentials; no-op without any. */
must_check int auth_remove(const char *codex_home, bool *ret_was_there, struct error *err);

/* Trims the key; false if a header cannot carry it. */
bool auth_check_key(struct str key, struct str *ret_key);

#endif
