/* mock_limits.h — the limits of the scripted model. Sizes in bytes, times in milliseconds. */
#ifndef SERVER_MOCK_LIMITS_H
#define SERVER_MOCK_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_MOCK_SCRIPT = 64 * MIB, /* a script of the scripted model */
	LIMIT_MOCK_TEXT = 64 * MIB,   /* one text in such a script */
	LIMIT_MOCK_EVENT = 192 * MIB, /* that text as JSON in an event; a byte may need six */
	LIMIT_MOCK_FILL = 2047 * MIB, /* bytes of one "fill" step */
	LIMIT_MOCK_REPEAT = 100 * 1000 * 1000,
	LIMIT_MOCK_CHUNKS = 1000 * 1000, /* deltas of one text */
	LIMIT_MOCK_GATES = 1024,         /* gates open at the same time */
	LIMIT_MOCK_DELAY_MS = 60 * 60 * 1000,
	LIMIT_MOCK_BATCH = 64 * KIB, /* bytes generated before other callbacks run */
	LIMIT_MOCK_NAME = 64,        /* the name of a variable; a longer {word} is text */
	LIMIT_MOCK_SHOWN = 200,      /* a value of a request in the message about a mismatch */
};

#endif
