/* term_limits.h — the limits of the terminal. Sizes in bytes, times in milliseconds. */
#ifndef TERM_TERM_LIMITS_H
#define TERM_TERM_LIMITS_H

#include "base/limits.h"

enum {
	LIMIT_TERM_TEXT = 64 * MIB,     /* a text that is cut into rows */
	LIMIT_TERM_TAIL = 64 * MIB,     /* the end of a text of Markdown that is not laid out yet */
	LIMIT_TERM_PENDING = 64 * MIB,  /* rows that wait to be painted */
	LIMIT_TERM_OUTPUT = 128 * MIB,  /* output that the terminal has not taken */
	LIMIT_TERM_READ = 64 * KIB,     /* one read of keys */
	LIMIT_TERM_PASTE = 8 * MIB,     /* a pasted text */
	LIMIT_TERM_ROW = 256 * KIB,     /* one row */
	LIMIT_TERM_SGR = 64,            /* a sequence that sets colours; a longer one is text */
	LIMIT_TERM_BLOCK = 32 * KIB,    /* the open block of streamed Markdown; a longer one becomes rows by lines */
	LIMIT_TERM_ROWS = 1000,         /* rows below the scrollback that are painted */
	LIMIT_TERM_CRASH_NOTE = 256,    /* what a crash writes after the terminal is restored */
	LIMIT_TERM_CLUSTER = 64,        /* one character with its marks; further ones start a new one */
	LIMIT_TERM_LEVELS = 12,         /* nested blocks of Markdown that have marks */
	LIMIT_TERM_LINKS = 16,          /* nested links of Markdown */
	LIMIT_TERM_TABLE_COLUMNS = 128, /* columns of a table */
	LIMIT_TERM_SGR_VALUES = 32,     /* values of a sequence that sets colours */
};

#endif
