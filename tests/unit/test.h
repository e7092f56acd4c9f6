/* test.h — included by every unit test: cmocka in its required order, and the shared folder. */
#ifndef TESTS_UNIT_TEST_H
#define TESTS_UNIT_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/str.h"

/* Compares a slice with a literal. */
#define assert_str(slice, literal)                                                   \
	do {                                                                         \
		struct str _s = (slice), _w = STR(literal);                          \
		if (!str_eq(_s, _w))                                                 \
			fail_msg("got \"%.*s\", want \"%s\"", STR_ARG(_s), literal); \
	} while (0)

/* Returns "<checkout>/<relative>" in a static buffer. */
static inline const char *source_path(const char *relative)
{
	static char path[4096];
	const char *root = getenv("CODEX_SOURCE_ROOT");
	snprintf(path, sizeof(path), "%s/%s", root ? root : ".", relative);
	return path;
}

/* Returns the reference folder next to the checkout, or NULL if it does not exist: the test must then skip(). */
static inline const char *shared_path(const char *relative)
{
	static char path[4096];
	const char *root = getenv("CODEX_SOURCE_ROOT");
	snprintf(path, sizeof(path), "%s/../shared/%s", root ? root : ".", relative);
	return access(path, R_OK) == 0 ? path : NULL;
}

#endif
