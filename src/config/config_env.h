/* config_env.h — reads the environment for the library. Only command/env_policy does so, too, to pass it to commands.
 * Values may be secrets: they appear in no log and no message. */
#ifndef CONFIG_CONFIG_ENV_H
#define CONFIG_CONFIG_ENV_H

#include <stdbool.h>

#include "base/error.h"

/* Returns the variable's value, borrowed from the environment, or NULL if it is unset or empty. */
const char *config_env(const char *name);

/* Returns the whole environment, for a command that the user has configured. Ends with NULL. */
const char *const *config_env_all(void);

/* Returns the PEM bundle to use instead of the system's: $CODEX_CA_CERTIFICATE, else $SSL_CERT_FILE, else NULL. */
const char *config_env_ca_file(void);

/* True if libcurl needs all the libraries that it is linked to (base/stand_in.h): a SOCKS proxy may use Kerberos, and
 * CODEX_LIBCURL=whole asks for them. */
bool config_env_wants_whole_libcurl(void);

/* Returns $CODEX_HOME, which must be an existing folder, or ~/.codex, which need not exist. The caller frees it. NULL
 * and err (ERR_config) if neither is known. */
must_check char *config_env_home(struct error *err);

#endif
