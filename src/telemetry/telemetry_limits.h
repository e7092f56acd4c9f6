/* telemetry_limits.h — the limits of log records for a collector. Sizes in bytes, times in milliseconds. */
#ifndef TELEMETRY_TELEMETRY_LIMITS_H
#define TELEMETRY_TELEMETRY_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_TELEMETRY_BATCH = 256 * KIB, /* log records that wait to be sent */
	LIMIT_TELEMETRY_TEXT = 16 * KIB,   /* bytes of one attribute of a record */
	LIMIT_TELEMETRY_ANSWER = 64 * KIB, /* bytes of a collector's answer */
	LIMIT_TELEMETRY_SENDS = 4,         /* requests of a session to its collector at once */
	LIMIT_TELEMETRY_MS = 10 * 1000,    /* time for one request to a collector */
};

#endif
