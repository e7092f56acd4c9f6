/* patch_seek.h — finds a run of lines in a text, tolerating differences in blanks and typography.
 *
 * Owns: its search tables. Borrows: the text, whose every line must end with "\n" and which must have
 * one more "\n" just before its first byte. Offsets are bytes and always the start of a line. */
#ifndef PATCH_PATCH_SEEK_H
#define PATCH_PATCH_SEEK_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/str.h"
#include "patch/patch_lines.h"

struct patch_seek {
	/* private */
	struct patch_lines lines;
	struct buf needle;
	size_t steps; /* number of lines compared in the index */
	bool is_crlf; /* the text's first line ends with "\r\n" */
	bool is_begun;
	bool is_indexed; /* an exact search failed, or line ends are mixed: use the index from now on */
};

enum patch_sought {
	PATCH_FOUND,
	PATCH_MISSING,
	PATCH_TOO_LARGE /* the inexact search exceeds a limit */
};

void patch_seek_init(struct patch_seek *seek, struct str text, bool is_crlf);
void patch_seek_finish(struct patch_seek *seek);

/* Finds the first place at or after offset `from` where all `count` lines occur in sequence, at the strictest of the
 * four levels that has a match. count is at least 1. */
enum patch_sought patch_seek_lines(struct patch_seek *seek, const struct str *wanted, size_t count, size_t from,
                                   size_t *ret_at);
/* As patch_seek_lines, but considers only the last `count` lines of the text. */
enum patch_sought patch_seek_last(struct patch_seek *seek, const struct str *wanted, size_t count, size_t from,
                                  size_t *ret_at);

#endif
