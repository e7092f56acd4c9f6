/* CLOCK_MONOTONIC never jumps, so every wait and every duration uses it. */
#include "base/clock.h"

#include <stdio.h>
#include <time.h>

uint64_t clock_now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t clock_now_ms(void)
{
	return clock_now_ns() / 1000000u;
}

int64_t clock_unix_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void clock_rfc3339(int64_t unix_ms, char out[CLOCK_RFC3339_SIZE])
{
	time_t seconds = (time_t)(unix_ms / 1000);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	size_t len = strftime(out, CLOCK_RFC3339_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out + len, CLOCK_RFC3339_SIZE - len, ".%03dZ", (int)(unix_ms % 1000));
}
