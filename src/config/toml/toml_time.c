/* Dates and times as in RFC 3339, restricted by TOML. They are parsed in place, because a blank may replace the "T",
 * and only the characters after it show whether it does. */
#include "config/toml/toml_priv.h"

static bool is_digit(const struct toml_reader *r, size_t at)
{
	return (size_t)(r->end - r->at) > at && r->at[at] >= '0' && r->at[at] <= '9';
}

static bool is_byte(const struct toml_reader *r, size_t at, char c)
{
	return (size_t)(r->end - r->at) > at && r->at[at] == c;
}

/* Cuts exactly `digits` digits with a value of low to high. */
static bool cut_field(struct toml_reader *r, unsigned digits, unsigned low, unsigned high, unsigned *ret)
{
	unsigned value = 0;
	for (unsigned i = 0; i < digits; i++) {
		if (!is_digit(r, i))
			return toml_fail(r, "expected %u digits here", digits);
		value = value * 10 + (unsigned)(r->at[i] - '0');
	}
	if (value < low || value > high)
		return toml_fail(r, "%.*s is not between %u and %u", (int)digits, r->at, low, high);
	r->at += digits;
	*ret = value;
	return true;
}

static bool cut_char(struct toml_reader *r, char c)
{
	if (!toml_at(r, c))
		return toml_fail(r, "expected `%c` here", c);
	r->at++;
	return true;
}

static unsigned month_days(unsigned year, unsigned month)
{
	static const unsigned char days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
	return days[month - 1] + (month == 2 && is_leap);
}

static bool read_date(struct toml_reader *r, struct toml_time *t)
{
	unsigned year = 0, month = 0, day = 0;
	if (!cut_field(r, 4, 0, 9999, &year) || !cut_char(r, '-') || !cut_field(r, 2, 1, 12, &month) ||
	    !cut_char(r, '-') || !cut_field(r, 2, 1, month_days(year, month), &day))
		return false;
	t->year = (uint16_t)year;
	t->month = (uint8_t)month;
	t->day = (uint8_t)day;
	return true;
}

static bool read_fraction(struct toml_reader *r, struct toml_time *t)
{
	uint32_t unit = 100000000;
	r->at++;
	if (!is_digit(r, 0))
		return toml_fail(r, "expected a digit here");
	for (; is_digit(r, 0); r->at++, unit /= 10)
		t->nanosecond += (uint32_t)(*r->at - '0') * unit;
	return true;
}

static bool read_clock(struct toml_reader *r, struct toml_time *t)
{
	unsigned hour, minute, second;
	/* 60 is a leap second */
	if (!cut_field(r, 2, 0, 23, &hour) || !cut_char(r, ':') || !cut_field(r, 2, 0, 59, &minute) ||
	    !cut_char(r, ':') || !cut_field(r, 2, 0, 60, &second))
		return false;
	t->hour = (uint8_t)hour;
	t->minute = (uint8_t)minute;
	t->second = (uint8_t)second;
	return !toml_at(r, '.') || read_fraction(r, t);
}

static bool read_offset(struct toml_reader *r, struct toml *node)
{
	unsigned hour, minute;
	bool is_west = toml_at(r, '-');
	if (toml_at(r, 'Z') || toml_at(r, 'z')) {
		r->at++;
		node->kind = TOML_datetime;
		return true;
	}
	if (!is_west && !toml_at(r, '+'))
		return true;
	r->at++;
	if (!cut_field(r, 2, 0, 23, &hour) || !cut_char(r, ':') || !cut_field(r, 2, 0, 59, &minute))
		return false;
	int minutes = (int)(hour * 60 + minute);
	node->time.offset_minutes = (int16_t)(is_west ? -minutes : minutes);
	node->kind = TOML_datetime;
	return true;
}

bool toml_is_time(struct str text)
{
	struct toml_reader r = {.at = text.ptr, .end = text.ptr + text.len};
	size_t digits = 0;
	while (digits < 4 && is_digit(&r, digits))
		digits++;
	return (digits == 4 && is_byte(&r, 4, '-')) || (digits == 2 && is_byte(&r, 2, ':'));
}

bool toml_read_time(struct toml_reader *r, struct toml *node)
{
	node->time = (struct toml_time){0};
	if (is_byte(r, 2, ':')) {
		node->kind = TOML_time_local;
		return read_clock(r, &node->time);
	}
	node->kind = TOML_date_local;
	if (!read_date(r, &node->time))
		return false;
	if (!toml_at(r, 'T') && !toml_at(r, 't') && !(toml_at(r, ' ') && is_digit(r, 1)))
		return true;
	r->at++;
	node->kind = TOML_datetime_local;
	return read_clock(r, &node->time) && read_offset(r, node);
}
