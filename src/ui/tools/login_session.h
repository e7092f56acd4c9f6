/* login_session.h — a login or logout of the command line: runs a loop until the issuer has answered. */
#ifndef UI_LOGIN_SESSION_H
#define UI_LOGIN_SESSION_H

#include <stdbool.h>

#include "base/str.h"

struct config;

struct login_session_options {
	const struct config *config;
	bool is_device;
	const char *issuer, *client_id; /* NULL: the usual ones */
};

/* Prints the words of the login. Returns the exit status. */
int login_session_run(const struct login_session_options *options);
/* Revokes the stored tokens and removes them. Returns the exit status. config may be NULL. */
/* Stores a personal access token, after the issuer has said whose it is. */
int login_session_token(const struct config *config, struct str token);
int login_session_logout(const char *home, const struct config *config);

#endif
