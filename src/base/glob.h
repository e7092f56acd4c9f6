/* glob.h — matches a text against a pattern with wildcards. Pure. Thread: any. */
#ifndef BASE_GLOB_H
#define BASE_GLOB_H

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"

enum glob_kind {
	GLOB_NAME, /* * matches any text, ? any character; the case of ASCII letters is ignored */
	GLOB_PATH, /* as in gitignore(5): *, ? and [a-z] stop at slashes, ** between slashes does not, \ quotes */
};

/* Returns true if pattern matches all of text. *steps is a budget from which about one step per compared character
 * is taken; when it reaches 0 nothing matches. */
bool glob_match(struct str pattern, struct str text, enum glob_kind kind, size_t *steps);

#endif
