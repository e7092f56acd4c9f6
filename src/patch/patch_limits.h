/* patch_limits.h — the limits of patches. Sizes in bytes, times in milliseconds. */
#ifndef PATCH_PATCH_LIMITS_H
#define PATCH_PATCH_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_PATCH_TEXT = 64 * MIB,
	LIMIT_PATCH_FILE = 256 * MIB,   /* a file that a patch changes */
	LIMIT_PATCH_HUNKS = 200000,     /* hunks and chunks of one patch */
	LIMIT_PATCH_FILES = 4096,       /* files of one atomic patch */
	LIMIT_PATCH_TEXTS = 256,        /* files of one patch on another machine */
	LIMIT_PATCH_BYTES = 2047 * MIB, /* all files of one atomic patch together */
	LIMIT_PATCH_LINES = 8 * MIB,    /* lines of a file that is searched inexactly */
	LIMIT_PATCH_STEPS = 1000000000, /* line comparisons in one such search */
	LIMIT_PATCH_ERROR = 65 * MIB,   /* an error that quotes lines which were not found */
	LIMIT_PATCH_LINKS = 40,         /* symbolic links that a path may follow, as in Linux */
};

#endif
