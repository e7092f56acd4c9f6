/* cli_limits.h — the limits of what all commands print. Sizes in bytes, times in milliseconds. */
#ifndef UI_CLI_LIMITS_H
#define UI_CLI_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_STATUS_TEXT = 256,  /* what the status line says of one command */
	LIMIT_STATUS_LINE = 1024, /* that line */
};

#endif
