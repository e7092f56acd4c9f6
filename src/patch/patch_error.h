/* patch_error.h — the full reason why a patch cannot be read or applied.
 *
 * The failure of a patch quotes the lines that were not found, and the model needs all of them to correct the patch:
 * more than a struct error holds. Owns: its text. An all-zero struct is a valid empty one; setting it again replaces
 * the content. It is always passed last, and NULL means that the caller does not need it. Models and clients depend
 * on the texts. */
#ifndef PATCH_PATCH_ERROR_H
#define PATCH_PATCH_ERROR_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/error.h"

/* Which texts include the words for `sys`. */
enum patch_cause {
	PATCH_CAUSE_HINTED,  /* the terminal's, unless the path itself shows the cause */
	PATCH_CAUSE_IN_BOTH, /* both */
	PATCH_CAUSE_IN_TEXT  /* neither: the text has them already */
};

struct patch_error {
	/* read-only */
	enum error_code code;
	int sys;         /* errno that caused it, or 0 */
	bool is_grammar; /* the patch is malformed, so no file was read */
	size_t line;     /* line of a malformed hunk, counted from 1; 0: the patch as a whole is malformed */
	struct buf text; /* what failed, and on which file */
	enum patch_cause cause;
};

void patch_error_finish(struct patch_error *err);
#define auto_patch_error __attribute__((cleanup(patch_error_finish)))

/* These return -code. */
int patch_error_set(struct patch_error *err, enum error_code code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int patch_error_sys(struct patch_error *err, int sys, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Reports a syntax error in the hunk at `line` (0: in the patch as a whole). */
int patch_error_grammar(struct patch_error *err, size_t line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Adds a sentence on a separate line after the cause. */
void patch_error_note(struct patch_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Appends any number of bytes to the text; returns -code. */
int patch_error_add(struct patch_error *err, struct str text);

/* Writes the text for the model: "invalid patch: …", "invalid hunk at line 3, …", "Failed to …: why (os error 2)". */
void patch_error_for_model(const struct patch_error *err, struct buf *out);
/* Writes the text of the apply_patch program: "Invalid patch: …", "Invalid patch hunk on line 3: …", "Failed to …". */
void patch_error_for_terminal(const struct patch_error *err, struct buf *out);

#endif
