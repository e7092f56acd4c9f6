/* front_matter.h — the YAML between two lines of "---" at the top of a Markdown file.
 *
 * Owns: nothing; slices and trees borrow the text and live in the caller's arena. Any thread. Source: core 7, 9. */
#ifndef SKILL_FRONT_MATTER_H
#define SKILL_FRONT_MATTER_H

#include "base/json.h"

/* False if the text does not begin with some, closed and not empty; else the YAML, and what stands below. */
bool front_matter_split(struct str text, struct str *ret_yaml, struct str *ret_body);
/* A value in one line, as lists show it: blanks of all kinds become one space. STR_NONE if it is no text or empty. */
struct str front_matter_line(const struct json *front, const char *key, struct arena *arena);
/* Characters, not bytes. */
size_t front_matter_length(struct str text);

#endif
