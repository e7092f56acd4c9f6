/* patch_content.h — one file's bytes in memory, laid out so that it can be searched line by line.
 *
 * Owns: one block with the bytes. The file is read, not mapped: a file that another program cuts short
 * while it is mapped kills the reader. */
#ifndef PATCH_PATCH_CONTENT_H
#define PATCH_PATCH_CONTENT_H

#include <stdbool.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/str.h"
#include "patch/diff.h"

struct patch_error;

struct patch_content {
	/* read-only */
	struct str text; /* as in the file */
	struct str body; /* the same with a "\n" after the last line, which the file may lack; one stands before it */
	bool is_crlf;    /* the first line ends with "\r\n": so shall new ones */
	struct stat st;  /* of the file as it was read; zero if it was not read */
	/* private */
	char *block;
};

/* Reads at most LIMIT_PATCH_FILE bytes of a regular file. `what` begins the error: "Failed to read". */
must_check int patch_content_read(struct patch_content *ret, const char *path, const char *what,
                                  struct patch_error *err);
/* The text that edits make of old. */
void patch_content_edit(struct patch_content *ret, struct str old, const struct edits *edits);
void patch_content_finish(struct patch_content *content);

/* 0 if the text is UTF-8. */
must_check int patch_content_check(const struct patch_content *content, const char *path, const char *what,
                                   struct patch_error *err);

static inline struct str patch_content_eol(const struct patch_content *content)
{
	return content->is_crlf ? STR("\r\n") : STR("\n");
}

#endif
