/* app_server_daemon.h — one background app-server per CODEX_HOME, shared by clients.
 *
 * The kernel identifies the server: the process that listens on the socket. A pid in a file could be reused, so
 * daemon.pid is written for people and service managers and never read. Files in CODEX_HOME/app-server-daemon:
 * daemon.lock (one start or stop at a time), daemon.pid, daemon.stderr.log.
 * All calls block. Errors: those of files and processes; ERR_timeout. */
#ifndef APP_SERVER_APP_SERVER_DAEMON_H
#define APP_SERVER_APP_SERVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/error.h"

struct app_server_daemon {
	/* Set by the caller, borrowed: */
	const char *home;             /* CODEX_HOME */
	const char *socket;           /* the server's Unix socket */
	const char *const *overrides; /* key=value texts for -c options of a new server */
	size_t override_count;
	/* Set by app_server_daemon_find; 0 and empty if no server is running: */
	pid_t pid;
	char version[32]; /* empty if unknown */
};

/* Returns the path of the socket below a CODEX_HOME, owned by the caller. */
char *app_server_daemon_socket(const char *home);
/* Finds the running server; false if no server is running, or with ERR_timeout if it accepts no connection. */
must_check bool app_server_daemon_find(struct app_server_daemon *daemon, struct error *err);
/* Starts a server unless one runs, and waits until it accepts clients. */
must_check int app_server_daemon_start(struct app_server_daemon *daemon, bool *ret_ran, struct error *err);
/* Terminates the server and waits for its end; kills it after LIMIT_DAEMON_STOP_MS. Its pid stays in daemon. */
must_check int app_server_daemon_stop(struct app_server_daemon *daemon, bool *ret_ran, struct error *err);

#endif
