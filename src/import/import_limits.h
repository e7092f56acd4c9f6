/* import_limits.h — the limits of imported sessions. Sizes in bytes. */
#ifndef IMPORT_IMPORT_LIMITS_H
#define IMPORT_IMPORT_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_IMPORT_SESSION = 64 * MIB,   /* the file of a session of another agent */
	LIMIT_IMPORT_SESSIONS = 10 * 1000, /* such files that are considered */
	LIMIT_IMPORT_SESSIONS_FOUND = 50,  /* those that one detection finds, unless the client asks for more */
	LIMIT_IMPORT_SESSIONS_READ = 1024, /* files that a detection reads, and sessions that one import may name */
	LIMIT_IMPORT_SESSION_DAYS = 30,    /* the age of the last change of those, likewise */
	LIMIT_IMPORT_SESSION_MOST_DAYS = 100 * 1000, /* a greater age is any age */
	LIMIT_IMPORT_SESSION_LINE = 8 * MIB, /* a line of such a file: one message, whose tree takes much more memory */
	LIMIT_IMPORT_SESSION_TITLE = 120,    /* a title that is made from the first message */
	LIMIT_IMPORT_SESSION_NAME = 1 * KIB, /* a title that the session has */
	LIMIT_IMPORT_SESSION_OUTPUT = 4 * 1000, /* the output or the other arguments of one call of a tool */
	LIMIT_IMPORT_SESSION_LEDGER = 16 * MIB, /* external_agent_session_imports.json */
};

#endif
