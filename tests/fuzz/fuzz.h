/* fuzz.h — what every fuzz target includes: the entry point and a check that says what broke. */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* data is an exact heap copy: a read past its end is seen by the sanitizer. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property that must hold for every input. */
#define fuzz_check(condition)                                                                          \
	do {                                                                                           \
		if (!(condition)) {                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
			abort();                                                                       \
		}                                                                                      \
	} while (0)

#endif
