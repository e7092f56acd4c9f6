/* login_session.h — a login or logout of the command line: runs a loop until the issuer has answered. */
#ifndef UI_LOGIN_SESSION_H
#define UI_LOGIN_SESSION_H

#include <stdbool.h>

struct config;

struct login_session_options {
	const struct config *config;
	bool is_device;
	const char *issuer, *client_id; /* NULL: the usual ones */
};

/* Prints the words of the login. Returns the exit status. */
int login_session_run(const struct login_session_options *options);
/* Revokes the stored tokens and removes them. Returns the exit status. config may be NULL. */
int login_session_logout(const char *home, const struct config *config);

#endif
