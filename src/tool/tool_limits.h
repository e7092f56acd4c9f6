/* tool_limits.h — the limits of calls of tools. */
#ifndef TOOL_TOOL_LIMITS_H
#define TOOL_TOOL_LIMITS_H

enum {
	LIMIT_REFUSAL_TEXT = 512, /* bytes of a refused command, and of the reason, that a front end shows */
};

#endif
