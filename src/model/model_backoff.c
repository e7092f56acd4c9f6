/* Delays are pure functions of their arguments, including the random number, so that tests can check them. Delays
 * requested by a server are limited: a wrong clock or a malicious header must not stop a task for a day. */
#include "model/model_backoff.h"

#include "base/host.h"
#include "base/limits.h"
#include "base/mem.h"

enum { BACKOFF_FIRST_MS = 200, BACKOFF_DOUBLINGS = 20 };

int64_t model_backoff_ms(unsigned attempt, double random)
{
	unsigned doublings = attempt > 1 ? attempt - 1 : 0;
	if (doublings > BACKOFF_DOUBLINGS)
		doublings = BACKOFF_DOUBLINGS;
	double ms = (double)((int64_t)BACKOFF_FIRST_MS << doublings) * (0.9 + 0.2 * random);
	return ms < LIMIT_RETRY_BACKOFF_MS ? (int64_t)ms : LIMIT_RETRY_BACKOFF_MS;
}

double model_backoff_random(void)
{
	uint32_t bits;
	host_random(&bits, sizeof(bits));
	return bits / 4294967296.0;
}

static int64_t bounded_ms(double ms)
{
	if (!(ms >= 0))
		return -1;
	return ms < LIMIT_RETRY_AFTER_MS ? (int64_t)(ms + 0.5) : LIMIT_RETRY_AFTER_MS;
}

/* Returns the days since 1970 of a date in the Gregorian calendar. */
static int64_t days_of(int64_t year, int64_t month, int64_t day)
{
	if (month <= 2) {
		year--;
		month += 12;
	}
	return year * 365 + year / 4 - year / 100 + year / 400 + (153 * month - 457) / 5 + day - 306 - 719163;
}

static bool two_digits(struct str s, size_t at, int64_t max, int64_t *ret)
{
	uint64_t value;
	if (!str_to_u64(str_n(s.ptr + at, 2), &value) || value > (uint64_t)max)
		return false;
	*ret = (int64_t)value;
	return true;
}

static int64_t month_of(struct str name)
{
	static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
	                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
	for (size_t i = 0; i < countof(months); i++) {
		if (str_is(name, months[i]))
			return (int64_t)i + 1;
	}
	return 0;
}

/* Parses "Sun, 06 Nov 1994 08:49:37 GMT", the only form that RFC 9110 5.6.7 permits to send. Returns Unix seconds,
 * or -1. */
static int64_t unix_of_http_date(struct str s)
{
	static const char shape[] = "..., .. ... .... ..:..:.. GMT";
	int64_t day, month, hour, minute, second;
	uint64_t year;
	if (s.len != sizeof(shape) - 1)
		return -1;
	for (size_t i = 0; i < s.len; i++) {
		if (shape[i] != '.' && shape[i] != s.ptr[i])
			return -1;
	}
	month = month_of(str_n(s.ptr + 8, 3));
	if (!month || !two_digits(s, 5, 31, &day) || !str_to_u64(str_n(s.ptr + 12, 4), &year) || year < 1970 ||
	    !two_digits(s, 17, 23, &hour) || !two_digits(s, 20, 59, &minute) || !two_digits(s, 23, 60, &second))
		return -1;
	return ((days_of((int64_t)year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
}

int64_t model_backoff_after_ms(struct str value, int64_t now_unix_ms)
{
	double seconds;
	value = str_trim(value);
	if (str_to_double(value, &seconds))
		return bounded_ms(seconds * 1000);
	int64_t at = unix_of_http_date(value);
	if (at < 0)
		return -1;
	int64_t ms = at * 1000 - now_unix_ms;
	return ms > 0 ? bounded_ms((double)ms) : 0;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
	return (c | 0x20) >= 'a' && (c | 0x20) <= 'z';
}

/* Cuts a number with its unit from the start of *rest, such as "1.5 seconds" or the "1m" of "1m2s". Returns
 * milliseconds, or -1; *rest is then unchanged. */
static double cut_duration(struct str *rest)
{
	static const struct {
		const char *word;
		double ms;
	} units[] = {{"ms", 1},        {"milliseconds", 1}, {"s", 1e3},       {"sec", 1e3},     {"second", 1e3},
	             {"seconds", 1e3}, {"m", 60e3},         {"min", 60e3},    {"minute", 60e3}, {"minutes", 60e3},
	             {"h", 3600e3},    {"hour", 3600e3},    {"hours", 3600e3}};
	size_t len = 0, word = 0;
	double number;
	struct str s = str_trim_start(*rest);
	while (len < s.len &&
	       (is_digit(s.ptr[len]) || (s.ptr[len] == '.' && len + 1 < s.len && is_digit(s.ptr[len + 1]))))
		len++;
	if (len == 0 || !is_digit(s.ptr[0]) || !str_to_double(str_n(s.ptr, len), &number))
		return -1;
	s = str_trim_start(str_skip(s, len));
	while (word < s.len && is_letter(s.ptr[word]))
		word++;
	for (size_t i = 0; i < countof(units); i++) {
		if (!str_equal_fold(str_n(s.ptr, word), str_of(units[i].word)))
			continue;
		*rest = str_skip(s, word);
		return number * units[i].ms;
	}
	return -1;
}

/* Parses durations that follow each other, such as "1h2m3s". */
static int64_t duration_ms(struct str s)
{
	double sum = cut_duration(&s), more;
	while (sum >= 0 && (more = cut_duration(&s)) >= 0)
		sum += more;
	return bounded_ms(sum);
}

int64_t model_backoff_message_ms(struct str message)
{
	static const struct str phrase = {"try again in", 12};
	for (size_t at = 0; at + phrase.len <= message.len; at++) {
		if (!str_equal_fold(str_n(message.ptr + at, phrase.len), phrase))
			continue;
		int64_t ms = duration_ms(str_skip(message, at + phrase.len));
		if (ms >= 0)
			return ms;
	}
	return -1;
}
