/* command_limits.h — the limits of shell text. Sizes in bytes, times in milliseconds. */
#ifndef COMMAND_COMMAND_LIMITS_H
#define COMMAND_COMMAND_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_COMMAND_SCAN = 2 * LIMIT_COMMAND_PARSE, /* the words of a text of LIMIT_COMMAND_PARSE, unquoted */
};

#endif
