/* patch_parse.h — parses the text between *** Begin Patch and *** End Patch into hunks and chunks.
 *
 * A struct patch owns its arrays and borrows the text: every path, context and body below is a slice of it, valid as
 * long as the caller keeps the text. The file system is not accessed. Accepted deviations: blanks around markers and
 * headers, CRLF, the wrapping of a here-document around the patch, a first chunk without its @@ line. */
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

/* A place of a file that is changed. */
struct patch_chunk {
	struct str context; /* the text after "@@ ": the search starts after that line; STR_NONE: anywhere */
	struct str body;    /* its lines, to be read with patch_line_next */
	size_t old_count;   /* number of lines marked ' ' or '-' */
	size_t new_count;   /* number of lines marked ' ' or '+' */
	bool is_at_end;     /* "*** End of File": the old lines are the last of the file */
};

struct patch_hunk {
	enum patch_kind kind;
	struct str path;
	struct str move_path; /* for PATCH_UPDATE: the new path, or STR_NONE */
	struct str body;      /* for PATCH_ADD: its '+' lines */
	size_t chunk_at;      /* for PATCH_UPDATE: the index of its first chunk in patch.chunks */
	size_t chunk_count;
};

struct patch {
	/* read-only */
	struct str text; /* trimmed, and without an enclosing here-document */
	VEC(struct patch_hunk) hunks;
	VEC(struct patch_chunk) chunks;
};

/* Returns 0, or a negative code and err, after which *ret needs no finish. An empty patch has no hunks. */
must_check int patch_parse(struct patch *ret, struct str text, struct patch_error *err);
void patch_finish(struct patch *patch);
#define auto_patch __attribute__((cleanup(patch_finish)))

static inline const struct patch_chunk *patch_chunks(const struct patch *patch, const struct patch_hunk *hunk)
{
	return hunk->chunk_count ? patch->chunks.items + hunk->chunk_at : NULL;
}

/* Cuts the next line off a body; an empty line counts as an empty context line. False at the end of the body. */
bool patch_line_next(struct str *body, struct patch_line *ret);

#endif
