/* app_server_daemon.h — one app-server per CODEX_HOME in the background, which clients share.
 *
 * Who runs it is asked of the kernel: the process that listens at the socket. A number in a file could be another
 * process by now; daemon.pid is written for people and supervisors and never believed.
 * Files in CODEX_HOME/app-server-daemon: daemon.lock (one start or stop at a time), daemon.pid, daemon.stderr.log.
 * All calls wait. Errors: those of files and processes; ERR_timeout. Source: the reference's daemon. */
#ifndef APP_SERVER_APP_SERVER_DAEMON_H
#define APP_SERVER_APP_SERVER_DAEMON_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct error;

struct app_server_daemon {
	/* of the caller, borrowed */
	const char *home;             /* CODEX_HOME */
	const char *socket;           /* where it listens */
	const char *const *overrides; /* -c key=value, for the one that is started */
	size_t override_count;
	/* what was found; 0 and empty if nobody listens there */
	pid_t pid;
	char version[32]; /* empty also if it does not say */
};

/* Looks who listens. False if nobody does. */
bool app_server_daemon_find(struct app_server_daemon *daemon);
/* Starts one unless it runs, and waits until clients may come. */
int app_server_daemon_start(struct app_server_daemon *daemon, bool *ret_ran, struct error *err);
/* Ends it in order, after LIMIT_DAEMON_STOP_MS by force, and waits for its end. Its pid is left in daemon. */
int app_server_daemon_stop(struct app_server_daemon *daemon, bool *ret_ran, struct error *err);

#endif
