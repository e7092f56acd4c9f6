/* auth.h — credentials at rest: $CODEX_HOME/auth.json, mode 0600 (core 15).
 *
 * Keys go into no log and no message. Blocking, for start-up and the login commands. */
#ifndef CONFIG_AUTH_H
#define CONFIG_AUTH_H

#include <stdbool.h>

#include "base/str.h"

struct error;

enum auth_kind {
	AUTH_none,    /* no file, or nothing in it */
	AUTH_api_key, /* a key of the API */
	AUTH_chatgpt, /* a ChatGPT sign-in, which this engine cannot use for requests */
};

struct auth {
	enum auth_kind kind;
	char *api_key; /* of AUTH_api_key */
};

/* An absent file is AUTH_none; an unreadable or broken one is an error. */
int auth_read(const char *codex_home, struct auth *ret_auth, struct error *err);
void auth_finish(struct auth *auth); /* wipes the key; an all-zero struct is fine */
#define auto_auth __attribute__((cleanup(auth_finish)))

/* Stores the key in place of whatever was there, and makes the folder if need be. ERR_invalid for a key
 * that is empty or holds blanks or control characters; those around it are cut off. */
int auth_write_api_key(const char *codex_home, struct str key, struct error *err);
/* Forgets the credentials. Fine if there are none. */
int auth_remove(const char *codex_home, bool *ret_was_there, struct error *err);

/* A key without the blanks around it; false if that is none that a header can carry. */
bool auth_check_key(struct str key, struct str *ret_key);

#endif
