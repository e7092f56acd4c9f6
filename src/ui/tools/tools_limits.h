/* tools_limits.h — the limits of codex plugin. Sizes in bytes. */
#ifndef UI_TOOLS_LIMITS_H
#define UI_TOOLS_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_PLUGIN_ROW = 160, /* a row of codex plugin show */
};

#endif
