/* clock.h — time: monotonic for durations, Unix time for dates. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

uint64_t clock_now_ms(void); /* monotonic */
uint64_t clock_now_ns(void); /* monotonic */
int64_t clock_unix_ms(void); /* since 1970, UTC */

enum { CLOCK_RFC3339_SIZE = 32 };
/* "2026-01-30T18:59:30.123Z" */
void clock_rfc3339(int64_t unix_ms, char out[CLOCK_RFC3339_SIZE]);
/* Parses RFC 3339 times in UTC with any number of decimals, or none; false for any other text. */
bool clock_parse_rfc3339(struct str text, int64_t *ret_unix_ms);

#endif
