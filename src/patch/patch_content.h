/* patch_content.h — one file's bytes in memory, stored so that lines can be searched quickly.
 *
 * Owns: one block with the bytes. The file is read, not mapped: reading a mapped file that another program truncates
 * would end the process with SIGBUS. */
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
	/* as text, with a "\n" added if the last line lacks it; another "\n" precedes body in memory */
	struct str body;
	bool is_crlf;   /* the first line ends with "\r\n", so new lines get the same end */
	struct stat st; /* the file's status when it was read; zero if it was not read */
	/* private */
	char *block;
};

/* Reads at most LIMIT_PATCH_FILE bytes of a regular file. `what` begins the error: "Failed to read". */
must_check int patch_content_read(struct patch_content *ret, const char *path, const char *what,
                                  struct patch_error *err);
/* Sets the content to a copy of a text, as of a file that was read elsewhere. */
void patch_content_copy(struct patch_content *ret, struct str text);
/* Sets the content to the text that edits make of old. */
void patch_content_edit(struct patch_content *ret, struct str old, const struct edits *edits);
void patch_content_finish(struct patch_content *content);

/* Returns 0 if the text is UTF-8, otherwise an error. */
must_check int patch_content_check(const struct patch_content *content, const char *path, const char *what,
                                   struct patch_error *err);

static inline struct str patch_content_eol(const struct patch_content *content)
{
	return content->is_crlf ? STR("\r\n") : STR("\n");
}

#endif
