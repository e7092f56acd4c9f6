/* patch_parse.h — the text between *** Begin Patch and *** End Patch as hunks and chunks.
 *
 * A struct patch owns its arrays and borrows the text: every path, context and body below is a slice of it, valid as
 * long as the caller keeps the text. Nothing outside the text is looked at. Accepted deviations: blanks around markers
 * and headers, CRLF, the wrapping of a here-document around the patch, a first chunk without its @@ line. */
#ifndef PATCH_PATCH_PARSE_H
#define PATCH_PATCH_PARSE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"

struct patch_error;

enum patch_kind { PATCH_ADD, PATCH_DELETE, PATCH_UPDATE };

struct patch_line {
	char kind; /* ' ' context, '-' removed, '+' added */
	struct str text;
};

/* One changed place of a file. */
struct patch_chunk {
	struct str context; /* the text after "@@ ": the search starts below that line; STR_NONE: anywhere */
	struct str body;    /* its raw lines, read with patch_line_next */
	size_t old_count;   /* lines that are ' ' or '-' */
	size_t new_count;   /* lines that are ' ' or '+' */
	bool is_at_end;     /* "*** End of File": the old lines are the file's last */
};

struct patch_hunk {
	enum patch_kind kind;
	struct str path;
	struct str move_path; /* PATCH_UPDATE: STR_NONE unless the file moves */
	struct str body;      /* PATCH_ADD: its '+' lines */
	size_t chunk_at;      /* PATCH_UPDATE: its chunks in patch.chunks */
	size_t chunk_count;
};

struct patch {
	/* read-only */
	struct str text; /* trimmed, and without a here-document's wrapping */
	VEC(struct patch_hunk) hunks;
	VEC(struct patch_chunk) chunks;
};

/* 0, or negative and err; *ret needs no finish then. An empty patch has no hunks. */
must_check int patch_parse(struct patch *ret, struct str text, struct patch_error *err);
void patch_finish(struct patch *patch);
#define auto_patch __attribute__((cleanup(patch_finish)))

static inline const struct patch_chunk *patch_chunks(const struct patch *patch, const struct patch_hunk *hunk)
{
	return hunk->chunk_count ? patch->chunks.items + hunk->chunk_at : NULL;
}

/* Cuts the next line off a body; an empty line is an empty ' ' line. False when the body is used up. */
bool patch_line_next(struct str *body, struct patch_line *ret);

#endif
