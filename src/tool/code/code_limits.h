/* code_limits.h — the limits of scripts: those of base/limits.h that only tool/code/ needs. */
#ifndef TOOL_CODE_LIMITS_H
#define TOOL_CODE_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_CODE_FRAME = 64 * MIB, /* a message between the engine and the host of a script, and what is queued */
	LIMIT_CODE_CELLS = 16,       /* scripts of a session that run at the same time */
	LIMIT_CODE_LEFT = 16,        /* ended scripts whose output no call has got */
	LIMIT_CODE_LEFT_BYTES = 32 * MIB, /* their texts and pictures */
	LIMIT_CODE_CALLS = 64,            /* calls of tools that run at the same time in one script */
	LIMIT_CODE_QUEUED = 16384,        /* calls of one script that wait */
	LIMIT_CODE_TEXT = 1 * MIB,        /* text of one result of a script */
	LIMIT_CODE_ITEMS = 4096,          /* items of one result */
	LIMIT_CODE_IMAGES = 28 * MIB,     /* data URLs of one result */
	LIMIT_CODE_STORE = 32 * MIB,      /* values that the scripts of a session have stored */
	LIMIT_CODE_KEYS = 4096,           /* their number; glue.js has the same */
	LIMIT_CODE_NOTES = 256,           /* texts that one script adds by notify() */
	LIMIT_CODE_YIELD_MS = 3600000,    /* longest wait for a script */
};

#endif
