/* installation.h — the id of this installation: a UUID in $CODEX_HOME/installation_id. */
#ifndef APP_SERVER_INSTALLATION_H
#define APP_SERVER_INSTALLATION_H

/* Owned by the caller, never NULL: the file's id, or a new one, written there if that can be done. */
char *installation_id_read(const char *codex_home);

#endif
