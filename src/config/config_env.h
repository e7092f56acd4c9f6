/* config_env.h — the one place of the library that reads the environment (beside process/env_policy,
 * which hands it on to commands). Values may be secrets: they go into no log and no message. */
#ifndef CONFIG_CONFIG_ENV_H
#define CONFIG_CONFIG_ENV_H

struct error;

/* The variable's value, or NULL if it is unset or empty. Borrowed from the environment. */
const char *config_env(const char *name);

/* The PEM bundle to trust in place of the system's: $CODEX_CA_CERTIFICATE, else $SSL_CERT_FILE, or NULL. */
const char *config_env_ca_file(void);

/* $CODEX_HOME, which must then be a folder, else ~/.codex, which need not exist yet. Owned; NULL and err
 * (ERR_config) if there is none. */
char *config_env_home(struct error *err);

#endif
