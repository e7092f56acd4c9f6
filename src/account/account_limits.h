/* account_limits.h — the limits of logins and of their tokens. Sizes in bytes, times in milliseconds. */
#ifndef ACCOUNT_ACCOUNT_LIMITS_H
#define ACCOUNT_ACCOUNT_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_ACCOUNT_ANSWER = 256 * KIB,    /* an answer of the issuer */
	LIMIT_ACCOUNT_ANSWER_MS = 30 * 1000, /* time for the issuer to connect, and between two bytes of its answer */
	LIMIT_ACCOUNT_REVOKE_MS = 5 * 1000,  /* the same for a revocation, for which a user waits */
	LIMIT_ACCOUNT_EARLY_MS = 5 * 60 * 1000, /* a token that expires within this time is refreshed */
	LIMIT_ACCOUNT_LOCK_PAUSE_MS = 50,       /* between two attempts to lock, while another process refreshes */
	LIMIT_ACCOUNT_LOCK_MS = 60 * 1000,      /* time for that lock */
	LIMIT_LOGIN_PORT_PAUSE_MS = 200,        /* between two attempts to listen on the port of a login */
	LIMIT_LOGIN_CANCEL_MS = 2000,           /* time for the login that has the port to end */
	LIMIT_LOGIN_DEVICE_MS = 15 * 60 * 1000, /* time to enter the code of a device */
	LIMIT_LOGIN_INTERVAL_S = 60,            /* seconds between two questions for it, as the issuer sets them */
	LIMIT_TOKEN_OUTPUT = 64 * KIB,          /* output of a command that prints a token */
	LIMIT_TOKEN_COMPLAINT = 512,            /* the part of its error output that an error quotes */
	LIMIT_TOKEN_COMMANDS = 64,              /* tokens of commands that are kept */
	LIMIT_TOKEN_DRAIN_MS = 200, /* time for output of a background process after the command has exited */
};

#endif
