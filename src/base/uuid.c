/* RFC 9562 section 6.2, method 1: within one millisecond the 12 bits after the version count up from a random start,
 * so ids made in a burst sort in the order of creation. */
#include "base/uuid.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/host.h"

void uuid_v7(char out[UUID_TEXT_SIZE])
{
	static _Thread_local uint64_t last_ms; /* Ids of engines on other threads differ in the random bits. */
	static _Thread_local unsigned counter;
	uint64_t now = (uint64_t)clock_unix_ms();
	unsigned char r[10];
	host_random(r, sizeof(r));
	if (now > last_ms) {
		last_ms = now;
		counter = ((unsigned)r[0] << 8 | r[1]) & 0x7ff;
	} else if (++counter > 0xfff) {
		last_ms++;
		counter = 0;
	}
	snprintf(out, UUID_TEXT_SIZE, "%08x-%04x-7%03x-%02x%02x-%02x%02x%02x%02x%02x%02x", (unsigned)(last_ms >> 16),
	         (unsigned)(last_ms & 0xffff), counter, (r[2] & 0x3f) | 0x80, r[3], r[4], r[5], r[6], r[7], r[8], r[9]);
}

int64_t uuid_v7_ms(struct str id)
{
	int64_t ms = 0;
	for (size_t i = 0; i < 13 && i < id.len; i++)
		if (i != 8) /* the dash */
			ms = ms << 4 | (str_hex_digit(id.ptr[i]) & 0xf);
	return ms;
}

bool uuid_is_valid(struct str text)
{
	if (text.len != UUID_TEXT_SIZE - 1)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;
		if (dash ? text.ptr[i] != '-' : str_hex_digit(text.ptr[i]) < 0)
			return false;
	}
	return true;
}
