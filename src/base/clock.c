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

/* Reads a number of exactly `len` digits. */
static bool read_digits(const char *text, size_t len, int *ret)
{
	int value = 0;
	for (size_t i = 0; i < len; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		value = value * 10 + (text[i] - '0');
	}
	*ret = value;
	return true;
}

/* Days from 1970-01-01 in the Gregorian calendar; the year begins in March, so that the leap day is its last. */
static int64_t days_of(int year, int month, int day)
{
	int64_t y = year - (month <= 2), era = (y >= 0 ? y : y - 399) / 400;
	int64_t of_era = y - era * 400;
	int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
	return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static bool is_date(int year, int month, int day)
{
	static const int lengths[] = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	if (month < 1 || month > 12 || day < 1 || day > lengths[month - 1])
		return false;
	return month != 2 || day < 29 || is_leap;
}

/* Without strptime and timegm, which take a tenth of the time in which a session is read. */
bool clock_parse_rfc3339(struct str text, int64_t *ret_unix_ms)
{
	enum { SECONDS_LEN = 19 };
	const char *at = text.ptr;
	int year, month, day, hour, minute, second;
	if (text.len <= SECONDS_LEN || at[4] != '-' || at[7] != '-' || at[10] != 'T' || at[13] != ':' || at[16] != ':')
		return false;
	if (!read_digits(at, 4, &year) || !read_digits(at + 5, 2, &month) || !read_digits(at + 8, 2, &day) ||
	    !read_digits(at + 11, 2, &hour) || !read_digits(at + 14, 2, &minute) || !read_digits(at + 17, 2, &second))
		return false;
	struct str rest = str_skip(text, SECONDS_LEN);
	int64_t ms = read_fraction(&rest);
	if (!is_date(year, month, day) || hour > 23 || minute > 59 || second > 60 || !str_is(rest, "Z"))
		return false;
	*ret_unix_ms = (((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000 + ms;
	return true;
}
