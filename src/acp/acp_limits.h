/* acp_limits.h — the limits of codex acp. Sizes in bytes, times in milliseconds. */
#ifndef ACP_ACP_LIMITS_H
#define ACP_ACP_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_ACP_SESSIONS = 256,      /* open sessions of codex acp */
	LIMIT_ACP_PROMPTS = 16,        /* prompts of one session without a response */
	LIMIT_ACP_SERVERS = 64,        /* MCP servers that a client adds to one session */
	LIMIT_ACP_ROOTS = 64,          /* additional folders of one session */
	LIMIT_ACP_TITLE = 80,          /* bytes of a title made of the first prompt */
	LIMIT_ACP_DIFF_FILE = 1 * MIB, /* a file whose change is shown as a whole */
	LIMIT_ACP_DIFFS = 8 * MIB,     /* all such files of one patch */
};

#endif
