/* tui_limits.h — the limits of the terminal. */
#ifndef UI_TUI_LIMITS_H
#define UI_TUI_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_LIST_REST = 64,            /* bytes that count the rows above and below a list */
	LIMIT_DENIED_ACTIONS = 16,       /* actions that the reviewer denied, for /approve */
	LIMIT_DENIED_CONTENT = 64 * KIB, /* a patch or arguments there; the reviewer takes no longer ones */
	LIMIT_BEGUN_CALLS = 64,          /* patches and calls that may be denied */
};

#endif
