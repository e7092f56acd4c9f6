/* CLOCK_MONOTONIC does not jump when the date is set, so waits and durations are measured with it. */
#include "base/clock.h"

#include <stdio.h>
#include <string.h>
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

/* Parses the decimal fraction of a second and returns it in milliseconds. */
static int64_t read_fraction(struct str *rest)
{
	int64_t ms = 0, unit = 100;
	if (!rest->len || rest->ptr[0] != '.')
		return 0;
	*rest = str_skip(*rest, 1);
	for (; rest->len && rest->ptr[0] >= '0' && rest->ptr[0] <= '9'; unit /= 10) {
		ms += (rest->ptr[0] - '0') * unit;
		*rest = str_skip(*rest, 1);
	}
	return ms;
}

bool clock_parse_rfc3339(struct str text, int64_t *ret_unix_ms)
{
	enum { SECONDS_LEN = 19 };
	char whole[SECONDS_LEN + 1] = "";
	struct tm utc = {0};
	if (text.len <= SECONDS_LEN)
		return false;
	memcpy(whole, text.ptr, SECONDS_LEN);
	const char *end = strptime(whole, "%Y-%m-%dT%H:%M:%S", &utc);
	struct str rest = str_skip(text, SECONDS_LEN);
	int64_t ms = read_fraction(&rest);
	if (!end || *end || !str_is(rest, "Z"))
		return false;
	*ret_unix_ms = (int64_t)timegm(&utc) * 1000 + ms;
	return true;
}
