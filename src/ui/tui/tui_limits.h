/* tui_limits.h — the limits of the terminal interface. Sizes in bytes, times in milliseconds. */
#ifndef UI_TUI_LIMITS_H
#define UI_TUI_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_TUI_TEXT = 64 * MIB,           /* a text that is shown: of a message, a page, an output */
	LIMIT_TUI_COMPOSER = 1 * MIB,        /* the text in the composer, and in its history of changes */
	LIMIT_TUI_HISTORY = 2000,            /* earlier messages that the composer offers */
	LIMIT_TUI_SEARCH = 256,              /* a text to search for */
	LIMIT_TUI_REPLAY_ACTIONS = 16,       /* parts of one command of a resumed session that are named */
	LIMIT_TUI_OPEN = 200,                /* items that have begun and not ended */
	LIMIT_TUI_ANSWER = 64 * KIB,         /* the part of a program's answer that is shown */
	LIMIT_TUI_DAEMON_MS = 60 * 1000,     /* for a daemon to start or stop */
	LIMIT_TUI_IMPORT_MS = 5 * 60 * 1000, /* for an import */
	LIMIT_TUI_GIT_OUTPUT = 4 * MIB,      /* the output of git */
	LIMIT_TUI_GIT_ERRORS = 64 * KIB,     /* its standard error */
	LIMIT_TUI_GIT_MS = 20000,            /* for git to end */
	LIMIT_LIST_REST = 64,                /* bytes that count the rows above and below a list */
	LIMIT_DENIED_ACTIONS = 16,           /* actions that the reviewer denied, for /approve */
	LIMIT_DENIED_CONTENT = 64 * KIB,     /* a patch or arguments there; the reviewer takes no longer ones */
	LIMIT_BEGUN_CALLS = 64,              /* patches and calls that may be denied */
};

#endif
