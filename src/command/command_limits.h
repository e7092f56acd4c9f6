/* command_limits.h — the limits of shell text. Sizes in bytes, times in milliseconds. */
#ifndef COMMAND_COMMAND_LIMITS_H
#define COMMAND_COMMAND_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_COMMAND_SCAN = 2 * LIMIT_COMMAND_PARSE, /* the words of a text of LIMIT_COMMAND_PARSE, unquoted */
	LIMIT_COMMAND_BRACE = 1024,      /* bytes of a brace expansion that are read before its end is given up */
	LIMIT_COMMAND_SUBSTITUTIONS = 8, /* substitutions in substitutions */
	LIMIT_COMMAND_SHELLS = 8,        /* nested shells */
	LIMIT_COMMAND_VISITS = 4096,     /* visits of all commands of a script together */
	LIMIT_RULE_PATTERN = 63,         /* words of a rule that asks or forbids: rule_can_match needs a bit for each */
};

#endif
